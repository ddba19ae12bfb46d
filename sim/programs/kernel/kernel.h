// The state of the hosts' kernels that programs see, as far as the supervisor has it.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "sim/programs/kernel/affinities.h"
#include "sim/programs/kernel/directory_names.h"
#include "sim/programs/kernel/file_states.h"
#include "sim/programs/kernel/futexes.h"
#include "sim/programs/kernel/huge_pages.h"
#include "sim/programs/kernel/lock_words.h"
#include "sim/programs/kernel/machine_facts.h"
#include "sim/programs/kernel/numbers.h"
#include "sim/programs/kernel/object_times.h"
#include "sim/programs/kernel/terminals.h"
#include "sim/programs/kernel/timers.h"

namespace anyrdma::sim::programs {

struct Kernel {
  Kernel(Supervisor& supervisor, HugePages::Options pages,
         std::function<void(std::string_view)> on_fact)
      : facts(std::move(on_fact)), huge_pages(supervisor, std::move(pages)), timers(supervisor) {}

  FactsAsked facts;
  Numbers numbers;
  FileStates files;
  DirectoryNames directory_names;
  ObjectTimes object_times;
  HugePages huge_pages;
  Futexes futexes;
  LockWords lock_words;
  Timers timers;
  Affinities affinities;
  Terminals terminals;
  /// Whether a program has created a descriptor by signalfd(2). From then on, each descriptor is
  /// checked for being one.
  bool has_signal_descriptors = false;
};

}  // namespace anyrdma::sim::programs
