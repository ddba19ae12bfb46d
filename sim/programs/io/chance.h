// Answers programs that read the system's random numbers with numbers from the world's seed.
#pragma once

#include <optional>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

[[nodiscard]] Outcome on_getrandom(Thread& thread, const Call& call);

/// Whether it is /dev/random or /dev/urandom (random(4)).
[[nodiscard]] bool is_random_device(const Descriptor& descriptor);

/// Answers read(2), readv(2) or pread(2) of a source of random numbers: /dev/random, /dev/urandom
/// (random(4)), and /proc/sys/kernel/random/uuid (proc_sys_kernel(5)). nullopt: `descriptor` is
/// another file.
[[nodiscard]] std::optional<Outcome> read_chance(Thread& thread, const Call& call,
                                                 const Descriptor& descriptor);

}  // namespace anyrdma::sim::programs
