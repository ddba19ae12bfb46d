#include "sim/schedule/random_stream.h"

#include <bit>

namespace anyrdma::sim {
namespace {

/// SplitMix64: turns any 64 bits into well-mixed state.
std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// FNV-1a: a name as a number.
std::uint64_t hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name)
    : name_(hash_of(name)), state_{} {
  begin(seed);
}

RandomStream::RandomStream(const Seeds& seeds, std::string_view name)
    : name_(hash_of(name)), seeds_(&seeds), taken_(seeds.taken()), state_{} {
  begin(seeds.current());
}

void RandomStream::begin(std::uint64_t seed) {
  std::uint64_t mix = seed;
  mix = split_mix(mix) ^ name_;
  for (std::uint64_t& word : state_) word = split_mix(mix);
}

std::uint64_t RandomStream::next() {
  if (seeds_ != nullptr && seeds_->taken() != taken_) [[unlikely]] {
    taken_ = seeds_->taken();
    begin(seeds_->current());
  }
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

bool RandomStream::chance(double probability) {
  if (probability <= 0) return false;
  // 53 bits fit a double exactly, so every compiler compares the same number.
  return static_cast<double>(next() >> 11) * 0x1.0p-53 < probability;
}

}  // namespace anyrdma::sim
