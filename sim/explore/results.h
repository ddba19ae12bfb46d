// The results of one shard of an exploration, as a text file, and the sum of all shards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/explore/explore.h"
#include "verbs/why_not.h"

namespace anyrdma::sim {

/// As text, one thing a line; what has lines itself follows, each of them behind "| ":
///   anyrdma results 1                       the format's version
/// written by anyrdma 0.1.0                the version that ran it
///   scenario connect
///   option seeds 1000 from 1                whatever decides which runs there are
///   shard 2 of 4                            from 0
///   runs 250
///   milliseconds 310
///   ended whole                             or "budget", "interrupted"
///   fired 12 on client->server REQ 1: lose  in how many runs
///   situation 3 250 late UNREACHABLE seen   in how many seen, and looked for
///   differs                                 only if a trial's second run was another
///   coverage 812 301                        bits, and the run that came to the last; if wanted
///   other 3 client ended with status #      failures that were not looked for, by their kinds
///   kind 2 server waits for #               all failures that begin so
///   place 2 17                              of the first in the order of all runs
///   hash 0x421ab696609f35a1
///   faults 3                                before they were shrunk
///   command anyrdma replay ...              what repeats it
///   trial                                   trial.h
///   problem
///   end                                     nothing was cut off
struct Results {
  std::uint64_t shards = 1;
  std::uint64_t shard = 0;
  std::string writer{};
  std::string scenario{};
  std::vector<std::pair<std::string, std::string>> options{};
  std::uint64_t milliseconds = 0;
  Exploration found{};

  [[nodiscard]] std::string to_text() const;
  /// Parses a file. The error names the line: "line 3: ...". Accepted text is written back
  /// unchanged except for the order of lines; its numbers are consistent.
  [[nodiscard]] static verbs::OrWhyNot<Results> parse(std::string_view text);
};

/// Where results are from, for sentences.
using NamedResults = std::pair<std::string, Results>;

/// Those of a run in one piece: all but `milliseconds`, which add up, and what was counted while a
/// failure ended the search without ExploreOptions::keep_going. A sentence: not all parts are
/// there, one is there twice, they do not belong together, or one was interrupted. `partial`: what
/// is missing or was interrupted is no error. Precondition: there is one.
[[nodiscard]] verbs::OrWhyNot<Results> merge(const std::vector<NamedResults>& parts,
                                             bool partial = false);

/// "2, 5-7": those that are not there; empty: all are.
[[nodiscard]] std::string missing_shards(const std::vector<NamedResults>& parts);

}  // namespace anyrdma::sim
