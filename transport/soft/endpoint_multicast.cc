// Multicast groups as Linux joins them on RoCE: there is no subnet administrator to ask, so the
// result is known at once and reported later (kernel: cma_iboe_join_multicast). Which hosts are
// members of the IP group cannot be observed here: every attached queue pair gets what is sent to
// the group.
#include <algorithm>
#include <cerrno>

#include "transport/soft/address_vector.h"
#include "transport/soft/endpoint.h"

namespace anyrdma::transport::soft {
namespace {

constexpr int kNotSupported = 524;  // the kernel's ENOTSUPP, which user space has no name for
constexpr std::uint32_t kMulticastQpn = 0xffffff;
constexpr std::uint8_t kHopLimit = 64;  // of RoCE v2 over IPv4

auto find(std::vector<Membership>& memberships, MembershipId id) {
  return std::find_if(memberships.begin(), memberships.end(),
                      [id](const Membership& each) { return each.id == id; });
}

ibv_gid gid_of(const std::array<std::uint8_t, 16>& ip) {
  ibv_gid gid;
  std::copy(ip.begin(), ip.end(), gid.raw);
  return gid;
}

}  // namespace

// A RoCE v2 device has no way to an IPv6 group in Linux (cma_iboe_join_multicast): neither has
// ours.
Result<void> SoftEndpoint::join_multicast(const sockaddr& group, MembershipId membership,
                                          JoinState state) {
  if (Result<void> legal = admits(Call::kJoinMulticast); !legal) return legal;
  const Result<Address> address = Address::from(group);
  if (!address) return address.error();
  if (address->is_zero()) return verbs::errno_code(EINVAL);
  if (address->family != AF_INET) return verbs::errno_code(kNotSupported);

  // That a QKey cannot be chosen does not keep Linux from joining.
  (void)choose_qkey().has_value();
  ibcm::Path path{.source = path_.source, .hop_limit = kHopLimit};
  if (!address->is_any()) path.destination = address->ip;
  Membership member{.id = membership};
  // Who only sends need not hear (kernel: cma_iboe_join_multicast).
  if (state == JoinState::kFullMember && address->is_multicast()) {
    member.local = Address::from_gid(gid_of(path.source));
    member.ip_group = *address;
    const Result<void> joined = core_.network.join_group(member.local, member.ip_group);
    if (!joined) return joined.error();
  }
  const int gid_index = device_->index_of(path.source);
  if (gid_index >= 0) {
    member.joined = true;
    member.group.ah_attr = address_vector(path, gid_index, device_->port);
    member.group.qp_num = kMulticastQpn;
    member.group.qkey = datagram_->qkey;
  }
  datagram_->memberships.push_back(member);
  queue(member.joined ? RDMA_CM_EVENT_MULTICAST_JOIN : RDMA_CM_EVENT_MULTICAST_ERROR, 0,
        membership);
  return {};
}

// The event of a failed address handle has the status 0 (kernel: cma_make_mc_event).
void SoftEndpoint::on_membership(rdma_cm_event_type type, int status, MembershipId membership) {
  const auto found = find(datagram_->memberships, membership);
  if (found == datagram_->memberships.end()) return;  // left before anybody heard of it
  const rdma_ud_param group = found->group;           // the handler may leave
  EndpointEvent event{.type = type, .status = status, .membership = membership};
  if (type == RDMA_CM_EVENT_MULTICAST_JOIN) event.ud = &group;
  raise(event);
}

// It stays a membership, until the program leaves (kernel: cma_ib_mc_handler).
bool SoftEndpoint::lose_group(const Address& group) {
  if (!datagram_) return false;
  bool any = false;
  for (Membership& each : datagram_->memberships) {
    if (!each.joined || !Address::from_gid(each.group.ah_attr.grh.dgid).same_ip(group)) continue;
    each.joined = false;
    any = true;
    queue(RDMA_CM_EVENT_MULTICAST_ERROR, -ENETRESET, each.id);
  }
  return any;
}

Result<void> SoftEndpoint::leave_multicast(MembershipId membership) {
  if (Result<void> legal = admits(Call::kLeaveMulticast); !legal) return legal;
  if (!datagram_) return verbs::errno_code(EADDRNOTAVAIL);
  const auto found = find(datagram_->memberships, membership);
  if (found == datagram_->memberships.end()) return verbs::errno_code(EADDRNOTAVAIL);
  leave_group(*found);
  datagram_->memberships.erase(found);
  return {};
}

void SoftEndpoint::leave_group(const Membership& membership) {
  if (membership.local.family == AF_UNSPEC) return;
  core_.network.leave_group(membership.local, membership.ip_group);
}

}  // namespace anyrdma::transport::soft
