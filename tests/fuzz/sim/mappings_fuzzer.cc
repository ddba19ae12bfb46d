#include "sim/fuzz/fuzz_mappings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return anyrdma::sim::fuzz::fuzz_mappings(data, size);
}
