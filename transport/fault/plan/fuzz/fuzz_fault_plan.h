// Any bytes as a fault plan: what is taken is written as it was read, in both forms.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::fault::fuzz {

/// The text. Always 0; aborts when a claim does not hold.
int fuzz_fault_plan(const std::uint8_t* data, std::size_t size);
/// The JSON. As above.
int fuzz_fault_json(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::fault::fuzz
