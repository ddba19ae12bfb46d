// Classic packet-capture files as bytes: what tcpdump and Wireshark read and write. No file I/O
// here.
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

/// The records of a capture of Ethernet frames, as views into `file`; nullopt when it is none, is
/// truncated, or has another link type. Both byte orders, micro- and nanoseconds.
[[nodiscard]] std::optional<std::vector<Record>> parse(std::span<const std::uint8_t> file);

/// Starts a capture: the file header for Ethernet frames with nanosecond times, little-endian on
/// every machine.
[[nodiscard]] std::vector<std::uint8_t> file_header();

/// Appends one record.
void append(std::vector<std::uint8_t>& file, verbs::Duration time,
            std::span<const std::uint8_t> frame);

}  // namespace anyrdma::roce::pcap
