#include "transport/fabric/registry.h"

#include <cerrno>
#include <utility>

#include "transport/realtime/cancellation.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric {
namespace {

constexpr std::uint32_t kNone = 0;
constexpr std::uint16_t kFirstUnprivileged = 1024;  // PROT_SOCK

std::uint32_t bucket_of(const soft::Claim& claim) {
  return claim.local.port % kPortBuckets;
}

bool same_port(const PortRecord& record, const soft::Claim& wanted) {
  return record.claim.space == wanted.space && record.claim.local.port == wanted.local.port;
}

Slot owner_of(const PortRecord& record) {
  return static_cast<Slot>(record.owner - 1);
}

bool same_ip_anywhere(const soft::Address& a, const soft::Address& b) {
  return a.family == b.family && a.ip == b.ip;  // link-local scopes are not on the wire
}

/// How well a listener on the port fits a destination. One for another address is the last resort:
/// it refuses the request, where without any the service would be unknown (fact sheet 2.6).
int fit(const soft::Claim& listener, const soft::Address& destination) {
  constexpr int kNotForIt = 1;
  constexpr int kForAll = 2;
  constexpr int kForItAlone = 3;
  if (same_ip_anywhere(listener.local, destination)) return kForItAlone;
  if (!listener.local.is_zero()) return kNotForIt;
  return !listener.afonly || listener.local.family == destination.family ? kForAll : kNotForIt;
}

}  // namespace

/// The file's lock, and the mark that lists are being changed.
class Registry::Change {
 public:
  explicit Change(Registry& registry) : lock_(*registry.file_), image_(registry.image()) {
    if (image_.changing.load() != 0) registry.rebuild();
    image_.changing.store(1);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Change() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    image_.changing.store(0);
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  realtime::CancellationOff off_;
  RegistryLock lock_;
  RegistryImage& image_;
};

// --- membership ---------------------------------------------------------------------------------

verbs::Result<std::unique_ptr<Registry>> Registry::join(const FabricConfig& config,
                                                        verbs::Random& random,
                                                        const soft::PortTableConfig& ports) {
  const realtime::CancellationOff off;
  verbs::Result<RegistryFile> file = RegistryFile::open(config);
  if (!file) return file.error();
  std::unique_ptr<Registry> registry(new Registry(std::move(*file), random, ports));
  // The file is locked from before the check that it has its name until the slot is ours: nobody
  // finds it unused, and removes it, in between.
  if (registry->take_slot()) {
    RegistryFile::sweep(config);
    return registry;
  }
  registry->abandon();
  return FabricErrc::kTooManyProcesses;
}

bool Registry::take_slot() {
  const Change change(*this);
  const std::uint32_t first = image().next_slot;
  for (std::uint32_t tried = 0; tried < kSlotCount; ++tried) {
    const auto slot = static_cast<Slot>((first + tried) % kSlotCount);
    if (!file_->take(slot)) continue;
    bury(slot);
    slot_ = slot;
    joined_ = true;
    incarnation_ = ++image().incarnations;
    image().slots[value(slot)] = {static_cast<std::uint32_t>(::getpid()), 0, incarnation_};
    image().next_slot = (value(slot) + 1) % kSlotCount;
    return true;
  }
  return false;
}

void Registry::leave() {
  if (!file_) return;
  {
    const Change change(*this);
    bury(slot_);
    file_->give_up(slot_);
    joined_ = false;
    if (!anybody_else()) file_->remove();
  }
  const realtime::CancellationOff off;
  file_.reset();
}

bool Registry::alive(Slot slot) const {
  return (joined_ && slot == slot_) || file_->taken(slot);
}

bool Registry::anybody_else() {
  for (std::uint32_t i = 0; i < kSlotCount; ++i)
    if (image().slots[i].pid != 0 && file_->taken(static_cast<Slot>(i))) return true;
  return false;
}

std::vector<Slot> Registry::others() {
  std::vector<Slot> all;
  if (!file_) return all;
  const Change change(*this);
  for (std::uint32_t i = 0; i < kSlotCount; ++i) {
    const auto slot = static_cast<Slot>(i);
    if (image().slots[i].pid == 0 || slot == slot_) continue;
    if (alive(slot)) {
      all.push_back(slot);
    } else {
      bury(slot);
    }
  }
  return all;
}

/// Frees a slot and all its ports.
void Registry::bury(Slot slot) {
  SlotRecord& mine = image().slots[value(slot)];
  if (mine.pid == 0) return;
  for (std::uint32_t i = 0; i < image().ports_used; ++i)
    if (image().ports[i].owner == value(slot) + 1) unlink(i);
  mine.pid = 0;
}

void Registry::bury_all() {
  for (std::uint32_t i = 0; i < kSlotCount; ++i)
    if (image().slots[i].pid != 0 && !alive(static_cast<Slot>(i))) bury(static_cast<Slot>(i));
}

/// Somebody was killed while changing the lists: makes them again from the records of the living.
void Registry::rebuild() {
  for (std::uint32_t& bucket : image().buckets) bucket = kNone;
  image().free_port = kNone;
  for (std::uint32_t i = 0; i < image().ports_used; ++i) {
    PortRecord& port = image().ports[i];
    if (port.owner != 0 && alive(owner_of(port))) {
      link(i);
    } else {
      port.owner = 0;
      port.next = std::exchange(image().free_port, i + 1);
    }
  }
  for (std::uint32_t i = 0; i < kSlotCount; ++i)
    if (!alive(static_cast<Slot>(i))) image().slots[i].pid = 0;
}

// --- ports --------------------------------------------------------------------------------------

PortRecord& Registry::record(soft::ClaimId id) {
  PortRecord& port = image().ports[static_cast<std::uint32_t>(id)];
  CM_ASSERT(port.owner == value(slot_) + 1);
  return port;
}

verbs::Result<Registry::Claimed> Registry::claim(const soft::Claim& wanted) {
  if (!file_) return verbs::errno_code(EADDRNOTAVAIL);
  const std::uint16_t port = wanted.local.port;
  if (port != 0 && port < kFirstUnprivileged && !config_.privileged)
    return verbs::errno_code(EACCES);
  const Change change(*this);
  if (port == 0) return claim_ephemeral(wanted);
  const int error = conflict(wanted, nullptr, soft::ReuseRule::kHonoured);
  if (error != 0) return verbs::errno_code(error);
  return add(wanted);
}

int Registry::conflict(const soft::Claim& wanted, const PortRecord* self, soft::ReuseRule rule) {
  std::uint32_t at = image().buckets[bucket_of(wanted)];
  while (at != kNone) {
    const PortRecord& port = image().ports[at - 1];
    const int error = &port == self || !same_port(port, wanted)
                          ? 0
                          : soft::bind_conflict(wanted, port.claim, rule);
    if (error == 0) {
      at = port.next;
    } else if (alive(owner_of(port))) {
      return error;
    } else {
      bury(owner_of(port));
      at = image().buckets[bucket_of(wanted)];
    }
  }
  return 0;
}

verbs::Result<Registry::Claimed> Registry::claim_ephemeral(const soft::Claim& wanted) {
  std::optional<std::uint16_t> port = find_ephemeral(wanted);
  if (!port) {
    bury_all();
    port = find_ephemeral(wanted);
  }
  if (!port) return verbs::errno_code(EADDRNOTAVAIL);
  last_ephemeral_ = *port;
  soft::Claim claim = wanted;
  claim.local.port = *port;
  return add(claim);
}

std::optional<std::uint16_t> Registry::find_ephemeral(soft::Claim wanted) {
  const std::uint32_t first = config_.ephemeral_first;
  const std::uint32_t count = config_.ephemeral_last - first + 1u;
  auto offset = static_cast<std::uint32_t>(random_.below(count));
  for (std::uint32_t tried = 0; tried < count; ++tried, offset = (offset + 1) % count) {
    wanted.local.port = static_cast<std::uint16_t>(first + offset);
    if (wanted.local.port != last_ephemeral_ && ephemeral_free(wanted)) return wanted.local.port;
  }
  return std::nullopt;
}

bool Registry::ephemeral_free(const soft::Claim& wanted) {
  std::uint32_t at = image().buckets[bucket_of(wanted)];
  for (; at != kNone; at = image().ports[at - 1].next) {
    const PortRecord& port = image().ports[at - 1];
    if (same_port(port, wanted) && soft::ephemeral_conflict(wanted, port.claim)) return false;
  }
  return true;
}

verbs::Result<Registry::Claimed> Registry::add(const soft::Claim& claim) {
  std::uint32_t taken = take_record();
  if (taken == kNone) {
    bury_all();
    taken = take_record();
  }
  if (taken == kNone) return verbs::errno_code(EADDRNOTAVAIL);
  const std::uint32_t index = taken - 1;
  image().ports[index] = {value(slot_) + 1, kNone, 0, 0, claim};
  link(index);
  return Claimed{soft::ClaimId{index}, claim.local.port};
}

/// An unlinked record's index + 1; 0: the table or the file system is full.
std::uint32_t Registry::take_record() {
  RegistryImage& all = image();
  if (all.free_port != kNone) {
    const std::uint32_t taken = all.free_port;
    all.free_port = all.ports[taken - 1].next;
    return taken;
  }
  if (all.ports_used == kPortRecords || !file_->reserve_ports(all.ports_used + 1)) return kNone;
  all.ports[all.ports_used].owner = 0;
  return ++all.ports_used;
}

/// Appends to the bucket's list.
void Registry::link(std::uint32_t index) {
  PortRecord& port = image().ports[index];
  port.next = kNone;
  std::uint32_t* end = &image().buckets[bucket_of(port.claim)];
  while (*end != kNone) end = &image().ports[*end - 1].next;
  *end = index + 1;
}

/// Takes the record out of its list and frees it.
void Registry::unlink(std::uint32_t index) {
  PortRecord& port = image().ports[index];
  std::uint32_t* at = &image().buckets[bucket_of(port.claim)];
  while (*at != index + 1) {
    CM_ASSERT(*at != kNone);
    at = &image().ports[*at - 1].next;
  }
  *at = port.next;
  port.owner = 0;
  port.next = std::exchange(image().free_port, index + 1);
}

verbs::Result<void> Registry::listen(soft::ClaimId id) {
  if (!file_) return verbs::errno_code(EADDRNOTAVAIL);
  const Change change(*this);
  PortRecord& mine = record(id);
  if (mine.claim.reuse) {
    const int error = conflict(mine.claim, &mine, soft::ReuseRule::kIgnored);
    if (error != 0) return verbs::errno_code(error);
    mine.claim.reuse = false;
  }
  mine.listening = 1;
  return {};
}

void Registry::update(soft::ClaimId id, const soft::Claim& claim) {
  if (!file_) return;
  const Change change(*this);
  PortRecord& mine = record(id);
  CM_ASSERT(mine.claim.space == claim.space);
  CM_ASSERT(mine.claim.local.port == claim.local.port);
  mine.claim = claim;
}

void Registry::release(soft::ClaimId id) {
  if (!file_) return;
  const Change change(*this);
  (void)record(id);
  unlink(static_cast<std::uint32_t>(id));
}

std::optional<Slot> Registry::listener(rdma_port_space space, const soft::Address& destination) {
  if (!file_) return std::nullopt;
  const Change change(*this);
  const soft::Claim wanted{.space = space, .local = destination};
  const PortRecord* best = nullptr;
  int best_fit = 0;
  std::uint32_t at = image().buckets[bucket_of(wanted)];
  while (at != kNone) {
    const PortRecord& port = image().ports[at - 1];
    at = port.next;
    if (port.listening == 0 || !same_port(port, wanted)) continue;
    const int fits = fit(port.claim, destination);
    if (fits <= best_fit) continue;
    if (!alive(owner_of(port))) {
      bury(owner_of(port));
      best = nullptr;
      best_fit = 0;
      at = image().buckets[bucket_of(wanted)];
      continue;
    }
    best = &port;
    best_fit = fits;
  }
  if (best == nullptr) return std::nullopt;
  return owner_of(*best);
}

}  // namespace anyrdma::transport::fabric
