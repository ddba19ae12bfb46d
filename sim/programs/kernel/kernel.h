// The state of the hosts' kernels that programs see, as far as the supervisor has it.
#pragma once

#include <utility>

#include "sim/programs/kernel/file_states.h"
#include "sim/programs/kernel/futexes.h"
#include "sim/programs/kernel/huge_pages.h"
#include "sim/programs/kernel/lock_words.h"
#include "sim/programs/kernel/numbers.h"
#include "sim/programs/kernel/timers.h"

namespace anyrdma::sim::programs {

struct Kernel {
  Kernel(Supervisor& supervisor, HugePages::Options pages)
      : huge_pages(supervisor, std::move(pages)), timers(supervisor) {}

  Numbers numbers;
  FileStates files;
  HugePages huge_pages;
  Futexes futexes;
  LockWords lock_words;
  Timers timers;
  /// Whether a program has created a descriptor by signalfd(2). From then on, each descriptor is
  /// checked for being one.
  bool has_signal_descriptors = false;
};

}  // namespace anyrdma::sim::programs
