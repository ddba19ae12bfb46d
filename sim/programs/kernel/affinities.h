// On which processors threads may run, as programs have set it. Source: sched_setaffinity(2).
#pragma once

#include <map>
#include <string_view>

#include "sim/host_description.h"
#include "sim/programs/kernel/told_process.h"
#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// The processors of each thread of a world. They have no effect on the schedule: for programs, a
/// thread is always on the first of its processors. Used by the thread that runs the world.
class Affinities {
 public:
  [[nodiscard]] Outcome on_sched_getaffinity(Thread& thread, const Call& call) const;
  [[nodiscard]] Outcome on_sched_setaffinity(Thread& thread, const Call& call);

  /// Returns the processors of a thread: all of its host, unless a program has set others.
  [[nodiscard]] ProcessorSet of(const Thread& thread) const;
  /// Returns the processor that a thread is on, as in getcpu(2).
  [[nodiscard]] unsigned place_of(const Thread& thread) const;
  /// A new thread has those of the thread that made it.
  void inherit(const Thread& maker, const Thread& made);

 private:
  std::map<const Thread*, ProcessorSet> set_;
};

/// Sets the processors in `told` to what `reader` sees of the thread that the file at `path` below
/// /proc is about.
void tell_processors(const Thread& reader, std::string_view path, ToldProcess& told);

}  // namespace anyrdma::sim::programs
