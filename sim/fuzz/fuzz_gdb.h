// Any bytes as what gdb sends: no session ends but by its own rules, and each answer is a packet.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::sim::fuzz {

/// Always 0; aborts when a claim does not hold.
int fuzz_gdb(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::sim::fuzz
