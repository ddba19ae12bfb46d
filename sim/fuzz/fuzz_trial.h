// Any bytes as the text of a trial: what is taken is written so that it reads as the same trial.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::sim::fuzz {

/// Always 0; aborts when a claim does not hold.
int fuzz_trial(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::sim::fuzz
