// The CRC-32 of Ethernet and of the ICRC, eight bytes at a time: every payload byte passes through
// it, and a byte-wise CRC costs more than all the rest of the data path.
#pragma once

#include <cstdint>
#include <span>

namespace anyrdma::roce {

/// Continues a CRC over more bytes. Start with 0xffffffff; the final value is complemented.
[[nodiscard]] std::uint32_t crc32_update(std::uint32_t crc, std::span<const std::uint8_t> bytes);

}  // namespace anyrdma::roce
