// A scenario of programs in a file that people write by hand.
#pragma once

#include <string>
#include <string_view>

#include "tools/program_scenario.h"
#include "verbs/why_not.h"

namespace anyrdma::tools {

/// One thing a line; a word that begins with `#` begins a comment.
///   host NAME ADDRESS...
///   on HOST COMMAND LINE
///   background HOST COMMAND LINE
///   fault LINE OF A PLAN             happens in every run
///   menu LINE OF A PLAN              explore draws from these
///   menu standard [except KIND, ...] and from all that make sense here: standard_menu.h
///   limit 10s                        a run that lasts longer, of virtual time, goes wrong
///   patience 60s                     so does who computes for longer, of a processor's time
///   memory spec                      what devices promise about memory: docs/memory.md
///   strict                           and what would only be remarked on
///   env NAME=VALUE                   in the environment of all programs
///   directory DIR                    in which they work, relative to the file
///   expect HOST/PROGRAM status N... | any status | any end | output TEXT | no output TEXT
/// A command that is a relative path with a `/` is looked for beside the file first. Without any
/// status that is expected it is 0; what is in the background may also end with any status once
/// it was sent SIGTERM, when all others have ended; to be ended by that counts as 0. To be ended by
/// another signal is a crash, unless `any end` allows it, or a fault of the plan was it. The error
/// has the line's number.
[[nodiscard]] verbs::OrWhyNot<ProgramScenario> parse_scenario(std::string_view name,
                                                              std::string_view text);

/// The same, of a file.
[[nodiscard]] verbs::OrWhyNot<ProgramScenario> read_scenario(const std::string& path);

/// The word behind "limit". False: it is no time.
[[nodiscard]] bool take_limit(std::string_view word, ProgramScenario& scenario);
/// The same behind "patience".
[[nodiscard]] bool take_patience(std::string_view word, ProgramScenario& scenario);

}  // namespace anyrdma::tools
