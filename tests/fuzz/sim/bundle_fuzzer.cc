#include "tools/fuzz/fuzz_bundle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return anyrdma::tools::fuzz::fuzz_bundle(data, size);
}
