#include "verbs/soft/fuzz/fuzz_device_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  return anyrdma::verbs::soft::fuzz::fuzz_device_profile(data, size);
}
