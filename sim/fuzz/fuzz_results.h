// Any bytes as results: what is taken is written so that it reads as the same results.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::sim::fuzz {

/// Always 0; aborts when a claim does not hold.
int fuzz_results(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::sim::fuzz
