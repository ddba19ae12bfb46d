// Reads and writes classic packet-capture files (pcap), which tcpdump and Wireshark use. The
// functions work on bytes in memory, without file I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "verbs/time.h"

namespace anyrdma::roce::pcap {

struct Record {
  verbs::Duration time;  ///< since the file's epoch
  std::span<const std::uint8_t> frame;
};

/// Returns the records of a capture of Ethernet frames, as views into `file`. nullopt: `file` is no
/// capture, is truncated, or has another link type. Both byte orders, microseconds and nanoseconds
/// are accepted.
[[nodiscard]] std::optional<std::vector<Record>> parse(std::span<const std::uint8_t> file);

/// Returns the file header of a capture of Ethernet frames, with times in nanoseconds. The capture
/// is little-endian on every machine.
[[nodiscard]] std::vector<std::uint8_t> file_header();

/// Appends one record to a capture.
void append(std::vector<std::uint8_t>& file, verbs::Duration time,
            std::span<const std::uint8_t> frame);

}  // namespace anyrdma::roce::pcap
