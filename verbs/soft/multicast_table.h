// The multicast groups of a device and their attached queue pairs.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <vector>

namespace anyrdma::verbs::soft {

struct SoftQp;

/// Used inside the critical section. Groups exist while a queue pair is attached to them.
class MulticastTable {
 public:
  /// The limits of the device.
  struct Limits {
    std::uint32_t groups;
    std::uint32_t members;  ///< of one group
  };

  /// Attaching twice is attaching once. ENOMEM: a limit is reached; 0 for success.
  [[nodiscard]] int attach(const ibv_gid& group, SoftQp& qp, const Limits& limits);
  /// EINVAL: not attached; 0 for success.
  [[nodiscard]] int detach(const ibv_gid& group, SoftQp& qp);
  /// From all groups.
  void detach_everywhere(SoftQp& qp);
  /// In order of attaching; empty when there is no such group. Valid until the next change.
  [[nodiscard]] std::span<SoftQp* const> members_of(const ibv_gid& group) const;
  void clear() { groups_.clear(); }

 private:
  using Key = std::array<std::uint8_t, 16>;
  [[nodiscard]] static Key key_of(const ibv_gid& group);

  boost::unordered_flat_map<Key, std::vector<SoftQp*>> groups_;  // its order decides nothing
};

}  // namespace anyrdma::verbs::soft
