// The multicast groups of one id.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "transport/transport.h"

namespace anyrdma::cm {

/// One join of a multicast group, from rdma_join_multicast to rdma_leave_multicast, with or without
/// an answer.
struct Membership {
  transport::MembershipId id{};
  sockaddr_storage group{};
  transport::JoinState state{};
  void* context = nullptr;  ///< the application's context, returned in events

  /// True: MULTICAST_JOIN was fetched with success. False: the QP is not attached.
  bool joined = false;
  ibv_gid gid{};
  std::uint16_t lid = 0;
  std::uint32_t held = 0;  ///< number of events that were fetched and not acknowledged
};

/// The multicast groups of one id, in the order of joining. An id may join a group several times;
/// the newest join is left first (L/cma.c:rdma_leave_multicast). Call all functions inside the
/// critical section (verbs::Runtime::enter). Memberships keep their address in memory.
class Memberships {
 public:
  /// Adds a membership. Precondition: the address family of `group` is known.
  Membership& add(const sockaddr& group, transport::JoinState state, void* context);
  /// Returns the membership with this number; null: none.
  [[nodiscard]] Membership* find(transport::MembershipId id);
  /// Returns the newest membership of exactly this address and port; null: none.
  [[nodiscard]] Membership* newest(const sockaddr& group);
  /// Removes a membership. Precondition: it is in this list.
  [[nodiscard]] std::unique_ptr<Membership> remove(const Membership& membership);

 private:
  std::vector<std::unique_ptr<Membership>> memberships_;
  std::uint64_t next_id_ = 1;
};

}  // namespace anyrdma::cm
