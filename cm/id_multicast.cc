// Multicast groups (L/cma.c:rdma_join_multicast2, rdma_leave_multicast).
#include "cm/address.h"
#include "cm/event_record.h"
#include "cm/id.h"
#include "verbs/provider.h"

namespace anyrdma::cm {

Result<void> Id::join_multicast(const sockaddr* group, void* context, transport::JoinState state) {
  if (Result<void> sane = check_address(group); !sane) return sane;
  return perform_and_complete(Call::kJoinMulticast, [&] {
    if (memberships_ == nullptr) memberships_ = std::make_unique<Memberships>();
    Membership& added = memberships_->add(*group, state, context);
    Result<void> joining = endpoint_->join_multicast(*group, added.id, state);
    if (!joining) (void)memberships_->remove(added);
    return joining;
  });
}

Result<void> Id::leave_multicast(const sockaddr* group) {
  if (Result<void> sane = check_address(group); !sane) return sane;
  std::unique_ptr<Membership> leaving;
  EventQueue dropped;
  Result<void> left;
  {
    verbs::CriticalSection section(runtime());
    left = perform(Call::kLeaveMulticast, [&]() -> Result<void> {
      Membership* found = memberships_ == nullptr ? nullptr : memberships_->newest(*group);
      if (found == nullptr) return verbs::errno_code(EADDRNOTAVAIL);
      leaving = memberships_->remove(*found);
      return endpoint_->leave_multicast(leaving->id);
    });
    if (leaving == nullptr) return left;
    channel_->extract(*this, leaving.get(), dropped);
  }
  discard(runtime(), dropped);
  forget_event_of(*leaving);
  const Result<void> drained = drain(*leaving);
  detach(*leaving);  // only now no thread can fetch its MULTICAST_JOIN any more
  return left ? drained : left;
}

void Id::detach(const Membership& membership) {
  if (raw_.id.qp == nullptr || !membership.joined) return;
  if (membership.state == transport::JoinState::kSendOnlyFullMember) return;
  verbs::Provider& provider = verbs::provider_of(raw_.id.qp->context);
  (void)provider.detach_mcast(raw_.id.qp, membership.gid, membership.lid).has_value();
}

void Id::forget_event_of(const Membership& membership) {
  rdma_cm_event* kept = raw_.id.event;
  if (kept == nullptr || EventRecord::from(kept).membership != &membership) return;
  private_channel_->forget();
}

bool Id::fetch_join(EventRecord& record) {
  Membership& membership = *record.membership;
  const ibv_ah_attr& path = record.raw.event.param.ud.ah_attr;
  membership.joined = true;
  membership.gid = path.grh.dgid;
  membership.lid = path.dlid;
  if (membership.state == transport::JoinState::kSendOnlyFullMember) return true;
  if (!hold_qp()) return true;
  verbs::Provider& provider = verbs::provider_of(raw_.id.qp->context);
  const bool attached =
      provider.attach_mcast(raw_.id.qp, membership.gid, membership.lid).has_value();
  release_qp();
  return attached;
}

}  // namespace anyrdma::cm
