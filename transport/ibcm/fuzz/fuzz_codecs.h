// Arbitrary bytes through every CM codec.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::ibcm::fuzz {

/// First byte: which message (modulo the eleven and the header), and in its top bit whether the MAD
/// header is made right first. Then the MAD. Aborts when what was read does not come back.
int fuzz_codecs(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::ibcm::fuzz
