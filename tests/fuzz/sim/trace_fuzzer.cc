#include "sim/fuzz/fuzz_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return anyrdma::sim::fuzz::fuzz_trace(data, size);
}
