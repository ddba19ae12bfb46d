// A fast 64-bit hash with the same value on every machine. Not against adversaries.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace anyrdma::sim {

/// Returns a hash of `hash` and `word`. Each bit of the result depends on every bit of both, by a
/// 128-bit product.
[[nodiscard]] inline std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  const Wide product = static_cast<Wide>((hash ^ kOdd) + word) * (word ^ 0xd6e8feb86659fd93);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64) ^
         (hash << 1 | hash >> 63);
}

/// Reads `count` bytes (at most eight) as a little-endian number.
[[nodiscard]] inline std::uint64_t little_endian(const std::uint8_t* bytes, std::size_t count) {
  if constexpr (std::endian::native == std::endian::little) {
    if (count == sizeof(std::uint64_t)) {
      std::uint64_t whole = 0;
      std::memcpy(&whole, bytes, sizeof whole);
      return whole;
    }
  }
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
  return word;
}

/// Joins bytes and their number to a hash.
[[nodiscard]] inline std::uint64_t hash_bytes(std::uint64_t hash,
                                              std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kWord = 8;
  std::size_t at = 0;
  for (; at + kWord <= bytes.size(); at += kWord) {
    hash = mix(hash, little_endian(bytes.data() + at, kWord));
  }
  hash = mix(hash, little_endian(bytes.data() + at, bytes.size() - at));
  return mix(hash, bytes.size());
}

[[nodiscard]] inline std::span<const std::uint8_t> bytes_of_text(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

[[nodiscard]] inline std::uint64_t hash_text(std::string_view text) {
  return hash_bytes(0, bytes_of_text(text));
}

}  // namespace anyrdma::sim
