// Any text as a list of a process's memory: each mapping that is read has a size.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::sim::fuzz {

/// Always 0; aborts when a claim does not hold.
int fuzz_mappings(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::sim::fuzz
