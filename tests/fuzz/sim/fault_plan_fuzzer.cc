#include "sim/fuzz/fuzz_fault_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  return anyrdma::sim::fuzz::fuzz_fault_plan(data, size);
}
