#include "sim/explain/witness.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/faults.h"
#include "sim/programs/process/process.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/stacks/unwinder.h"
#include "sim/world.h"

namespace anyrdma::sim::explain {
namespace {

/// Objects whose code is not the program's own, whatever debug information they have.
constexpr std::array<std::string_view, 6> kLibraries = {"libanyrdma", "libibverbs", "librdmacm",
                                                        "libc.so",    "libstdc++",  "libpthread"};
constexpr std::string_view kInline = " verbs.h:";

/// "wait_for+0x11 (rping) rping.c:81": the name of the function.
std::string_view function_of(std::string_view frame) {
  return frame.substr(0, frame.find("+0x"));
}

/// The same without the namespaces of our libraries: "poll_cq".
std::string called(std::string_view frame) {
  std::string_view name = function_of(frame);
  if (const std::size_t scope = name.rfind("::"); scope != std::string_view::npos)
    name.remove_prefix(scope + 2);
  constexpr std::string_view kObserved = "observed_";
  if (name.starts_with(kObserved)) name.remove_prefix(kObserved.size());
  return std::string(name);
}

/// "(rping) rping.c:81", or without the source line; empty: unknown.
std::string_view object_of(std::string_view frame) {
  const std::size_t object = frame.rfind(" (");
  return object == std::string_view::npos ? std::string_view() : frame.substr(object + 1);
}

/// Code of the program, or of a library that comes with it: it has a source line.
bool is_own(std::string_view frame) {
  const std::string_view object = object_of(frame);
  const std::size_t end = object.find(')');
  if (end >= object.size() || end + 1 == object.size()) return false;
  return std::ranges::none_of(
      kLibraries, [&](std::string_view each) { return object.substr(1).starts_with(each); });
}

/// Code of the executable file, which may have no source lines.
bool is_executable(std::string_view frame) {
  const std::string_view object = object_of(frame);
  const std::size_t end = object.find(')');
  return end < object.size() && object.substr(0, end).find(".so") == std::string_view::npos;
}

Sight sight_of(programs::Thread& thread, const stacks::Unwinder& unwinder) {
  Sight sight{.name = thread.name(), .stack = unwinder.frames(thread.tid())};
  summarize(sight);
  return sight;
}

/// The thread whose fiber has this number; null: it is no thread of a program, or has ended.
programs::Thread* thread_of(const programs::Sandbox& sandbox, const Fiber& fiber) {
  for (const auto& process : sandbox.processes()) {
    if (process->status) continue;
    const auto at = std::ranges::find(process->fibers, fiber.number());
    if (at == process->fibers.end()) continue;
    const auto& thread = process->threads[static_cast<std::size_t>(at - process->fibers.begin())];
    return thread->is_over() ? nullptr : thread.get();
  }
  return nullptr;
}

Sight sight_of(const Candidate& candidate, const programs::Sandbox& sandbox) {
  if (candidate.fiber == nullptr) return {.name = candidate.task->what()};
  programs::Thread* const thread = thread_of(sandbox, *candidate.fiber);
  if (thread == nullptr) return {.name = candidate.fiber->name()};
  return sight_of(*thread, stacks::Unwinder(thread->process().pid));
}

}  // namespace

void summarize(Sight& sight) {
  auto own = std::ranges::find_if(sight.stack, is_own);
  if (own == sight.stack.end()) own = std::ranges::find_if(sight.stack, is_executable);
  if (own == sight.stack.end()) return;
  if (own != sight.stack.begin()) sight.call = called(*std::prev(own));
  // Inline functions of libibverbs have no frames: "poll_once+0x12 (rping) verbs.h:2888".
  if (own->find(kInline) != std::string::npos) {
    sight.call = "ibv_" + sight.call;
    if (const auto outer = std::next(own); outer != sight.stack.end() && is_own(*outer))
      own = outer;
  }
  sight.place = *own;
}

void Witness::begin(const World&, const programs::Sandbox& sandbox) {
  sandbox_ = &sandbox;
}

void Witness::on_step(std::uint64_t number, const SchedulingStep& step, std::size_t choice) {
  if (sandbox_ == nullptr || number < step_) return;
  for (std::size_t i = 0; i < 2; ++i) {
    if (number != step_ && (!ran_[i] || seen_[i])) continue;
    // After its step a thread may wait, and is no candidate.
    const auto found = std::ranges::find_if(
        step.candidates, [&](const Candidate& each) { return each.number() == movers_[i]; });
    if (number == step_) {
      if (found != step.candidates.end()) before_[i] = sight_of(*found, *sandbox_);
      continue;
    }
    seen_[i] = true;
    if (before_[i].stack.empty()) continue;
    for (const auto& process : sandbox_->processes()) {
      if (process->status) continue;
      for (const auto& thread : process->threads) {
        if (thread->is_over() || thread->name() != before_[i].name) continue;
        after_[i] = sight_of(*thread, stacks::Unwinder(process->pid));
      }
    }
  }
  for (std::size_t i = 0; i < 2; ++i) ran_[i] |= step.candidates[choice].number() == movers_[i];
}

void FaultWitness::begin(const World& world, const programs::Sandbox& sandbox) {
  world_ = &world;
  sandbox_ = &sandbox;
}

void FaultWitness::on_step(std::uint64_t, const SchedulingStep& step, std::size_t) {
  if (world_ == nullptr) return;
  const std::vector<FaultStatus> all = world_->faults().status();
  happened_.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (happened_[i] || all[i].fired == 0) continue;
    happened_[i] = true;
    Moment moment{.fault = i, .time = step.now.time_since_epoch(), .point = step.point};
    for (const auto& process : sandbox_->processes()) {
      if (process->status) continue;
      const stacks::Unwinder unwinder(process->pid);
      for (const auto& thread : process->threads) {
        if (thread->is_over()) continue;
        if (Sight sight = sight_of(*thread, unwinder); !sight.place.empty())
          moment.threads.push_back(std::move(sight));
      }
    }
    moments_.push_back(std::move(moment));
  }
}

}  // namespace anyrdma::sim::explain
