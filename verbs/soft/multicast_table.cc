#include "verbs/soft/multicast_table.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs/soft/queue_pair.h"

namespace anyrdma::verbs::soft {

MulticastTable::Key MulticastTable::key_of(const ibv_gid& group) {
  Key key;
  std::memcpy(key.data(), group.raw, key.size());
  return key;
}

int MulticastTable::attach(const ibv_gid& group, SoftQp& qp, const Limits& limits) {
  const Key key = key_of(group);
  auto found = groups_.find(key);
  if (found == groups_.end()) {
    if (groups_.size() >= limits.groups) return ENOMEM;
    found = groups_.try_emplace(key).first;
  }
  std::vector<SoftQp*>& members = found->second;
  if (std::find(members.begin(), members.end(), &qp) != members.end()) return 0;
  if (members.size() >= limits.members) return ENOMEM;
  members.push_back(&qp);
  ++qp.groups;
  return 0;
}

int MulticastTable::detach(const ibv_gid& group, SoftQp& qp) {
  const auto found = groups_.find(key_of(group));
  if (found == groups_.end()) return EINVAL;
  std::vector<SoftQp*>& members = found->second;
  const auto member = std::find(members.begin(), members.end(), &qp);
  if (member == members.end()) return EINVAL;
  members.erase(member);
  --qp.groups;
  if (members.empty()) groups_.erase(found);
  return 0;
}

void MulticastTable::detach_everywhere(SoftQp& qp) {
  boost::unordered::erase_if(groups_, [&qp](auto& group) {
    qp.groups -= static_cast<unsigned>(std::erase(group.second, &qp));
    return group.second.empty();
  });
}

std::span<SoftQp* const> MulticastTable::members_of(const ibv_gid& group) const {
  const auto found = groups_.find(key_of(group));
  if (found == groups_.end()) return {};
  return found->second;
}

}  // namespace anyrdma::verbs::soft
