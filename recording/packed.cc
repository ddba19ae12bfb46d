#include "recording/packed.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace anyrdma::recording {
namespace {

constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);
constexpr std::size_t kSizeBytes = sizeof(std::uint16_t);
/// So long each text may be: all numbers and texts fit.
constexpr std::size_t kPackedTextMax = 600;
static_assert(1 + 10 * kNumberBytes + 3 * (kSizeBytes + kPackedTextMax) <= kPackedBytesMax);

/// The first field is the lane in which the entry happens, and nothing else refers to others.
constexpr bool is_local(std::string_view shape) {
  return shape.starts_with('l') && shape.find_first_of("lLmd", 1) == std::string_view::npos;
}

}  // namespace

std::size_t pack(const Entry& entry, std::span<std::uint8_t, kPackedBytesMax> out) {
  std::size_t size = 0;
  out[size++] = static_cast<std::uint8_t>(entry.kind);
  std::size_t numbers = 0;
  std::size_t texts = 0;
  for (const char letter : kShapes[static_cast<std::size_t>(entry.kind)]) {
    if (!is_text(letter)) {
      std::memcpy(&out[size], &entry.numbers[numbers++], kNumberBytes);
      size += kNumberBytes;
      continue;
    }
    const std::string_view text = entry.texts[texts++].substr(0, kPackedTextMax);
    const auto length = static_cast<std::uint16_t>(text.size());
    std::memcpy(&out[size], &length, kSizeBytes);
    size += kSizeBytes;
    if (!text.empty()) std::memcpy(&out[size], text.data(), text.size());
    size += text.size();
  }
  return size;
}

bool unpack(std::span<const std::uint8_t> bytes, Entry& entry) {
  if (bytes.empty() || bytes.front() >= kKinds) return false;
  entry = {};
  entry.kind = static_cast<EntryKind>(bytes.front());
  bytes = bytes.subspan(1);
  const std::string_view shape = kShapes[static_cast<std::size_t>(entry.kind)];
  if (!is_local(shape)) return false;
  std::size_t numbers = 0;
  std::size_t texts = 0;
  for (const char letter : shape) {
    if (!is_text(letter)) {
      if (bytes.size() < kNumberBytes) return false;
      std::memcpy(&entry.numbers[numbers++], bytes.data(), kNumberBytes);
      bytes = bytes.subspan(kNumberBytes);
      continue;
    }
    std::uint16_t length = 0;
    if (bytes.size() < kSizeBytes) return false;
    std::memcpy(&length, bytes.data(), kSizeBytes);
    bytes = bytes.subspan(kSizeBytes);
    if (bytes.size() < length) return false;
    entry.texts[texts++] = {reinterpret_cast<const char*>(bytes.data()), length};
    bytes = bytes.subspan(length);
  }
  return bytes.empty() && entry.numbers[0] <= kPackedDeviceMax;
}

}  // namespace anyrdma::recording
