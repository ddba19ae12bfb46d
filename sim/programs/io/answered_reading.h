// Answers read(2), readv(2), pread(2) and preadv2(2) with bytes of the simulator's.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Returns the memory of the program that the call fills. nullopt: the addresses cannot be read.
[[nodiscard]] std::optional<std::vector<iovec>> places_of(Thread& thread, const Call& call);
/// Writes as many of `bytes` as there is room for. Returns the answer of the call: how many those
/// are, or EFAULT.
[[nodiscard]] Outcome give(Thread& thread, std::span<const iovec> places,
                           std::span<const std::byte> bytes);

/// Answers a call that reads a file below /proc whose text is changed (told_files.h). nullopt:
/// `descriptor` is another file.
[[nodiscard]] std::optional<Outcome> read_told(Thread& thread, const Call& call,
                                               const Descriptor& descriptor);
/// pread(2) of the beginning of a file. Files of other kinds are read by the kernel.
[[nodiscard]] Outcome on_pread(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
