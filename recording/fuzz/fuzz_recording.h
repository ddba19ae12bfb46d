// Any bytes as a recording: they are read, or refused in a sentence, and what is read can be shown.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::recording::fuzz {

/// Always 0; aborts when a claim does not hold.
int fuzz_recording(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::recording::fuzz
