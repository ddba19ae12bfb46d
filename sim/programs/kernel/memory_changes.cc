#include "sim/programs/kernel/memory_changes.h"

#include <sys/mman.h>
#include <sys/shm.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <optional>

#include "sim/programs/kernel/clocks.h"
#include "sim/programs/kernel/huge_pages.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/kernel/object_times.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

using verbs::LostMemory;
using verbs::MemoryCall;

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

/// What is at an address, if a region may be concerned.
std::vector<Mapping> mappings_at(const Thread& thread, Span span) {
  const Process& process = thread.process();
  if (!process.regions.touches(span.begin, span.end)) return {};
  return mappings_of(process.pid, span.begin, span.end);
}

RegionWatch::OnChange writing_to(const Thread& thread) {
  // The const of a thread says nothing about the memory of its process.
  auto& tracee = const_cast<Thread&>(thread).tracee();
  return [&tracee](std::uint64_t id, const LostMemory& lost) { (void)tracee.poke(id, lost); };
}

void lose(Thread& thread, MemoryCall call, Span span, const std::vector<Mapping>& before) {
  if (before.empty()) return;
  const auto shown = reading_of(thread, CLOCK_MONOTONIC);
  const LostMemory::Part part{.begin = span.begin,
                              .end = span.end,
                              .call = call,
                              .mark = {.when = verbs::Instant(shown.value_or(Duration{})),
                                       .who = static_cast<std::uint64_t>(thread.number())}};
  thread.process().regions.lose(part, before, writing_to(thread));
}

void regain(Thread& thread, std::uint64_t begin, std::uint64_t end) {
  Process& process = thread.process();
  if (!process.regions.may_regain()) return;
  process.regions.regain(mappings_of(process.pid, begin, end), writing_to(thread));
}

bool is_address(const std::optional<long>& result) {
  constexpr long kLastError = -4095;
  return result && (*result >= 0 || *result < kLastError);
}

/// What shmat(2) has mapped at an address: mappings of one object, side by side.
Span object_at(const Thread& thread, std::uint64_t address) {
  Span span{address, address};
  std::string file;
  for (const Mapping& each : mappings_of(thread.process().pid, address, kAll)) {
    if (each.begin != span.end || each.file.empty()) break;
    if (!file.empty() && each.file != file) break;
    file = each.file;
    span.end = each.end;
  }
  return span;
}

}  // namespace

Outcome on_watched_region(Thread& thread, const Call& call) {
  RegionWatch& regions = thread.process().regions;
  const auto& [id, begin, end, some_pass, unused, last] = call.arguments;
  if (some_pass != 0)
    thread.supervisor().remark(thread.process().name +
                               " has threads with a seccomp filter of their own: the checker "
                               "region misses memory that they map anew");
  if (begin < end) {
    regions.watch(id, begin, end);
  } else {
    regions.forget(id);
  }
  return Outcome::answered(0);
}

Outcome on_munmap(Thread& thread, const Call& call) {
  const Span span = pages_at(call.arguments[0], call.arguments[1]);
  const auto before = mappings_at(thread, span);
  if (!before.empty() && thread.finish_call() == 0) lose(thread, MemoryCall::kMunmap, span, before);
  return Outcome::made();
}

Outcome on_mremap(Thread& thread, const Call& call) {
  if (thread.process().regions.empty()) return Outcome::made();
  const auto& [old, old_bytes, bytes, flags, fixed, unused] = call.arguments;
  const Span from = pages_at(old, old_bytes);
  const bool replaces = (flags & MREMAP_FIXED) != 0;
  const Span to = replaces ? pages_at(fixed, bytes) : Span{};
  const auto before = mappings_at(thread, from);
  const auto replaced = mappings_at(thread, to);
  const auto result = thread.finish_call();
  if (!is_address(result)) return Outcome::made();
  const auto at = static_cast<std::uint64_t>(*result);
  lose(thread, MemoryCall::kMremap, to, replaced);
  Span gone = from;
  if (at == old) gone.begin = std::min(pages_at(old, bytes).end, from.end);
  if (old_bytes != 0) lose(thread, MemoryCall::kMremap, gone, before);
  regain(thread, at, at + bytes);
  return Outcome::made();
}

Outcome on_madvise(Thread& thread, const Call& call) {
  const Span span = pages_at(call.arguments[0], call.arguments[1]);
  auto before = mappings_at(thread, span);
  // Pages of a file or a shared object are the same when they are accessed next.
  const bool removes = call.arguments[2] == MADV_REMOVE;
  if (removes) {
    for (Mapping& each : before) each.file.clear();
  } else {
    std::erase_if(before, [](const Mapping& each) { return !each.file.empty(); });
  }
  if (!before.empty() && thread.finish_call() == 0)
    lose(thread, MemoryCall::kMadvise, span, before);
  return Outcome::made();
}

Outcome on_brk(Thread& thread, const Call& call) {
  const Process& process = thread.process();
  if (process.regions.empty() || call.arguments[0] == 0) return Outcome::made();
  const std::uint64_t begin = pages_at(call.arguments[0], 0).end;
  if (!process.regions.touches(begin, kAll)) return Outcome::made();
  auto before = mappings_of(process.pid, begin, kAll);
  std::erase_if(before, [](const Mapping& each) { return !each.is_heap; });
  if (before.empty()) return Outcome::made();
  const Span span{begin, before.back().end};
  if (thread.finish_call() == static_cast<long>(call.arguments[0]))
    lose(thread, MemoryCall::kBrk, span, before);
  return Outcome::made();
}

Outcome on_shmdt(Thread& thread, const Call& call) {
  if (thread.process().regions.empty()) return Outcome::made();
  const Span span = object_at(thread, call.arguments[0]);
  const auto before = mappings_at(thread, span);
  if (!before.empty() && thread.finish_call() == 0) lose(thread, MemoryCall::kShmdt, span, before);
  return Outcome::made();
}

Outcome on_shmat(Thread& thread, const Call& call) {
  note_use(thread, call);
  Process& process = thread.process();
  HugePages& huge = thread.supervisor().kernel().huge_pages;
  const bool replaces = (call.arguments[2] & SHM_REMAP) != 0;
  if (process.regions.empty() || (!replaces && !process.regions.may_regain()))
    return huge.on_shmat(thread, call);
  process.writes_shared = true;
  const auto everything =
      replaces ? mappings_of(process.pid, call.arguments[1], kAll) : std::vector<Mapping>{};
  const auto result = thread.finish_call();
  if (!is_address(result)) return Outcome::made();
  const Span span = object_at(thread, static_cast<std::uint64_t>(*result));
  lose(thread, MemoryCall::kShmat, span, everything);
  regain(thread, span.begin, span.end);
  return Outcome::made();
}

bool concerns_regions(const Thread& thread, const Call& mmap) {
  const RegionWatch& regions = thread.process().regions;
  if (regions.empty()) return false;
  const std::uint64_t flags = mmap.arguments[3];
  const Span span = pages_at(mmap.arguments[0], mmap.arguments[1]);
  const bool replaces = (flags & MAP_FIXED) != 0 && regions.touches(span.begin, span.end);
  return replaces || ((flags & MAP_SHARED) != 0 && regions.may_regain());
}

Outcome map_over_regions(Thread& thread, const Call& mmap) {
  const Span span = pages_at(mmap.arguments[0], mmap.arguments[1]);
  const bool fixed = (mmap.arguments[3] & MAP_FIXED) != 0;
  const auto before = fixed ? mappings_at(thread, span) : std::vector<Mapping>{};
  const auto result = thread.finish_call();
  if (!is_address(result)) return Outcome::made();
  lose(thread, MemoryCall::kMmap, span, before);
  const auto at = static_cast<std::uint64_t>(*result);
  regain(thread, at, pages_at(at, mmap.arguments[1]).end);
  return Outcome::made();
}

}  // namespace anyrdma::sim::programs
