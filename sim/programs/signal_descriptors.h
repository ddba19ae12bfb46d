// Descriptors of signalfd(2). The kernel says whether one is readable by the signals of the thread
// that asks; the supervisor asks for the program's thread. Source: signalfd(2), "epoll(7)
// semantics".
#pragma once

#include <cstdint>

#include "sim/programs/thread.h"
#include "sim/programs/watched.h"

namespace anyrdma::sim::programs {

/// To be waited for by the thread. `descriptor` may be an epoll instance.
[[nodiscard]] Watched watch(const Thread& thread, Descriptor descriptor, short events);

/// Before the kernel makes a call of epoll_wait's kind on `set`. When the supervisor polls an epoll
/// instance, the kernel takes its signalfds off the list of ready descriptors; the thread puts
/// those of `signals` back that are pending (EPOLL_CTL_MOD). False: the thread has ended, or stops
/// elsewhere.
[[nodiscard]] bool put_signals_back(Thread& thread, const Call& call, const Descriptor& set,
                                    std::uint64_t signals);

/// signalfd and signalfd4.
[[nodiscard]] Outcome on_signalfd(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
