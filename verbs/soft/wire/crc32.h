// The CRC-32 of Ethernet and of the ICRC. The code computes eight bytes at a time: byte by byte,
// the CRC would cost more than the rest of the data path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyrdma::roce {

/// Continues a CRC over more bytes, and returns the new CRC. Start with 0xffffffff, and complement
/// the result at the end.
[[nodiscard]] std::uint32_t crc32_update(std::uint32_t crc, std::span<const std::uint8_t> bytes);

/// Finds the four bytes in which two messages of equal length differ, from their CRCs.
/// `difference`: the XOR of both CRCs. Returns the XOR of the four bytes, the first byte lowest.
/// Precondition: all other bytes are equal. `distance`: the number of bytes (at least 4) from the
/// first of the four bytes to the end.
[[nodiscard]] std::uint32_t crc32_cause(std::uint32_t difference, std::size_t distance);

}  // namespace anyrdma::roce
