#include "recording/fuzz/fuzz_recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return anyrdma::recording::fuzz::fuzz_recording(data, size);
}
