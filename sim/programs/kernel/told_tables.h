// The text of tables of the kernel below /proc, as programs read it. Source: proc(5).
#pragma once

#include <string>
#include <string_view>

#include "sim/programs/kernel/told_text.h"

/// Each returns what programs read in a file instead of `text`.
namespace anyrdma::sim::programs::told_text {

/// Of a table of System V objects, of which IPC_STAT says when they were used (object_times.h).
[[nodiscard]] std::string objects_of(std::string_view text, const Context& context);
/// Of a table of sockets: those of programs are the simulator's (sim/programs/net/sockets.h), which
/// knows no such table.
[[nodiscard]] std::string first_line_of(std::string_view text, const Context& context);
/// Of a file that the kernel reads from a table whose order differs from boot to boot.
[[nodiscard]] std::string sorted_lines_of(std::string_view text, const Context& context);
/// Of words and numbers: `TCP: inuse 5 orphan 0`.
[[nodiscard]] std::string counts_of(std::string_view text, const Context& context);
/// Of lines such as `Ip6InReceives                     17`.
[[nodiscard]] std::string counters_of(std::string_view text, const Context& context);

}  // namespace anyrdma::sim::programs::told_text
