#include "transport/ibcm/fuzz/fuzz_machine.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  return anyrdma::ibcm::fuzz::fuzz_machine(data, size);
}
