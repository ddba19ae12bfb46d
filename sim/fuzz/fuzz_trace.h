// Any bytes as the text of a trace: what is taken is written as it was read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::sim::fuzz {

/// Always 0; aborts when a claim does not hold.
int fuzz_trace(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::sim::fuzz
