#include "cm/memberships.h"

#include <algorithm>
#include <cstring>

#include "cm/address.h"
#include "verbs/assert.h"

namespace anyrdma::cm {

Membership& Memberships::add(const sockaddr& group, transport::JoinState state, void* context) {
  auto& added = *memberships_.emplace_back(std::make_unique<Membership>());
  added.id = transport::MembershipId{next_id_++};
  std::memcpy(&added.group, &group, length_of(group));
  added.state = state;
  added.context = context;
  return added;
}

Membership* Memberships::find(transport::MembershipId id) {
  const auto at = std::ranges::find(memberships_, id, [](const auto& each) { return each->id; });
  return at == memberships_.end() ? nullptr : at->get();
}

Membership* Memberships::newest(const sockaddr& group) {
  const auto at =
      std::find_if(memberships_.rbegin(), memberships_.rend(), [&group](const auto& each) {
        return std::memcmp(&each->group, &group, length_of(group)) == 0;
      });
  return at == memberships_.rend() ? nullptr : at->get();
}

std::unique_ptr<Membership> Memberships::remove(const Membership& membership) {
  const auto at = std::ranges::find(memberships_, &membership, &std::unique_ptr<Membership>::get);
  CM_ASSERT(at != memberships_.end());
  std::unique_ptr<Membership> removed = std::move(*at);
  memberships_.erase(at);
  return removed;
}

}  // namespace anyrdma::cm
