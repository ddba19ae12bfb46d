// Scheduling points that need no system call. The simulator tells each process how many scheduling
// points of the running thread would change nothing (sim/points/clock_page.h). The thread passes
// these without a stop.
#pragma once

extern "C" {
/// Returns whether the calling thread may pass the scheduling point at which it is. Defined by
/// sim/points, which only programs on simulated hosts load; else null. Any thread.
[[gnu::weak]] bool anyrdma_pass_point() noexcept;

/// Makes the next scheduling point a system call. Call it after an action that the simulator must
/// see before other threads run: a packet that was sent, or an entry of the recording. Defined as
/// anyrdma_pass_point() is. Any thread.
[[gnu::weak]] void anyrdma_end_passing() noexcept;
}
