// Descriptors of signalfd(2). For the kernel, such a descriptor is readable if the thread that
// polls it has a pending signal. The supervisor polls in place of the program's thread, so it
// checks that thread's signals itself. Source: signalfd(2), "epoll(7) semantics".
#pragma once

#include <cstdint>

#include "sim/programs/process/thread.h"
#include "sim/programs/process/watched.h"

namespace anyrdma::sim::programs {

/// Returns the descriptor in the form for Thread::wait_for(). `descriptor` may be an epoll
/// instance.
[[nodiscard]] Watched watch(const Thread& thread, Descriptor descriptor, short events);

/// Call before the kernel executes epoll_wait(2) or a similar call on the epoll instance `set`. The
/// supervisor's own polling of the instance removes ready signalfds from the kernel's ready list.
/// This function makes the thread add those with a pending signal of `signals` again
/// (EPOLL_CTL_MOD). Returns false if the thread has ended or has stopped for another reason.
[[nodiscard]] bool put_signals_back(Thread& thread, const Call& call, const Descriptor& set,
                                    std::uint64_t signals);

/// signalfd and signalfd4.
[[nodiscard]] Outcome on_signalfd(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
