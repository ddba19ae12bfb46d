// The multicast groups of one id.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "transport/transport.h"

namespace anyrdma::cm {

/// One join, from rdma_join_multicast to rdma_leave_multicast, answered or not.
struct Membership {
  transport::MembershipId id{};
  sockaddr_storage group{};
  transport::JoinState state{};
  void* context = nullptr;  ///< the application's context, returned in events
  /// As the fetched MULTICAST_JOIN said; without it there is nothing to detach from.
  bool joined = false;
  ibv_gid gid{};
  std::uint16_t lid = 0;
  std::uint32_t held = 0;  ///< events fetched and not acknowledged
};

/// In the order of joining. The same group may be joined more than once: the newest is left first
/// (L/cma.c:rdma_leave_multicast). Inside the critical section; memberships keep their address.
class Memberships {
 public:
  /// `group` is of a known family.
  Membership& add(const sockaddr& group, transport::JoinState state, void* context);
  /// Null: unknown.
  [[nodiscard]] Membership* find(transport::MembershipId id);
  /// The newest of this very address, port and all. Null: none.
  [[nodiscard]] Membership* newest(const sockaddr& group);
  /// Precondition: it is in this list.
  [[nodiscard]] std::unique_ptr<Membership> remove(const Membership& membership);

 private:
  std::vector<std::unique_ptr<Membership>> memberships_;
  std::uint64_t next_id_ = 1;
};

}  // namespace anyrdma::cm
