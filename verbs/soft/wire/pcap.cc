#include "verbs/soft/wire/pcap.h"

#include <chrono>

namespace anyrdma::roce::pcap {

namespace {

constexpr std::size_t kFileHeaderBytes = 24;
constexpr std::size_t kRecordHeaderBytes = 16;
constexpr std::uint32_t kMicroseconds = 0xa1b2c3d4;
constexpr std::uint32_t kNanoseconds = 0xa1b23c4d;
constexpr std::uint32_t kLinkEthernet = 1;
constexpr std::uint32_t kSnapLength = 65535;

std::uint32_t swap(std::uint32_t n) {
  return (n >> 24) | ((n >> 8) & 0xff00) | ((n << 8) & 0xff0000) | (n << 24);
}

// Reads words in the writer's byte order, found by the magic number.
struct Words {
  std::span<const std::uint8_t> bytes;
  bool swapped = false;

  std::uint32_t at(std::size_t offset) const {
    std::uint32_t n = 0;
    for (std::size_t i = 4; i-- > 0;) n = (n << 8) | bytes[offset + i];
    return swapped ? swap(n) : n;
  }
};

void put32(std::vector<std::uint8_t>& out, std::uint32_t n) {
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(n >> (8 * i)));
}

}  // namespace

std::optional<std::vector<Record>> parse(std::span<const std::uint8_t> file) {
  if (file.size() < kFileHeaderBytes) return std::nullopt;
  Words words{file};
  const std::uint32_t raw = words.at(0);
  words.swapped = raw != kMicroseconds && raw != kNanoseconds;
  const std::uint32_t magic = words.at(0);
  if (magic != kMicroseconds && magic != kNanoseconds) return std::nullopt;
  if (words.at(20) != kLinkEthernet) return std::nullopt;
  std::vector<Record> records;
  std::size_t offset = kFileHeaderBytes;
  while (offset < file.size()) {
    if (file.size() - offset < kRecordHeaderBytes) return std::nullopt;
    const verbs::Duration seconds = std::chrono::seconds(words.at(offset));
    const std::uint32_t fraction = words.at(offset + 4);
    const verbs::Duration rest = magic == kNanoseconds ? std::chrono::nanoseconds(fraction)
                                                       : std::chrono::microseconds(fraction);
    const std::uint32_t size = words.at(offset + 8);
    offset += kRecordHeaderBytes;
    if (size > file.size() - offset) return std::nullopt;
    records.push_back({seconds + rest, file.subspan(offset, size)});
    offset += size;
  }
  return records;
}

std::vector<std::uint8_t> file_header() {
  std::vector<std::uint8_t> out;
  put32(out, kNanoseconds);
  put32(out, 2 | (4 << 16));  // format version 2.4
  put32(out, 0);              // time zone
  put32(out, 0);              // accuracy
  put32(out, kSnapLength);
  put32(out, kLinkEthernet);
  return out;
}

void append(std::vector<std::uint8_t>& file, verbs::Duration time,
            std::span<const std::uint8_t> frame) {
  constexpr std::int64_t kPerSecond = 1'000'000'000;
  put32(file, static_cast<std::uint32_t>(time.count() / kPerSecond));
  put32(file, static_cast<std::uint32_t>(time.count() % kPerSecond));
  put32(file, static_cast<std::uint32_t>(frame.size()));
  put32(file, static_cast<std::uint32_t>(frame.size()));
  file.insert(file.end(), frame.begin(), frame.end());
}

}  // namespace anyrdma::roce::pcap
