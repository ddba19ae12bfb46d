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

/// An IP address in 16 bytes, which are also the address's RoCE v2 GID. An IPv4 address is
/// IPv4-mapped (::ffff:10.0.0.1).
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
