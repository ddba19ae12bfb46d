#include "verbs/soft/delayed_effects.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "verbs/soft/queue_pair.h"
#include "verbs/soft/scatter_gather.h"

namespace anyrdma::verbs::soft {

namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

// From less than a link's latency to what another host needs for a conversation.
constexpr std::array<Duration, 5> kDelays = {nanoseconds(300), microseconds(1), microseconds(5),
                                             microseconds(20), microseconds(100)};
/// Which piece of a message is late. From kEach on: there are more pieces, each with a delay of its
/// own up to the one that was chosen. One choice says all of it, as what is left out of a trial
/// must not change the numbers of later choices.
enum class Late : std::uint8_t { kAll, kTail, kHead, kEach };
constexpr std::uint32_t kLates = 6;
constexpr std::uint64_t kFinePiecesMax = 8;  // of one packet
/// Before which packet of a message its source is read late.
constexpr std::uint32_t kFetchPlaces = 2;
constexpr std::uint64_t kLine = 64;  // bytes that become visible at once
/// Of longer READs memory is read when they are answered, packet by packet.
constexpr std::uint32_t kFoundMax = 64 * 1024;
/// More than so many effects of a kind are no device's: its buffers are full.
constexpr std::size_t kEffectsMax = 4096;
constexpr std::uint8_t kPattern = 0xa5;
/// Bytes at the beginning of a message that get it. A device writes no more of a receive than its
/// message has: UCX 1.13 posts receives that are longer than the memory it has for them.
constexpr std::uint32_t kPatternMax = 1024;

/// The numbers of splitmix64.
std::uint64_t next_number(std::uint64_t& state) {
  std::uint64_t mixed = state += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

std::uint32_t chosen(Core& core, std::uint32_t choices) {
  return core.memory_chooser->choose(choices + 1);
}

}  // namespace

DelayedEffects::DelayedEffects(SoftQp& qp)
    : qp_(qp),
      core_(qp.core),
      timer_(QpTimerTag{&qp, QpTimerKind::kEffect}),
      fetch_timer_(QpTimerTag{&qp, QpTimerKind::kFetch}) {
  core_.delayed.push_back(this);
}

DelayedEffects::~DelayedEffects() {
  drop();
  std::erase(core_.delayed, this);
}

// --- what is late, and by how much --------------------------------------------------------------

// The pieces of a message's packet and when each takes effect, not before `floor`.
std::vector<DelayedEffects::Piece> DelayedEffects::cut(std::uint64_t address, std::uint64_t size,
                                                       Instant floor) {
  const Instant now = std::max(core_.runtime.now(), floor);
  const std::uint32_t choice = chosen(core_, kLates * std::uint32_t{kDelays.size()});
  if (choice == 0) return {{0, size, now}};
  const auto late = static_cast<Late>((choice - 1) / kDelays.size());
  const auto delay = static_cast<std::uint32_t>((choice - 1) % kDelays.size());
  if (late >= Late::kEach) return cut_finely(address, size, now, choice, delay + 1);
  const Instant later = now + kDelays[delay];
  const std::uint64_t middle = (address + size / 2 + kLine - 1) / kLine * kLine - address;
  const std::uint64_t at = middle < size ? middle : middle - kLine;  // wraps where there is none
  if (late == Late::kAll || at == 0 || at >= size) return {{0, size, later}};
  return {{0, at, late == Late::kHead ? later : now},
          {at, size, late == Late::kHead ? now : later}};
}

// Each line is a piece; of many lines, some neighbours are. `delays`: how many of them there are to
// choose from.
std::vector<DelayedEffects::Piece> DelayedEffects::cut_finely(std::uint64_t address,
                                                              std::uint64_t size, Instant now,
                                                              std::uint32_t choice,
                                                              std::uint32_t delays) {
  std::uint64_t state = (std::uint64_t{++cuts_} << 8) + choice;
  const auto below = [&state](std::uint64_t count) { return next_number(state) % count; };
  const std::uint64_t first_line = address / kLine;
  const std::uint64_t lines = (address + size + kLine - 1) / kLine - first_line;
  const std::uint64_t pieces = std::min(lines, kFinePiecesMax);
  std::vector<Piece> all;
  for (std::uint64_t i = 0; i < pieces; ++i) {
    const std::uint64_t begin = all.empty() ? 0 : all.back().end;
    std::uint64_t lines_end = lines * (i + 1) / pieces;
    if (i + 1 < pieces) lines_end -= below(lines_end - lines * i / pieces);  // or earlier
    const std::uint64_t end = std::min((first_line + lines_end) * kLine - address, size);
    const std::uint64_t delay = below(2) == 0 ? 0 : 1 + below(delays);
    all.push_back({begin, end, delay == 0 ? now : now + kDelays[delay - 1]});
  }
  return all;
}

void DelayedEffects::add(Effects& effects, Effect effect) {
  const auto place =
      std::upper_bound(effects.begin(), effects.end(), effect.due,
                       [](Instant due, const Effect& each) { return due < each.due; });
  effects.insert(place, std::move(effect));
  if (effects.size() > kEffectsMax) apply_all(effects);
  restart_timer();
}

void DelayedEffects::restart_timer() {
  Instant first = Instant::max();
  for (const Effects* effects : {&arrived_, &serving_, &returning_})
    if (!effects->empty()) first = std::min(first, effects->front().due);
  if (first == Instant::max()) return core_.timers.cancel(timer_);
  core_.timers.arm(timer_, first);
  core_.runtime.call_driver();
}

void DelayedEffects::apply_due(Effects& effects, Instant now) {
  while (!effects.empty() && effects.front().due <= now) {
    Effect effect = std::move(effects.front());
    effects.pop_front();
    apply(effect);
  }
}

// Memory that is not there any more takes nothing: its owner cannot tell.
void DelayedEffects::apply(Effect& effect) {
  switch (effect.kind) {
    case Kind::kStore:
      (void)core_.memory.copy(effect.at, effect.bytes.data(), effect.bytes.size());
      return;
    case Kind::kStoreWord: {
      std::uint64_t value = 0;
      std::memcpy(&value, effect.bytes.data(), sizeof value);
      (void)core_.memory.touch([&] { execute_atomic_write(effect.at, value); });
      if (core_.in_atomic == this) core_.in_atomic = nullptr;
      return finish_one(effect.ticket);
    }
    case Kind::kLoad: {
      const auto found = awaited_.find(effect.ticket);
      if (found == awaited_.end()) return;
      if (effect.size > 0)
        (void)core_.memory.copy(found->second.bytes.data() + effect.offset, effect.at, effect.size);
      return finish_one(effect.ticket);
    }
    case Kind::kPlace:
      (void)scatter(core_.memory, qp_.pd, effect.list, effect.offset, effect.bytes);
      return;
    case Kind::kComplete:
      qp_.send_completions().push(effect.completion, false, effect.frees);
      return;
  }
}

void DelayedEffects::finish_one(std::uint32_t ticket) {
  const auto found = awaited_.find(ticket);
  if (found != awaited_.end()) --found->second.missing;
}

void DelayedEffects::on_timer(QpTimerKind kind, Instant now) {
  if (kind == QpTimerKind::kFetch) {
    fetching_ = false;
    qp_.fetch_now();
  } else {
    apply_due(arrived_, now);
    apply_due(serving_, now);
    apply_due(returning_, now);
    restart_timer();
  }
  qp_.go_on();
}

// --- of the responder ---------------------------------------------------------------------------

bool DelayedEffects::write(std::uint8_t* to, std::span<const std::uint8_t> bytes, bool first,
                           std::uint32_t key) {
  const Instant now = core_.runtime.now();
  apply_due(arrived_, now);
  if (first) earlier_arrived_ = std::max(earlier_arrived_, latest_arrived_);
  const bool relaxed =
      core_.memory_profile == MemoryProfile::kUnordered ||
      (core_.memory_profile == MemoryProfile::kRelaxed && core_.memory.is_relaxed(key));
  const Instant floor = relaxed ? atomic_ : earlier_arrived_;
  for (const Piece& piece : cut(reinterpret_cast<std::uintptr_t>(to), bytes.size(), floor)) {
    const auto part = bytes.subspan(piece.begin, piece.end - piece.begin);
    latest_arrived_ = std::max(latest_arrived_, piece.due);
    if (piece.due <= now) {
      if (!core_.memory.copy(to + piece.begin, part.data(), part.size())) return false;
      continue;
    }
    add(arrived_, {.due = piece.due,
                   .kind = Kind::kStore,
                   .at = to + piece.begin,
                   .bytes = {part.begin(), part.end()}});
  }
  return true;
}

std::optional<std::uint32_t> DelayedEffects::execute(void* at, const AtomicRequest& request,
                                                     std::uint64_t& original) {
  settle_arrived();
  if (core_.in_atomic != nullptr) {
    DelayedEffects& other = *core_.in_atomic;
    other.settle_arrived();
    other.qp_.go_on();
  }
  const std::uint32_t choice = chosen(core_, std::uint32_t{kDelays.size()});
  std::uint64_t result = 0;
  bool stores = false;
  const bool there = core_.memory.touch([&] {
    if (choice == 0) {
      original = execute_atomic(at, request);
      return;
    }
    original = __atomic_load_n(static_cast<std::uint64_t*>(at), __ATOMIC_SEQ_CST);
    stores = !request.compare_swap || original == request.compare;
    result = request.compare_swap ? request.swap_or_add : original + request.swap_or_add;
  });
  if (!there) return std::nullopt;
  if (!stores) return 0;
  atomic_ = core_.runtime.now() + kDelays[choice - 1];
  earlier_arrived_ = latest_arrived_ = atomic_;
  core_.in_atomic = this;
  const std::uint32_t ticket = ++tickets_;
  awaited_[ticket].missing = 1;
  std::vector<std::uint8_t> bytes(sizeof result);
  std::memcpy(bytes.data(), &result, sizeof result);
  add(arrived_, {.due = atomic_,
                 .kind = Kind::kStoreWord,
                 .at = static_cast<std::uint8_t*>(at),
                 .bytes = std::move(bytes),
                 .ticket = ticket});
  return ticket;
}

std::uint32_t DelayedEffects::read(const std::uint8_t* from, std::uint32_t size) {
  const Instant now = core_.runtime.now();
  const std::vector<Piece> pieces = cut(reinterpret_cast<std::uintptr_t>(from), size, now);
  const bool waits = !awaited_.empty();  // for answers before it: what it finds is kept
  if (!waits && pieces.size() == 1 && pieces.front().due <= now) return 0;
  const std::uint32_t ticket = ++tickets_;
  Awaited& awaited = awaited_[ticket];
  const bool keeps = size <= kFoundMax;
  if (keeps) awaited.bytes.resize(size);
  for (const Piece& piece : pieces) {
    Effect load{.due = piece.due,
                .kind = Kind::kLoad,
                .at = const_cast<std::uint8_t*>(from) + piece.begin,
                .ticket = ticket,
                .offset = piece.begin,
                .size = keeps ? static_cast<std::uint32_t>(piece.end - piece.begin) : 0};
    ++awaited.missing;
    piece.due <= now ? apply(load) : add(serving_, std::move(load));
  }
  return ticket;
}

bool DelayedEffects::ready(std::uint32_t ticket) const {
  const auto found = awaited_.find(ticket);
  return found == awaited_.end() || found->second.missing == 0;
}

std::span<const std::uint8_t> DelayedEffects::found(std::uint32_t ticket) const {
  const auto found = awaited_.find(ticket);
  if (found == awaited_.end()) return {};
  return found->second.bytes;
}

void DelayedEffects::forget_answers() {
  serving_.clear();
  awaited_.clear();
  restart_timer();
}

void DelayedEffects::before_read() {
  if (core_.memory_profile != MemoryProfile::kUnordered || core_.in_atomic == this)
    settle_arrived();
}

void DelayedEffects::settle_arrived() {
  apply_all(arrived_);
  latest_arrived_ = earlier_arrived_ = atomic_ = {};
  restart_timer();
}

// --- of the requester ---------------------------------------------------------------------------

std::uint8_t DelayedEffects::choose_fetch() {
  return static_cast<std::uint8_t>(chosen(core_, kFetchPlaces * std::uint32_t{kDelays.size()}));
}

bool DelayedEffects::fetch_is_due(std::uint8_t fetch, std::uint32_t index, std::uint32_t count) {
  if (fetch == 0) return true;
  const bool before_last = fetch > kDelays.size();
  if (index != (before_last ? count - 1 : 0)) return true;
  if (!std::exchange(fetching_, true)) {
    core_.timers.arm(fetch_timer_, core_.runtime.now() + kDelays[(fetch - 1u) % kDelays.size()]);
    core_.runtime.call_driver();
  }
  return false;
}

ibv_wc_status DelayedEffects::place(std::span<const ibv_sge> list, std::uint64_t offset,
                                    std::span<const std::uint8_t> data, bool first) {
  const Instant now = core_.runtime.now();
  apply_due(returning_, now);
  if (first) earlier_returned_ = std::max(earlier_returned_, latest_returned_);
  if (!accessible(core_.memory, qp_.pd, list, IBV_ACCESS_LOCAL_WRITE)) return IBV_WC_LOC_PROT_ERR;
  for (const Piece& piece : cut(offset, data.size(), earlier_returned_)) {
    const auto part = data.subspan(piece.begin, piece.end - piece.begin);
    latest_returned_ = std::max(latest_returned_, piece.due);
    if (piece.due <= now) {
      const auto status = scatter(core_.memory, qp_.pd, list, offset + piece.begin, part);
      if (status != IBV_WC_SUCCESS) return status;
      continue;
    }
    add(returning_, {.due = piece.due,
                     .kind = Kind::kPlace,
                     .bytes = {part.begin(), part.end()},
                     .offset = offset + piece.begin,
                     .list = {list.begin(), list.end()}});
  }
  return IBV_WC_SUCCESS;
}

void DelayedEffects::report_later(const ibv_wc& completion, const FreedPlaces& frees) {
  add(returning_,
      {.due = latest_returned_, .kind = Kind::kComplete, .completion = completion, .frees = frees});
}

void DelayedEffects::settle_returned() {
  apply_all(returning_);
  latest_returned_ = earlier_returned_ = {};
  restart_timer();
}

// --- of both ------------------------------------------------------------------------------------

void DelayedEffects::settle() {
  apply_all(serving_);
  settle_arrived();
  settle_returned();
}

void DelayedEffects::discard() {
  settle_arrived();
  drop();
}

void DelayedEffects::drop() {
  if (core_.in_atomic == this) core_.in_atomic = nullptr;
  arrived_.clear();
  serving_.clear();
  returning_.clear();
  awaited_.clear();
  latest_arrived_ = earlier_arrived_ = atomic_ = latest_returned_ = earlier_returned_ = {};
  fetching_ = false;
  core_.timers.cancel(timer_);
  core_.timers.cancel(fetch_timer_);
}

void settle_effects(Core& core) {
  for (DelayedEffects* each : core.delayed) {
    each->settle();
    each->owner().go_on();
  }
}

void drop_effects(Core& core) {
  for (DelayedEffects* each : core.delayed) each->drop();
}

void blur(Core& core, const ibv_pd* pd, std::span<const ibv_sge> list) {
  if (core.memory_chooser == nullptr || list.empty() || core.memory_chooser->choose(2) == 0) return;
  static constexpr auto kBytes = [] {
    std::array<std::uint8_t, 4096> bytes{};
    bytes.fill(kPattern);
    return bytes;
  }();
  std::uint64_t length = 0;
  for (const ibv_sge& piece : list) length += piece.length;
  length = std::min<std::uint64_t>(length, kPatternMax);
  for (std::uint64_t offset = 0; offset < length; offset += kBytes.size()) {
    const auto part = std::min<std::uint64_t>(kBytes.size(), length - offset);
    const auto bytes = std::span(kBytes).first(part);
    if (scatter(core.memory, pd, list, offset, bytes) != IBV_WC_SUCCESS) return;
  }
}

}  // namespace anyrdma::verbs::soft
