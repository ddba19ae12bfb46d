// A fuzz function for what a peer sends to an rsocket.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::rsocket::fuzz {

/// Reads `data` as the header of a datagram, and as private data, followed by messages of immediate
/// data, targets and reads. Aborts if a value does not survive writing and reading, or if a Flow
/// promises memory that it does not have. Returns 0.
int fuzz_wire(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::rsocket::fuzz
