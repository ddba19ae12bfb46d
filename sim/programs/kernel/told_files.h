// Changes the text of files below /proc that also report facts about the machine. Source: proc(5).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/programs/kernel/numbers.h"

namespace anyrdma::sim::programs {

/// Whether told() changes the text of a file with this path below /proc.
[[nodiscard]] bool is_told(std::string_view path);

/// Whether the text of a file with this path below /proc differs between runs or machines also if
/// told() changes it: the machine's file systems.
[[nodiscard]] bool differs(std::string_view path);

/// Returns what programs read in the file at `path` below /proc instead of `text`, what the machine
/// says: without times of processors, counters, and numbers that differ from run to run. `text` as
/// it is if is_told() is false. `running`: the file is about the process that reads it.
[[nodiscard]] std::string told(std::string_view path, std::string text, Numbers& numbers,
                               bool running = false);

/// Returns the target of a link below /proc/PID/ns or /proc/PID/fd, such as `pid:[4026532000]` or
/// `socket:[1001]`, as programs see it. nullopt: the target has no number.
[[nodiscard]] std::optional<std::string> told_link(std::string_view target, Numbers& numbers);

}  // namespace anyrdma::sim::programs
