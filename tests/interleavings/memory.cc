#include "tests/interleavings/memory.h"

#include <algorithm>
#include <utility>

namespace anyrdma::interleavings {
namespace {

constexpr std::uint64_t kCell = 4;  // bytes; smaller neighbours are taken for one

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool sequential(std::memory_order order) {
  return order == std::memory_order_seq_cst;
}

}  // namespace

// --- knowledge ----------------------------------------------------------------------------------

void Knowledge::join(const Knowledge& other) {
  for (std::size_t i = 0; i < kThreadsMax; ++i)
    moments_[i] = std::max(moments_[i], other.moments_[i]);
  raise_all(other);
}

void Knowledge::raise_all(const Knowledge& other) {
  for (std::size_t i = 0; i < other.floors_.size(); ++i)
    if (other.floors_[i] != nullptr) raise(i, other.floors_[i]);
}

void Knowledge::raise(std::size_t location, Store* to) {
  if (location >= floors_.size()) floors_.resize(location + 1);
  Store*& floor = floors_[location];
  if (floor == nullptr || floor->position < to->position) floor = to;
}

// --- atomic accesses ----------------------------------------------------------------------------

Memory::Location& Memory::location(const Place& place) {
  const auto found = locations_.find(place.at);
  if (found != locations_.end() && found->second.size == place.size) return found->second;
  forget(place.at, place.size);
  Location& made = locations_[place.at];
  made.number = numbers_++;
  made.size = place.size;
  made.stores.push_back(std::make_unique<Store>());
  made.stores.back()->value = place.now;
  return made;
}

/// The oldest store that may be read.
std::size_t Memory::oldest(const Location& location, std::size_t thread,
                           std::memory_order order) const {
  std::size_t result = 0;
  if (const Store* floor = threads_[thread].known.floor(location.number)) result = floor->position;
  if (!sequential(order)) return result;
  if (const Store* floor = sequential_.floor(location.number))
    result = std::max(result, floor->position);
  return result;
}

void Memory::see(Location& location, std::size_t thread, Store& store, std::memory_order order) {
  Thread& reader = threads_[thread];
  reader.known.raise(location.number, &store);
  if (sequential(order)) sequential_.raise(location.number, &store);
  reader.read.join(store.told);
  if (acquires(order)) reader.known.join(store.told);
}

Memory::Read Memory::load(const Place& place, std::memory_order order) {
  Location& from = location(place);
  note(place, true, false);
  const std::size_t first = oldest(from, place.thread, order);
  const std::size_t age = choose_(from.stores.size() - first);
  Store& read = *from.stores[from.stores.size() - 1 - age];
  see(from, place.thread, read, order);
  return {read.value, age};
}

/// Puts a store at a position of the modification order.
void Memory::put(Location& location, std::size_t thread, std::size_t position, std::uint64_t value,
                 std::memory_order order, const Store* continues) {
  auto made = std::make_unique<Store>();
  Store& store = *made;
  store.value = value;
  location.stores.insert(location.stores.begin() + static_cast<std::ptrdiff_t>(position),
                         std::move(made));
  for (std::size_t i = position; i < location.stores.size(); ++i) location.stores[i]->position = i;
  Thread& writer = threads_[thread];
  writer.known.raise(location.number, &store);
  if (sequential(order)) sequential_.raise(location.number, &store);
  store.told = releases(order) ? writer.known : writer.fenced;
  store.told.raise(location.number, &store);
  if (continues != nullptr) store.told.join(continues->told);
}

void Memory::store(const Place& place, std::uint64_t value, std::memory_order order) {
  Location& to = location(place);
  note(place, false, true);
  std::vector<std::size_t> positions;  // behind which store, the last one first
  for (std::size_t i = to.stores.size(); i-- > oldest(to, place.thread, order);)
    if (!to.stores[i]->continued) positions.push_back(i + 1);
  put(to, place.thread, positions[choose_(positions.size())], value, order, nullptr);
}

Memory::Read Memory::modify(const Place& place, const Change& change, std::memory_order order,
                            std::memory_order otherwise) {
  Location& at = location(place);
  note(place, true, true);
  std::vector<Store*> candidates;
  for (std::size_t i = at.stores.size(); i-- > oldest(at, place.thread, order);) {
    std::uint64_t value = at.stores[i]->value;
    if (!change(value) || !at.stores[i]->continued) candidates.push_back(at.stores[i].get());
  }
  Store& read = *candidates[choose_(candidates.size())];
  const Read result{read.value, at.stores.size() - 1 - read.position};
  std::uint64_t value = read.value;
  const bool changed = change(value);
  see(at, place.thread, read, changed ? order : otherwise);
  if (!changed) return result;
  read.continued = true;
  put(at, place.thread, read.position + 1, value, order, &read);
  return result;
}

void Memory::fence(std::size_t thread, std::memory_order order) {
  Thread& here = threads_[thread];
  if (acquires(order)) here.known.join(here.read);
  if (sequential(order)) {
    here.known.raise_all(sequential_);  // which is no reason for a plain access to be safe
    sequential_.raise_all(here.known);
  }
  if (releases(order)) here.fenced = here.known;
}

std::uint64_t Memory::last(std::uint64_t at) const {
  return locations_.at(at).stores.back()->value;
}

// --- other accesses, and races with them --------------------------------------------------------

Memory::Use& Memory::use_of(std::uint64_t cell) {
  auto& page = uses_[cell / kUsesPerPage];
  if (!page) page = std::make_unique<std::array<Use, kUsesPerPage>>();
  return (*page)[cell % kUsesPerPage];
}

void Memory::note(const Place& place, bool reads, bool writes) {
  Thread& here = threads_[place.thread];
  const std::uint32_t moment = here.known.advance(place.thread);
  for (std::uint64_t cell = place.at / kCell; cell * kCell < place.at + place.size; ++cell) {
    Use& use = use_of(cell);
    for (std::size_t other = 0; other < kThreadsMax; ++other) {
      const bool races = !here.known.includes(other, use.writes[other]) ||
                         (writes && !here.known.includes(other, use.reads[other]));
      if (races) race_ = "an atomic access and one that is not";
    }
    if (reads) use.atomic_reads[place.thread] = moment;
    if (writes) use.atomic_writes[place.thread] = moment;
  }
}

std::string Memory::plain(std::size_t thread, std::uint64_t at, std::size_t size, bool writes) {
  std::size_t other_writer = kThreadsMax;
  std::size_t other_reader = kThreadsMax;
  Thread& here = threads_[thread];
  const std::uint32_t moment = here.known.advance(thread);
  for (std::uint64_t cell = at / kCell; cell * kCell < at + size; ++cell) {
    Use& use = use_of(cell);
    for (std::size_t other = 0; other < kThreadsMax; ++other) {
      const auto unknown = [&](std::uint32_t then) { return !here.known.includes(other, then); };
      if (unknown(use.writes[other]) || unknown(use.atomic_writes[other])) other_writer = other;
      if (writes && (unknown(use.reads[other]) || unknown(use.atomic_reads[other])))
        other_reader = other;
    }
    (writes ? use.writes : use.reads)[thread] = moment;
  }
  if (writes) forget(at, size);
  if (other_writer != kThreadsMax)
    return "nothing orders it behind a write of thread " + std::to_string(other_writer);
  if (other_reader != kThreadsMax)
    return "nothing orders it behind a read of thread " + std::to_string(other_reader);
  return {};
}

/// What is stored there atomically from now on has no past. Whoever still could have read it is
/// found as a race.
void Memory::forget(std::uint64_t at, std::size_t size) {
  constexpr std::uint64_t kLongest = 8;
  auto each = locations_.lower_bound(at - kLongest);
  while (each != locations_.end() && each->first < at + size) {
    if (at < each->first + each->second.size) {
      former_.push_back(std::move(each->second));
      each = locations_.erase(each);
    } else {
      ++each;
    }
  }
}

// --- other ways ---------------------------------------------------------------------------------

Knowledge Memory::tell(std::size_t thread) {
  threads_[thread].known.advance(thread);
  return threads_[thread].known;
}

void Memory::hear(std::size_t thread, const Knowledge& told) {
  threads_[thread].known.join(told);
}

}  // namespace anyrdma::interleavings
