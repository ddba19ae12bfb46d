// The time stamp counter, which programs read without a system call: where the processor can be
// told to stop who reads it, launch() does so; where not, whoever runs programs has to find and
// replace the instructions. Source: prctl(2), PR_SET_TSC.
#pragma once

namespace anyrdma::sim::tracee {

/// Tried once. False in virtual machines that let prctl(2) succeed and the processor go on (guests
/// of PVM are such: their kernel's CR4.TSD is nobody's).
[[nodiscard]] bool time_stamps_can_be_forbidden();

}  // namespace anyrdma::sim::tracee
