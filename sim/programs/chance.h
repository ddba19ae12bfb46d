// Chance that a program asks the system for comes from the world's seed.
#pragma once

#include <optional>

#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

[[nodiscard]] Outcome on_getrandom(Thread& thread, const Call& call);

/// A read or readv of what gives chance: /dev/random, /dev/urandom (random(4)), and
/// /proc/sys/kernel/random/uuid (proc_sys_kernel(5)). nullopt: `descriptor` is of something else.
[[nodiscard]] std::optional<Outcome> read_chance(Thread& thread, const Call& call,
                                                 const Descriptor& descriptor);

}  // namespace anyrdma::sim::programs
