// The registered regions of programs that run as fibers of this process, and the calls by which
// these programs unmap or replace the pages. The library defines munmap(), mmap(), mremap(),
// madvise(), shmdt() and shmat() for the program that it is linked with. Each makes the call, and
// notes what the call has done to a region.
#pragma once

#include <cstdint>

#include "verbs/lost_memory.h"
#include "verbs/soft/ownership/finding.h"

namespace anyrdma::sim {

/// See OwnershipSink::watch_memory. `sink` tells the time and the fiber of a call. Calls of other
/// threads than the one that calls watch_own_memory() are not noted. Does nothing in a build with
/// AddressSanitizer or ThreadSanitizer, which define these functions themselves.
void watch_own_memory(verbs::LostMemory& lost, std::uint64_t begin, std::uint64_t end,
                      verbs::soft::OwnershipSink& sink);
/// `lost` may be unknown.
void forget_own_memory(verbs::LostMemory& lost);

}  // namespace anyrdma::sim
