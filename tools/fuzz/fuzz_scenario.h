// Any bytes as a scenario of programs: what is refused is refused in a sentence that says where.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::tools::fuzz {

/// Always 0; aborts when a claim does not hold.
int fuzz_scenario(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::tools::fuzz
