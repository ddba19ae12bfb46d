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

/// The table of the multicast groups of a device. A group exists while a queue pair is attached to
/// it. Used inside the runtime's critical section.
class MulticastTable {
 public:
  /// The limits of the device.
  struct Limits {
    std::uint32_t groups;
    std::uint32_t members;  ///< queue pairs of one group
  };

  /// Attaches a queue pair to a group; attaching it a second time has no effect. Returns 0, or
  /// ENOMEM if a limit is reached.
  [[nodiscard]] int attach(const ibv_gid& group, SoftQp& qp, const Limits& limits);
  /// Detaches a queue pair from a group. Returns 0, or EINVAL if the queue pair is not attached.
  [[nodiscard]] int detach(const ibv_gid& group, SoftQp& qp);
  /// Detaches the queue pair from all groups.
  void detach_everywhere(SoftQp& qp);
  /// Returns the queue pairs of a group, in the order in which they were attached. Empty: there is
  /// no such group. Valid until the next change of the table.
  [[nodiscard]] std::span<SoftQp* const> members_of(const ibv_gid& group) const;
  void clear() { groups_.clear(); }

 private:
  using Key = std::array<std::uint8_t, 16>;
  [[nodiscard]] static Key key_of(const ibv_gid& group);

  boost::unordered_flat_map<Key, std::vector<SoftQp*>> groups_;  // its order decides nothing
};

}  // namespace anyrdma::verbs::soft
