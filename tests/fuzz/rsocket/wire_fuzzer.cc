#include "cm/rsocket/fuzz/fuzz_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  return anyrdma::rsocket::fuzz::fuzz_wire(data, size);
}
