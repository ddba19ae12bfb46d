#include "transport/soft/port_table.h"

#include <cerrno>

#include "verbs/assert.h"

namespace anyrdma::transport::soft {
namespace {

constexpr std::uint16_t kFirstUnprivileged = 1024;  // PROT_SOCK

bool specific_and_different(const Address& a, const Address& b) {
  return !a.is_any() && !b.is_any() && !a.same_ip(b);
}

bool known(const Address& address) {
  return address.family != AF_UNSPEC;
}

}  // namespace

int bind_conflict(const Claim& wanted, const Claim& owned, ReuseRule rule) {
  if (rule == ReuseRule::kHonoured && wanted.reuse && owned.reuse) return 0;
  if (wanted.afonly && owned.afonly && wanted.local.family != owned.local.family) return 0;
  if (wanted.local.is_any() || owned.local.is_any()) return EADDRNOTAVAIL;
  return wanted.local.same_ip(owned.local) ? EADDRINUSE : 0;
}

bool ephemeral_conflict(const Claim& wanted, const Claim& owned) {
  if (specific_and_different(wanted.local, owned.local)) return false;
  if (!known(wanted.destination) || !known(owned.destination)) return true;
  const std::uint16_t port = wanted.destination.port;
  const std::uint16_t owned_port = owned.destination.port;
  if (port != 0 && owned_port != 0 && port != owned_port) return false;
  return !specific_and_different(wanted.destination, owned.destination);
}

LocalPortTable::LocalPortTable(verbs::Random& random, const PortTableConfig& config)
    : random_(random), config_(config) {
  CM_ASSERT(config.ephemeral_first <= config.ephemeral_last);
}

LocalPortTable::Key LocalPortTable::key_of(rdma_port_space space, std::uint16_t port) {
  return static_cast<Key>(space) << 16 | port;
}

std::uint32_t LocalPortTable::first_of(Key key) const {
  const auto found = newest_.find(key);
  return found == newest_.end() ? kNone : found->second;
}

verbs::Result<PortTable::Claimed> LocalPortTable::claim(const Claim& wanted) {
  const std::uint16_t port = wanted.local.port;
  if (port == 0) return claim_ephemeral(wanted);
  if (port < kFirstUnprivileged && !config_.privileged) return verbs::errno_code(EACCES);
  for (std::uint32_t at = first_of(key_of(wanted.space, port)); at != kNone; at = slots_[at].next) {
    const int error = bind_conflict(wanted, slots_[at].claim, ReuseRule::kHonoured);
    if (error != 0) return verbs::errno_code(error);
  }
  return add(wanted);
}

verbs::Result<PortTable::Claimed> LocalPortTable::claim_ephemeral(const Claim& wanted) {
  const std::uint32_t first = config_.ephemeral_first;
  const std::uint32_t count = config_.ephemeral_last - first + 1u;
  std::uint32_t offset = static_cast<std::uint32_t>(random_.below(count));
  Claim candidate = wanted;
  for (std::uint32_t tried = 0; tried < count; ++tried, offset = (offset + 1) % count) {
    candidate.local.port = static_cast<std::uint16_t>(first + offset);
    if (candidate.local.port == last_ephemeral_ || !ephemeral_free(candidate)) continue;
    last_ephemeral_ = candidate.local.port;
    return add(candidate);
  }
  return verbs::errno_code(EADDRNOTAVAIL);
}

bool LocalPortTable::ephemeral_free(const Claim& wanted) const {
  std::uint32_t at = first_of(key_of(wanted.space, wanted.local.port));
  for (; at != kNone; at = slots_[at].next) {
    if (ephemeral_conflict(wanted, slots_[at].claim)) return false;
  }
  return true;
}

PortTable::Claimed LocalPortTable::add(const Claim& claim) {
  std::uint32_t at = static_cast<std::uint32_t>(slots_.size());
  if (free_.empty()) {
    slots_.emplace_back();
  } else {
    at = free_.back();
    free_.pop_back();
  }
  const auto [newest, is_only] = newest_.try_emplace(key_of(claim.space, claim.local.port), at);
  slots_[at] = {claim, kNone, is_only ? kNone : newest->second};
  if (!is_only) slots_[newest->second].previous = at;
  newest->second = at;
  ++size_;
  return {ClaimId{at}, claim.local.port};
}

verbs::Result<void> LocalPortTable::listen(ClaimId id) {
  const auto self = static_cast<std::uint32_t>(id);
  Claim& wanted = slots_[self].claim;
  if (!wanted.reuse) return {};
  std::uint32_t at = first_of(key_of(wanted.space, wanted.local.port));
  for (; at != kNone; at = slots_[at].next) {
    if (at == self) continue;
    const int error = bind_conflict(wanted, slots_[at].claim, ReuseRule::kIgnored);
    if (error != 0) return verbs::errno_code(error);
  }
  wanted.reuse = false;
  return {};
}

void LocalPortTable::update(ClaimId id, const Claim& claim) {
  Slot& slot = slots_[static_cast<std::uint32_t>(id)];
  CM_ASSERT(slot.claim.space == claim.space);
  CM_ASSERT(slot.claim.local.port == claim.local.port);
  slot.claim = claim;
}

void LocalPortTable::release(ClaimId id) {
  const auto self = static_cast<std::uint32_t>(id);
  const Slot slot = slots_[self];
  const auto newest = newest_.find(key_of(slot.claim.space, slot.claim.local.port));
  CM_ASSERT(newest != newest_.end());
  (slot.previous == kNone ? newest->second : slots_[slot.previous].next) = slot.next;
  if (slot.next != kNone) slots_[slot.next].previous = slot.previous;
  if (newest->second == kNone) newest_.erase(newest);
  free_.push_back(self);
  --size_;
}

}  // namespace anyrdma::transport::soft
