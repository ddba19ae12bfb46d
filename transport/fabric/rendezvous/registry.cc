#include "transport/fabric/rendezvous/registry.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "transport/realtime/cancellation.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric {
namespace {

constexpr std::uint16_t kFirstUnprivileged = 1024;  // PROT_SOCK
/// So often somebody else may try for the same port at the same time before it counts as taken.
constexpr unsigned kTries = 64;
constexpr unsigned kLongestPause = 5;  // 2^5 turns

bool same_port(const soft::Claim& a, const soft::Claim& b) {
  return a.space == b.space && a.local.port == b.local.port;
}

bool same_ip_anywhere(const soft::Address& a, const soft::Address& b) {
  return a.family == b.family && a.ip == b.ip;  // link-local scopes are not on the wire
}

/// How well a listener on the port fits a destination. One for another address is the last resort:
/// it refuses the request, where without any the service would be unknown
/// (K/cma.c:cma_ib_req_handler).
int fit(const soft::Claim& listener, const soft::Address& destination) {
  constexpr int kNotForIt = 1;
  constexpr int kForAll = 2;
  constexpr int kForItAlone = 3;
  if (same_ip_anywhere(listener.local, destination)) return kForItAlone;
  if (!listener.local.is_zero()) return kNotForIt;
  return !listener.afonly || listener.local.family == destination.family ? kForAll : kNotForIt;
}

}  // namespace

// --- membership ---------------------------------------------------------------------------------

verbs::Result<std::unique_ptr<Registry>> Registry::join(const FabricConfig& config,
                                                        verbs::Random& random,
                                                        const soft::PortTableConfig& ports,
                                                        Seat seat) {
  const realtime::CancellationOff off;
  verbs::Result<RegistryFile> file = RegistryFile::open(config);
  if (!file) return file.error();
  std::unique_ptr<Registry> registry(new Registry(std::move(*file), random, ports));
  if (!registry->take_slot(!config.rails.empty(), seat)) {
    registry->file_->leave();
    registry->abandon();
    return FabricErrc::kTooManyProcesses;
  }
  registry->bury_all();
  registry->file_->sweep();
  return registry;
}

bool Registry::take_slot(bool has_gateway, Seat seat) {
  if (seat == Seat::kGateway) {
    if (!settle(kGatewaySlot)) return false;
    // Numbers and keys contain the slot: those of another host do not work here.
    image().next_slot.store(static_cast<std::uint32_t>(random_.next()));
    return true;
  }
  for (std::uint32_t tried = 0; tried < kSlotCount; ++tried) {
    // Each is tried by one who joins, however many do at once: to go on from where another's search
    // has ended would give a slot again whose owner has just gone.
    const auto slot = static_cast<Slot>(image().next_slot.fetch_add(1) % kSlotCount);
    if (has_gateway && slot == kGatewaySlot) continue;
    if (settle(slot)) return true;
  }
  return false;
}

bool Registry::settle(Slot slot) {
  if (!file_->take(slot)) return false;
  SlotRecord& mine = image().slots[value(slot)];
  mine.pid.store(static_cast<std::uint32_t>(::getpid()));
  PortRecords(*file_).clear([slot](Slot owner) { return owner == slot; });
  file_->remove_socket(slot);
  slot_ = slot;
  incarnation_ = (image().incarnations.fetch_add(1) + 1) & kIncarnationMask;
  mine.incarnation.store(incarnation_);
  return true;
}

void Registry::leave() {
  if (!file_) return;
  const realtime::CancellationOff off;
  for (const auto& [id, mine] : owned_)
    PortRecords(*file_).free(mine.record.index, mine.record.stamp);
  owned_.clear();
  SlotRecord& mine = image().slots[value(slot_)];
  file_->remove_socket(slot_);
  mine.incarnation.store(0);
  mine.pid.store(0);
  file_->give_up(slot_);
  file_->leave();
  file_.reset();
}

bool Registry::alive(const PortView& port) {
  if (port.owner == slot_) return port.incarnation == incarnation_;
  return image().slots[value(port.owner)].incarnation.load() == port.incarnation &&
         file_->taken(port.owner);
}

std::vector<Slot> Registry::others() {
  std::vector<Slot> all;
  if (!file_) return all;
  const realtime::CancellationOff off;
  bool anybody_dead = false;
  for (std::uint32_t i = 0; i < kSlotCount; ++i) {
    const auto slot = static_cast<Slot>(i);
    if (image().slots[i].pid.load() == 0 || slot == slot_) continue;
    if (file_->taken(slot)) {
      all.push_back(slot);
    } else {
      anybody_dead = true;
    }
  }
  if (anybody_dead) bury_all();
  return all;
}

/// Frees what dead processes left.
void Registry::bury_all() {
  std::vector<bool> dead(kSlotCount);
  for (std::uint32_t i = 0; i < kSlotCount; ++i) {
    const auto slot = static_cast<Slot>(i);
    dead[i] = slot != slot_ && image().slots[i].pid.load() != 0 && !file_->taken(slot);
  }
  if (std::ranges::find(dead, true) == dead.end()) return;
  // Another process may have the slot by now: who is dead after a record was seen has left it.
  PortRecords(*file_).clear([&](Slot owner) { return dead[value(owner)] && !file_->taken(owner); });
  for (std::uint32_t i = 0; i < kSlotCount; ++i) {
    const auto slot = static_cast<Slot>(i);
    if (!dead[i] || !file_->take(slot)) continue;
    file_->remove_socket(slot);
    image().slots[i].incarnation.store(0);
    image().slots[i].pid.store(0);
    file_->give_up(slot);
  }
}

// --- ports --------------------------------------------------------------------------------------

Registry::Own& Registry::own(soft::ClaimId id) {
  const auto found = owned_.find(id);
  CM_ASSERT(found != owned_.end());
  return found->second;
}

verbs::Result<Registry::Claimed> Registry::claim(const soft::Claim& wanted) {
  if (!file_) return verbs::errno_code(EADDRNOTAVAIL);
  const realtime::CancellationOff off;
  const std::uint16_t port = wanted.local.port;
  if (port != 0 && port < kFirstUnprivileged && !config_.privileged)
    return verbs::errno_code(EACCES);
  verbs::Result<Claimed> claimed = port == 0 ? claim_ephemeral(wanted) : add(wanted, Rule::kBind);
  // The table or the file system is full: no port is left.
  if (!claimed && claimed.error().value() == ENOBUFS) return verbs::errno_code(EADDRNOTAVAIL);
  return claimed;
}

/// What stands against a claim that the others can see: the newest one's word, for the kernel asks
/// that one first (K/cma.c:cma_bind_port, cma_check_port). EAGAIN: somebody else tries just now.
int Registry::conflict(const soft::Claim& wanted, std::uint32_t self, Rule rule) {
  PortRecords records(*file_);
  int error = 0;
  std::uint64_t newest = 0;
  records.for_each(wanted.local.port, [&](const PortView& other) {
    if (other.index == self || (newest != 0 && other.number < newest)) return true;
    if (other.state == PortState::kTaken) {
      if (error == 0) error = EAGAIN;
      return true;
    }
    if (!same_port(other.claim, wanted)) return true;
    int against = 0;
    if (rule == Rule::kEphemeral) {
      against = soft::ephemeral_conflict(wanted, other.claim) ? EADDRNOTAVAIL : 0;
    } else {
      const bool bind = rule == Rule::kBind;
      against = soft::bind_conflict(wanted, other.claim,
                                    bind ? soft::ReuseRule::kHonoured : soft::ReuseRule::kIgnored);
    }
    if (against == 0) return true;
    if (!alive(other)) {
      records.free(other.index, other.stamp);
      return true;
    }
    if (other.state == PortState::kTrying) {
      if (error == 0) error = EAGAIN;
      return true;
    }
    error = against;
    newest = other.number;
    return true;
  });
  return error;
}

/// For whom the dead count as well: asking whether somebody lives takes a system call.
bool Registry::seems_free(const soft::Claim& wanted) {
  bool free = true;
  PortRecords(*file_).for_each(wanted.local.port, [&](const PortView& other) {
    free = other.state != PortState::kTaken &&
           !(same_port(other.claim, wanted) && soft::ephemeral_conflict(wanted, other.claim));
    return free;
  });
  return free;
}

verbs::Result<Registry::Claimed> Registry::claim_ephemeral(soft::Claim wanted) {
  const std::uint32_t first = config_.ephemeral_first;
  const std::uint32_t count = config_.ephemeral_last - first + 1u;
  for (const bool buried : {false, true}) {
    if (buried) bury_all();
    auto offset = static_cast<std::uint32_t>(random_.below(count));
    for (std::uint32_t tried = 0; tried < count; ++tried, offset = (offset + 1) % count) {
      wanted.local.port = static_cast<std::uint16_t>(first + offset);
      if (wanted.local.port == last_ephemeral_ || !seems_free(wanted)) continue;
      verbs::Result<Claimed> claimed = add(wanted, Rule::kEphemeral);
      if (claimed) last_ephemeral_ = wanted.local.port;
      if (claimed || claimed.error().value() == ENOBUFS) return claimed;
    }
  }
  return verbs::errno_code(EADDRNOTAVAIL);
}

verbs::Result<Registry::Claimed> Registry::add(const soft::Claim& claim, Rule rule) {
  for (unsigned tries = 0; tries < kTries; ++tries) {
    Claimed claimed;
    const int error = try_to_add(claim, rule, claimed);
    if (error == 0) return claimed;
    if (error != EAGAIN) return verbs::errno_code(error);
    pause(tries);
  }
  return verbs::errno_code(EADDRINUSE);
}

int Registry::try_to_add(const soft::Claim& claim, Rule rule, Claimed& claimed) {
  PortRecords records(*file_);
  auto record = records.take(claim.local.port, slot_);
  if (!record) {
    bury_all();
    record = records.take(claim.local.port, slot_);
  }
  if (!record) return ENOBUFS;
  int error = EAGAIN;
  if (records.publish(*record, PortState::kTrying, incarnation_, claim)) {
    error = conflict(claim, record->index, rule);
    if (error == 0 && !records.publish(*record, PortState::kBound, incarnation_, claim))
      error = EAGAIN;
  }
  if (error != 0) {
    records.free(record->index, record->stamp);
    return error;
  }
  claimed = {soft::ClaimId{++claims_}, claim.local.port};
  owned_[claimed.id] = {*record, PortState::kBound, claim};
  return 0;
}

/// Lets those who try for the same port get out of each other's way.
void Registry::pause(unsigned tries) {
  const std::uint64_t most = std::uint64_t{1} << std::min(tries, kLongestPause);
  for (std::uint64_t left = random_.below(most) + 1; left > 0; --left) ::sched_yield();
}

verbs::Result<void> Registry::listen(soft::ClaimId id) {
  if (!file_) return verbs::errno_code(EADDRNOTAVAIL);
  const realtime::CancellationOff off;
  Own& mine = own(id);
  int error = EAGAIN;
  for (unsigned tries = 0; tries < kTries && error == EAGAIN; ++tries) {
    if (tries != 0) pause(tries);
    error = try_to_listen(mine);
  }
  if (error == EAGAIN) error = EADDRINUSE;
  if (error != 0) return verbs::errno_code(error);
  return {};
}

int Registry::try_to_listen(Own& mine) {
  PortRecords records(*file_);
  soft::Claim alone = mine.claim;
  alone.reuse = false;
  int error = 0;
  if (mine.claim.reuse) {
    if (!records.publish(mine.record, PortState::kTrying, incarnation_, alone))
      return EADDRNOTAVAIL;
    error = conflict(alone, mine.record.index, Rule::kListen);
  }
  if (error != 0) {
    (void)records.publish(mine.record, mine.state, incarnation_, mine.claim);
    return error;
  }
  if (!records.publish(mine.record, PortState::kListening, incarnation_, alone))
    return EADDRNOTAVAIL;
  mine.state = PortState::kListening;
  mine.claim = alone;
  return 0;
}

void Registry::update(soft::ClaimId id, const soft::Claim& claim) {
  if (!file_) return;
  Own& mine = own(id);
  CM_ASSERT(same_port(mine.claim, claim));
  mine.claim = claim;
  (void)PortRecords(*file_).publish(mine.record, mine.state, incarnation_, claim);
}

void Registry::release(soft::ClaimId id) {
  if (!file_) return;
  const PortRecords::Own record = own(id).record;
  PortRecords(*file_).free(record.index, record.stamp);
  owned_.erase(id);
}

std::optional<Slot> Registry::listener(rdma_port_space space, const soft::Address& destination) {
  if (!file_) return std::nullopt;
  const realtime::CancellationOff off;
  PortRecords records(*file_);
  const soft::Claim wanted{.space = space, .local = destination};
  for (std::uint32_t dead = 0; dead < kPortRecords; ++dead) {
    PortView best{};
    int best_fit = 0;
    records.for_each(destination.port, [&](const PortView& port) {
      if (port.state != PortState::kListening || !same_port(port.claim, wanted)) return true;
      const int fits = fit(port.claim, destination);
      if (fits > best_fit) best = port;
      best_fit = std::max(best_fit, fits);
      return true;
    });
    if (best_fit == 0) return std::nullopt;
    if (alive(best)) return best.owner;
    records.free(best.index, best.stamp);
  }
  return std::nullopt;
}

}  // namespace anyrdma::transport::fabric
