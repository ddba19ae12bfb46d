// The CRC-32 of Ethernet and of the ICRC, eight bytes at a time: every payload byte passes through
// it, and a byte-wise CRC costs more than all the rest of the data path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyrdma::roce {

/// Continues a CRC over more bytes. Start with 0xffffffff; the final value is complemented.
[[nodiscard]] std::uint32_t crc32_update(std::uint32_t crc, std::span<const std::uint8_t> bytes);

/// The CRC is linear: what two messages of equal length differ in makes their CRCs differ, whatever
/// else they say. Given the difference of their CRCs (XOR), this gives the four bytes, the first
/// lowest, that must differ `distance` bytes before the messages' end (counted from the first of
/// the four, so at least 4) if nothing else does.
[[nodiscard]] std::uint32_t crc32_cause(std::uint32_t difference, std::size_t distance);

}  // namespace anyrdma::roce
