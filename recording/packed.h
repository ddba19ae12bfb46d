// Converts a single entry to bytes, for a message from a process to its simulated world. Unlike in
// a file, texts are written in full and there is no time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recording/entry.h"

namespace anyrdma::recording {

/// The most bytes that pack() writes. Longer texts are truncated.
inline constexpr std::size_t kPackedBytesMax = 2048;

/// Writes an entry and returns its bytes. Async-signal-safe.
[[nodiscard]] std::size_t pack(const Entry& entry, std::span<std::uint8_t, kPackedBytesMax> out);

/// Reads an entry, which refers to `bytes`. False: they are none, or the entry is not one that
/// happens in a lane of its own. Any input is safe.
[[nodiscard]] bool unpack(std::span<const std::uint8_t> bytes, Entry& entry);

}  // namespace anyrdma::recording
