// The time stamp counter, which programs read without a system call. Where the processor can trap
// it, launch() enables that; otherwise the supervisor must find and replace the instructions.
// Source: prctl(2), PR_SET_TSC.
#pragma once

namespace anyrdma::sim::tracee {

/// Whether prctl(2) can make the RDTSC instruction trap on this machine. Tested once per process.
/// False in virtual machines where prctl(2) succeeds without effect (guests of PVM, whose kernel's
/// CR4.TSD is ignored).
[[nodiscard]] bool time_stamps_can_be_forbidden();

}  // namespace anyrdma::sim::tracee
