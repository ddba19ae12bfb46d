// Converts single entries to bytes and back, for messages from a process to the simulator. Unlike
// in a recording file, texts are written in full and no time is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recording/entry.h"

namespace anyrdma::recording {

/// The largest number of bytes that pack() writes. Longer texts are truncated.
inline constexpr std::size_t kPackedBytesMax = 2048;

/// The largest number of a device that an entry can name (pack()).
inline constexpr std::uint64_t kPackedDeviceMax = 16;

/// Writes an entry and returns its bytes. The first field of an entry is its lane. Here it is 0 for
/// the process itself, or the number of one of its devices, from 1. Async-signal-safe.
[[nodiscard]] std::size_t pack(const Entry& entry, std::span<std::uint8_t, kPackedBytesMax> out);

/// Reads an entry. Its texts refer to `bytes`. False: the bytes are no entry, or the entry's kind
/// does not begin with a lane. Any input is safe.
[[nodiscard]] bool unpack(std::span<const std::uint8_t> bytes, Entry& entry);

}  // namespace anyrdma::recording
