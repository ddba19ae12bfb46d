#include "sim/programs/kernel/affinities.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/host.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/kernel/told_files.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

using Word = std::uint64_t;
constexpr std::size_t kWordBits = 64;

/// Of the mask that the kernel of the host has, which has as many bits as there are processors.
std::size_t words_on(const Host& host) {
  return (host.description().processors + kWordBits - 1) / kWordBits;
}

/// The thread that programs of the host know by that number; null: there is none.
Thread* find_thread_of_host(const Thread& of_host, pid_t number) {
  for (const auto& process : of_host.supervisor().processes()) {
    if (process->host != of_host.process().host || process->status) continue;
    if (Thread* const found = find_thread(*process, number)) return found;
  }
  return nullptr;
}

/// `number`: 0 for the caller.
Thread* asked_for(Thread& thread, std::uint64_t number) {
  const auto asked = static_cast<pid_t>(number);
  return asked == 0 || asked == thread.number() ? &thread : find_thread_of_host(thread, asked);
}

}  // namespace

Outcome Affinities::on_sched_getaffinity(Thread& thread, const Call& call) const {
  const Host& host = *thread.process().host;
  const auto bytes = static_cast<unsigned>(call.arguments[1]);
  if (std::uint64_t{bytes} * 8 < host.description().processors || bytes % sizeof(Word) != 0)
    return Outcome::answered(-EINVAL);
  const Thread* const asked = asked_for(thread, call.arguments[0]);
  if (asked == nullptr) return Outcome::answered(-ESRCH);
  const ProcessorSet set = of(*asked);
  std::vector<Word> words(std::min(words_on(host), bytes / sizeof(Word)));
  for (std::size_t i = 0; i < words.size() * kWordBits; ++i)
    if (set.test(i)) words[i / kWordBits] |= Word{1} << (i % kWordBits);
  const auto written = std::as_bytes(std::span(words));
  const bool done = thread.tracee().write(call.arguments[2], written);
  return Outcome::answered(done ? static_cast<long>(written.size()) : -EFAULT);
}

Outcome Affinities::on_sched_setaffinity(Thread& thread, const Call& call) {
  const Host& host = *thread.process().host;
  std::vector<std::uint8_t> mask(std::min<std::size_t>(static_cast<unsigned>(call.arguments[1]),
                                                       words_on(host) * sizeof(Word)));
  if (!mask.empty() &&
      !thread.tracee().read(call.arguments[2], std::as_writable_bytes(std::span(mask))))
    return Outcome::answered(-EFAULT);
  const Thread* const asked = asked_for(thread, call.arguments[0]);
  if (asked == nullptr) return Outcome::answered(-ESRCH);
  ProcessorSet set;
  for (std::size_t i = 0; i < mask.size() * 8; ++i) set.set(i, (mask[i / 8] >> (i % 8) & 1) != 0);
  set &= first_processors(host.description().processors);
  if (set.none()) return Outcome::answered(-EINVAL);
  set_[asked] = set;
  return Outcome::answered(0);
}

ProcessorSet Affinities::of(const Thread& thread) const {
  const auto found = set_.find(&thread);
  return found != set_.end() ? found->second
                             : first_processors(thread.process().host->description().processors);
}

unsigned Affinities::place_of(const Thread& thread) const {
  const auto found = set_.find(&thread);
  return found != set_.end() ? first_of(found->second) : 0;
}

void Affinities::inherit(const Thread& maker, const Thread& made) {
  if (const auto found = set_.find(&maker); found != set_.end()) set_[&made] = found->second;
}

void tell_processors(const Thread& reader, std::string_view path, ToldProcess& told) {
  told.of_host = reader.process().host->description().processors;
  told.processors = first_processors(told.of_host);
  const auto number = thread_of(path);
  const Thread* const about = number ? find_thread_of_host(reader, *number) : nullptr;
  if (about != nullptr) told.processors = reader.supervisor().kernel().affinities.of(*about);
}

}  // namespace anyrdma::sim::programs
