#include "tests/soak/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/soak/dice.h"
#include "tests/soak/finding.h"

namespace anyrdma::soak {

std::uint8_t pattern_at(std::uint64_t key, std::size_t at) {
  return static_cast<std::uint8_t>(scatter(key ^ (at / 8)) >> (at % 8 * 8));
}

void fill(Bytes bytes, std::uint64_t key, std::size_t at) {
  std::size_t i = 0;
  for (; i < bytes.size() && (at + i) % 8 != 0; ++i) bytes[i] = pattern_at(key, at + i);
  for (; i + 8 <= bytes.size(); i += 8) {
    const std::uint64_t word = scatter(key ^ ((at + i) / 8));  // little-endian, as pattern_at
    std::memcpy(&bytes[i], &word, sizeof word);
  }
  for (; i < bytes.size(); ++i) bytes[i] = pattern_at(key, at + i);
}

std::string difference(std::span<const std::uint8_t> got, std::span<const std::uint8_t> expected) {
  if (std::memcmp(got.data(), expected.data(), got.size()) == 0) return {};
  const auto first = std::ranges::mismatch(got, expected).in1 - got.begin();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != expected[i] ? 1 : 0;
  char text[160];
  std::snprintf(text, sizeof text, "%zu of %zu bytes, the first at %td: %#x and not %#x", wrong,
                got.size(), first, got[static_cast<std::size_t>(first)],
                expected[static_cast<std::size_t>(first)]);
  return text;
}

Pages::Pages(std::size_t size) {
  void* const at =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(at != MAP_FAILED, "mmap");
  bytes_ = {static_cast<std::uint8_t*>(at), size};
}

Pages::~Pages() {
  (void)::munmap(bytes_.data(), bytes_.size());
}

}  // namespace anyrdma::soak
