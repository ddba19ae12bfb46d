// Any bytes as the memory that a process shares with the world: entries are taken, recorded and
// judged, or the memory is refused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::sim::fuzz {

/// Always 0; aborts when a claim does not hold.
int fuzz_entries(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::sim::fuzz
