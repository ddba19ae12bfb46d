#include "tools/fuzz/fuzz_scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return anyrdma::tools::fuzz::fuzz_scenario(data, size);
}
