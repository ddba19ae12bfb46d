// The text of the files of a process below /proc, as programs read it. Source: proc(5).
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/host_description.h"
#include "sim/programs/kernel/told_text.h"

namespace anyrdma::sim::programs {

/// Facts about the process that a file is about, for told().
struct ToldProcess {
  bool running = false;  ///< it is the process that reads
  int nice = 0;          ///< the nice value of the command, which programs see as 0
  /// By how many bytes the stack, or the stack and the pages of the kernel's own, are larger than
  /// those of a program without environment on Linux 6.1.
  std::int64_t stack_surplus = 0;
  std::int64_t surplus = 0;
  std::string root{};  ///< its root directory as the supervisor sees it; empty: the same one
  rlimit processes{};  ///< RLIMIT_NPROC ...
  rlimit signals{};    ///< ... RLIMIT_SIGPENDING ...
  rlimit queues{};     ///< ... and RLIMIT_MSGQUEUE as the process sees them
  /// The affinity of its thread, and how many processors its host has.
  ProcessorSet processors = first_processors(HostDescription{}.processors);
  unsigned of_host = HostDescription{}.processors;
};

/// Returns by how much the mappings in `maps`, the text of /proc/PID/maps, are larger than usual:
/// ToldProcess::stack_surplus and ToldProcess::surplus.
void measure_surplus(std::string_view maps, ToldProcess& process);

/// Each returns what programs read in the file of this name instead of `text`. The sources are
/// those of told().
namespace told_text {

[[nodiscard]] std::string stat_of(std::string_view text, const Context& context);
[[nodiscard]] std::string status_of(std::string_view text, const Context& context);
[[nodiscard]] std::string statm_of(std::string_view text, const Context& context);
/// Of io.
[[nodiscard]] std::string zeros_of(std::string_view text, const Context& context);
[[nodiscard]] std::string maps_of(std::string_view text, const Context& context);
/// Of smaps_rollup, too.
[[nodiscard]] std::string smaps_of(std::string_view text, const Context& context);
[[nodiscard]] std::string mountinfo_of(std::string_view text, const Context& context);
/// Of each file in fdinfo.
[[nodiscard]] std::string descriptor_of(std::string_view text, const Context& context);
[[nodiscard]] std::string limits_of(std::string_view text, const Context& context);
/// Of auxv.
[[nodiscard]] std::string vector_of(std::string_view text, const Context& context);

}  // namespace told_text

}  // namespace anyrdma::sim::programs
