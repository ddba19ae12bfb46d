// An IP address as the key of a hash table.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "sim/trace/hash.h"

namespace anyrdma::sim {

/// IPv4 addresses are IPv4-mapped: an address is also its RoCE v2 GID.
using AddressKey = std::array<std::uint8_t, 16>;

[[nodiscard]] inline AddressKey key_of(std::span<const std::uint8_t, 16> bytes) {
  AddressKey key;
  std::memcpy(key.data(), bytes.data(), key.size());
  return key;
}

struct AddressKeyHash {
  using is_avalanching = void;
  std::size_t operator()(const AddressKey& key) const {
    return mix(little_endian(key.data(), 8), little_endian(key.data() + 8, 8));
  }
};

}  // namespace anyrdma::sim
