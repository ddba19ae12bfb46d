// Chance from a seed, the same for both sides of a conversation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace anyrdma::soak {

/// SplitMix64: a bijection that scatters its argument.
constexpr std::uint64_t scatter(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

class Dice {
 public:
  /// A stream for what these numbers name.
  Dice(std::initializer_list<std::uint64_t> names) {
    for (const std::uint64_t name : names) state_ = scatter(state_ ^ name);
  }
  [[nodiscard]] std::uint64_t next() { return scatter(state_++); }
  /// 0 to `limit` - 1.
  [[nodiscard]] std::size_t below(std::size_t limit) { return next() % limit; }
  [[nodiscard]] bool one_in(std::size_t count) { return below(count) == 0; }
  /// 0 to `limit`, small ones as often as large ones.
  [[nodiscard]] std::size_t length_to(std::size_t limit) {
    std::size_t bits = 0;
    while (limit >> bits != 0) ++bits;
    return below((std::size_t{1} << below(bits + 1))) % (limit + 1);
  }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace anyrdma::soak
