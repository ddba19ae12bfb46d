#include "verbs/soft/digest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace anyrdma::verbs::soft {
namespace {

constexpr std::uint64_t kBlock = 1024;
constexpr std::uint64_t kBlocks = kDigestWholeBytes / kBlock;
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  return std::rotl((hash ^ word) * kMultiplier, 29);
}

// Four chains, so that no multiplication waits for the one before it.
std::uint64_t hash_bytes(std::uint64_t hash, const std::uint8_t* bytes, std::uint64_t count) {
  std::array<std::uint64_t, 4> chains{hash, hash + 1, hash + 2, hash + 3};
  std::array<std::uint64_t, 4> words{};
  for (; count >= sizeof words; count -= sizeof words, bytes += sizeof words) {
    std::memcpy(words.data(), bytes, sizeof words);
    for (std::size_t i = 0; i < words.size(); ++i) chains[i] = mixed(chains[i], words[i]);
  }
  words = {};
  std::memcpy(words.data(), bytes, count);
  for (std::size_t i = 0; i < words.size(); ++i) hash = mixed(hash, mixed(chains[i], words[i]));
  return mixed(hash, count);
}

std::uint64_t hash_piece(std::uint64_t hash, const std::uint8_t* bytes, std::uint64_t count,
                         std::uint64_t step) {
  if (step <= kBlock || count <= kBlock) return hash_bytes(hash, bytes, count);
  for (std::uint64_t at = 0; at + kBlock <= count; at += step)
    hash = hash_bytes(hash, bytes + at, kBlock);
  return hash_bytes(hash, bytes + count - kBlock, kBlock);
}

}  // namespace

std::optional<std::uint64_t> digest_of(const MemoryTable& memory, const ibv_pd* pd,
                                       std::span<const ibv_sge> list, std::uint64_t length) {
  const std::uint64_t step = length <= kDigestWholeBytes ? 0 : length / kBlocks;
  std::uint64_t hash = length;
  for (const ibv_sge& piece : list) {
    const std::uint64_t part = std::min<std::uint64_t>(length, piece.length);
    if (part == 0) continue;
    length -= part;
    const std::uint8_t* bytes = memory.translate(piece.lkey, pd, piece.addr, part, kLocalRead);
    if (bytes == nullptr) {
      if (memory.is_null(piece.lkey, pd)) continue;
      return std::nullopt;
    }
    if (!memory.touch([&] { hash = hash_piece(hash, bytes, part, step); })) return std::nullopt;
  }
  return hash;
}

}  // namespace anyrdma::verbs::soft
