// The CRC-32 of Ethernet and of the ICRC, eight bytes at a time: every payload byte passes through
// it, and a byte-wise CRC costs more than all the rest of the data path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyrdma::roce {

/// Continues a CRC over more bytes. Start with 0xffffffff; the final value is complemented.
[[nodiscard]] std::uint32_t crc32_update(std::uint32_t crc, std::span<const std::uint8_t> bytes);

/// The CRC is linear: the difference of two messages of equal length determines the difference of
/// their CRCs. Given the XOR of two CRCs, returns the XOR of the four bytes, the first lowest, at
/// which the messages differ if all other bytes are equal. The first of the four is `distance`
/// bytes (at least 4) before the end.
[[nodiscard]] std::uint32_t crc32_cause(std::uint32_t difference, std::size_t distance);

}  // namespace anyrdma::roce
