#include "transport/fault/plan/fuzz/fuzz_fault_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  return anyrdma::fault::fuzz::fuzz_fault_plan(data, size);
}
