// Any text as a destination of --goto: it is a moment of a run, or refused in a sentence.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::sim::fuzz {

/// Always 0; aborts when a claim does not hold.
int fuzz_destination(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::sim::fuzz
