// The results of instructions that differ between runs or machines. The supervisor decides them
// when a thread has stopped at such an instruction. The functions change the registers as the
// instruction does, and set the instruction pointer behind it.
#pragma once

#include <sys/user.h>

#include <cstdint>
#include <optional>

#include "sim/instructions/sites.h"
#include "sim/tracee/tracee.h"
#include "verbs/time.h"

namespace anyrdma::sim::programs {

/// Returns the instruction at an address where a thread got SIGSEGV, if it is RDTSC or RDTSCP,
/// which programs may not execute. nullopt: it is another one.
[[nodiscard]] std::optional<instructions::Site> time_stamp_at(const tracee::Tracee& thread,
                                                              std::uint64_t address);

/// The processor that executes the instruction.
struct Executing {
  unsigned number = 0;   ///< as in getcpu(2)
  unsigned of_host = 1;  ///< how many processors its host has
};

/// RDTSC and RDTSCP, which also reads the number of the processor. `up`: virtual time since the
/// beginning of the world. The counter has a step of 1 ns.
void read_time_stamp(user_regs_struct& registers, const instructions::Site& site,
                     verbs::Duration up, const Executing& processor);
/// RDRAND and RDSEED, which read `chance`. They always succeed.
void draw(user_regs_struct& registers, const instructions::Site& site, std::uint64_t chance);
/// RDPID.
void tell_processor(user_regs_struct& registers, const instructions::Site& site,
                    const Executing& processor);
/// CPUID: as the machine's processors answer, in a package of Executing::of_host cores with one
/// thread each. Source: Intel 64 Software Developer's Manual, volume 2, CPUID; AMD64 Architecture
/// Programmer's Manual, volume 3, appendix E.
void tell_identity(user_regs_struct& registers, const instructions::Site& site,
                   const Executing& processor);

}  // namespace anyrdma::sim::programs
