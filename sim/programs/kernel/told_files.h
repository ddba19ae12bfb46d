// Changes the text of files below /proc that also report facts about the machine. Source: proc(5).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "sim/programs/kernel/numbers.h"
#include "sim/programs/kernel/told_process.h"

namespace anyrdma::sim::programs {

/// Whether told() changes the text of a file with this path below /proc.
[[nodiscard]] bool is_told(std::string_view path);

/// Returns what programs read in the file at `path` below /proc instead of `text`, what the machine
/// says: without times of processors, counters, lines that Linux 6.1 does not have, and numbers
/// that differ from run to run. `text` as it is if is_told() is false. `process`: which the file is
/// about.
[[nodiscard]] std::string told(std::string_view path, std::string text, Numbers& numbers,
                               const ToldProcess& process = {});

/// Returns the number of the thread that a file `stat` or `status` below /proc is about. nullopt:
/// it is another file.
[[nodiscard]] std::optional<pid_t> thread_of(std::string_view path);

/// Returns the target of a link below /proc/PID/ns or /proc/PID/fd, such as `pid:[4026532000]` or
/// `socket:[1001]`, as programs see it. nullopt: the target has no number.
[[nodiscard]] std::optional<std::string> told_link(std::string_view target, Numbers& numbers);

}  // namespace anyrdma::sim::programs
