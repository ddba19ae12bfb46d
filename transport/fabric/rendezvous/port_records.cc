#include "transport/fabric/rendezvous/port_records.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace anyrdma::transport::fabric {
namespace {

using Words = std::array<std::uint64_t, kClaimWords>;

// A stamp: which copy, what for, whose, and a number that makes each one differ from those before.
constexpr std::uint64_t kCopyMask = 1;
constexpr unsigned kStateShift = 1;
constexpr std::uint64_t kStateMask = 7;
constexpr unsigned kOwnerShift = 8;
constexpr unsigned kNumberShift = 32;

std::size_t copy_of(std::uint64_t stamp) {
  return stamp & kCopyMask;
}

PortState state_of(std::uint64_t stamp) {
  return static_cast<PortState>(stamp >> kStateShift & kStateMask);
}

Slot owner_of(std::uint64_t stamp) {
  return static_cast<Slot>(stamp >> kOwnerShift & (kSlotCount - 1));
}

std::uint64_t next_stamp(std::uint64_t stamp, std::size_t copy, PortState state, Slot owner) {
  const std::uint64_t number = (stamp >> kNumberShift) + 1;
  return number << kNumberShift | std::uint64_t{value(owner)} << kOwnerShift |
         static_cast<std::uint64_t>(state) << kStateShift | copy;
}

std::uint32_t bucket_of(std::uint16_t port) {
  return port % kPortBuckets;
}

// --- claims as words, so that any bytes are one -------------------------------------------------

void pack(const soft::Address& address, std::uint64_t* to) {
  to[0] = std::uint64_t{address.scope} << 32 | std::uint64_t{address.port} << 16 | address.family;
  std::memcpy(to + 1, address.ip.data(), address.ip.size());
}

soft::Address unpack_address(const std::uint64_t* from) {
  soft::Address address;
  address.family = static_cast<sa_family_t>(from[0]);
  address.port = static_cast<std::uint16_t>(from[0] >> 16);
  address.scope = static_cast<std::uint32_t>(from[0] >> 32);
  std::memcpy(address.ip.data(), from + 1, address.ip.size());
  return address;
}

constexpr std::uint64_t kReuse = 1;
constexpr std::uint64_t kAfonly = 2;
constexpr unsigned kFlagBits = 2;
constexpr unsigned kSpaceShift = 48;
static_assert(kIncarnationMask >> (kSpaceShift - kFlagBits) == 0);

Words pack(const soft::Claim& claim, std::uint64_t incarnation, std::uint64_t number) {
  Words words{};
  words[0] = static_cast<std::uint64_t>(claim.space) << kSpaceShift |
             (incarnation & kIncarnationMask) << kFlagBits | (claim.afonly ? kAfonly : 0) |
             (claim.reuse ? kReuse : 0);
  pack(claim.local, &words[1]);
  pack(claim.destination, &words[4]);
  words[7] = number;
  return words;
}

void unpack(const Words& words, PortView& view) {
  view.incarnation = words[0] >> kFlagBits & kIncarnationMask;
  view.claim.space = static_cast<rdma_port_space>(words[0] >> kSpaceShift);
  view.claim.reuse = (words[0] & kReuse) != 0;
  view.claim.afonly = (words[0] & kAfonly) != 0;
  view.claim.local = unpack_address(&words[1]);
  view.claim.destination = unpack_address(&words[4]);
  view.number = words[7];
}
static_assert(sizeof(soft::Address::ip) == 2 * sizeof(std::uint64_t));
static_assert(kClaimWords == 8);

}  // namespace

std::uint64_t PortRecords::next_number() {
  return file_.image().claims.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::optional<PortRecords::Own> PortRecords::take_free(std::uint32_t bucket, Slot owner) {
  std::uint32_t at = file_.image().buckets[bucket].load();
  if (at == 0) return std::nullopt;
  for (std::uint32_t left = file_.ports_backed(); at != 0 && left > 0; --left) {
    PortRecord* const record = file_.port(at - 1);
    if (record == nullptr) return std::nullopt;
    std::uint64_t stamp = record->stamp.load();
    if (state_of(stamp) == PortState::kFree) {
      const std::uint64_t mine = next_stamp(stamp, copy_of(stamp), PortState::kTaken, owner);
      if (record->stamp.compare_exchange_strong(stamp, mine))
        return Own{at - 1, mine, next_number()};
    }
    at = record->next.load();
  }
  return std::nullopt;
}

std::optional<PortRecords::Own> PortRecords::take(std::uint16_t port, Slot owner) {
  const std::uint32_t bucket = bucket_of(port);
  if (const std::optional<Own> found = take_free(bucket, owner)) return found;
  RegistryImage& image = file_.image();
  std::uint32_t used = image.ports_used.load();
  do {
    if (used >= kPortRecords || !file_.reserve_ports(used + 1)) return std::nullopt;
  } while (!image.ports_used.compare_exchange_weak(used, used + 1));
  PortRecord* const record = file_.port(used);
  if (record == nullptr) return std::nullopt;
  const std::uint64_t stamp = next_stamp(0, 0, PortState::kTaken, owner);
  record->stamp.store(stamp);
  std::uint32_t first = image.buckets[bucket].load();
  do {
    record->next.store(first);
  } while (!image.buckets[bucket].compare_exchange_weak(first, used + 1));
  return Own{used, stamp, next_number()};
}

bool PortRecords::publish(Own& own, PortState state, std::uint64_t incarnation,
                          const soft::Claim& claim) {
  PortRecord* const record = file_.port(own.index);
  if (record == nullptr) return false;
  const std::size_t copy = 1 - copy_of(own.stamp);
  const Words words = pack(claim, incarnation, own.number);
  // Who reads one of these words sees the stamp that told of the other copy, too: so each is a
  // release, and the reader's an acquire.
  for (std::size_t i = 0; i < words.size(); ++i)
    record->copies[copy][i].store(words[i], std::memory_order_release);
  std::uint64_t expected = own.stamp;
  const std::uint64_t stamp = next_stamp(own.stamp, copy, state, owner_of(own.stamp));
  // Sequentially consistent, as is the look at the others that follows: of two at least one sees.
  if (!record->stamp.compare_exchange_strong(expected, stamp)) return false;
  own.stamp = stamp;
  return true;
}

void PortRecords::free(std::uint32_t index, std::uint64_t stamp) {
  PortRecord* const record = file_.port(index);
  if (record == nullptr) return;
  const std::uint64_t freed = next_stamp(stamp, copy_of(stamp), PortState::kFree, Slot{});
  record->stamp.compare_exchange_strong(stamp, freed);
}

/// Nothing: it says nothing (yet).
std::optional<PortView> PortRecords::read(std::uint32_t index) {
  constexpr int kTries = 64;
  const PortRecord* const record = file_.port(index);
  if (record == nullptr) return std::nullopt;
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t stamp = record->stamp.load();
    const PortState state = state_of(stamp);
    if (state < PortState::kTrying || state > PortState::kListening) return std::nullopt;
    Words words;
    for (std::size_t word = 0; word < words.size(); ++word)
      words[word] = record->copies[copy_of(stamp)][word].load(std::memory_order_acquire);
    if (record->stamp.load() != stamp) continue;
    PortView view{.index = index, .stamp = stamp, .state = state, .owner = owner_of(stamp)};
    unpack(words, view);
    return view;
  }
  return PortView{.index = index, .state = PortState::kTaken};
}

void PortRecords::for_each(std::uint16_t port, const std::function<bool(const PortView&)>& look) {
  std::uint32_t at = file_.image().buckets[bucket_of(port)].load();
  if (at == 0) return;
  for (std::uint32_t left = file_.ports_backed(); at != 0 && left > 0; --left) {
    const PortRecord* const record = file_.port(at - 1);
    if (record == nullptr) return;
    if (const std::optional<PortView> view = read(at - 1); view && !look(*view)) return;
    at = record->next.load();
  }
}

void PortRecords::clear(const std::function<bool(Slot owner)>& dead) {
  const std::uint32_t used = std::min(file_.image().ports_used.load(), kPortRecords);
  for (std::uint32_t i = 0; i < used; ++i) {
    const PortRecord* const record = file_.port(i);
    if (record == nullptr) return;
    const std::uint64_t stamp = record->stamp.load();
    if (state_of(stamp) != PortState::kFree && dead(owner_of(stamp))) free(i, stamp);
  }
}

}  // namespace anyrdma::transport::fabric
