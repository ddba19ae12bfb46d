// Any bytes as a device profile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::verbs::soft::fuzz {

/// What is read must be read again from what is printed of it; a refusal names a line that is
/// there. Always returns 0; asserts.
int fuzz_device_profile(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::verbs::soft::fuzz
