// The CRC-32 of Ethernet and of the ICRC. Computes eight bytes at a time: a byte-wise CRC would
// cost more than the rest of the data path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyrdma::roce {

/// Continues a CRC over more bytes. Start with 0xffffffff; the final value is complemented.
[[nodiscard]] std::uint32_t crc32_update(std::uint32_t crc, std::span<const std::uint8_t> bytes);

/// Finds the difference of two messages of equal length from the difference of their CRCs.
/// `difference`: the XOR of both CRCs. Returns the XOR of the four bytes in which the messages
/// differ, the first byte lowest, if all other bytes are equal. The first of the four bytes is
/// `distance` bytes (at least 4) before the end.
[[nodiscard]] std::uint32_t crc32_cause(std::uint32_t difference, std::size_t distance);

}  // namespace anyrdma::roce
