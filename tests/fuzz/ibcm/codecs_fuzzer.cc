#include "transport/ibcm/fuzz/fuzz_codecs.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  return anyrdma::ibcm::fuzz::fuzz_codecs(data, size);
}
