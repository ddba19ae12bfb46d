// A ring between two processes, one of which may write what it likes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::transport::fabric::fuzz {

/// A script: packets are written and read, and must come out as they went in until a stranger has
/// changed the memory; from then on reading must only be safe, and end. Returns 0; aborts if not.
int fuzz_ring(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::transport::fabric::fuzz
