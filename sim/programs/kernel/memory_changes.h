// Calls by which a program unmaps or replaces memory. The supervisor notes which registered regions
// lose their pages, and writes that into the memory of the process, where its device reads it.
// Source: mmap(2), mremap(2), madvise(2), brk(2), shmop(2).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/programs/process/thread.h"
#include "sim/regions/region_watch.h"

namespace anyrdma::sim::programs {

[[nodiscard]] Outcome on_munmap(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_mremap(Thread& thread, const Call& call);
/// Only for advice after which the pages have other bytes.
[[nodiscard]] Outcome on_madvise(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_brk(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_shmdt(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_shmat(Thread& thread, const Call& call);
/// The device of a process registers memory: arguments are the address of its verbs::LostMemory,
/// the first address of the region and the one behind it, and whether some threads do not stop at
/// the calls above. Two equal addresses: it is deregistered.
[[nodiscard]] Outcome on_watched_region(Thread& thread, const Call& call);

/// Whether mmap(2) replaces pages of a region, or maps those again that a region has lost.
[[nodiscard]] bool concerns_regions(const Thread& thread, const Call& mmap);
/// Makes such a call.
[[nodiscard]] Outcome map_over_regions(Thread& thread, const Call& mmap);

}  // namespace anyrdma::sim::programs
