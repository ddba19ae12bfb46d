#include "verbs/soft/fuzz/fuzz_datagram.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  return anyrdma::verbs::soft::fuzz::fuzz_datagram(data, size);
}
