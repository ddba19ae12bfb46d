#include "sim/fuzz/fuzz_destination.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return anyrdma::sim::fuzz::fuzz_destination(data, size);
}
