// The results of one shard (a process that executes a part of the runs of an exploration) as a text
// file, and the merging of the results of all shards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/explore/explore.h"
#include "verbs/why_not.h"

namespace anyrdma::sim {

/// The results of one shard (a process that executes a part of the runs). As text, there is one
/// item a line. If an item has several lines, they follow it, each after "| ":
///   anyrdma results 1                       the version of the format
///   written by anyrdma 0.1.0                the version of the program that executed the runs
///   scenario connect                        the name of the scenario
///   option seeds 1000 from 1                a search option that decides which runs there are
///   shard 2 of 4                            the number of the shard, from 0
///   runs 250                                the number of runs
///   milliseconds 310                        the real time of the search
///   ended whole                             why the search ended; or "budget", "interrupted"
///   fired 12 on client->server REQ 1: lose  the fault "lose" occurred in 12 runs
///   situation 3 250 late UNREACHABLE seen   of 250 runs that reported on it, 3 saw the situation
///   differs                                 present if the second run of a trial differed
///   coverage 812 301                        runs reached 812 bits of coverage, run 301 the last
///   one other 3 client ended with status #      3 failures of this kind; ExploreOptions::only
///   excludes it kind 2 server waits for #               2 failures have a problem that begins with
///   this text place 2 17                              the rank (RunPlace) of the first failure of
///   that kind hash 0x421ab696609f35a1                 the trace hash of the first failure of that
///   kind faults 3                                the number of its faults before shrinking command
///   anyrdma replay ...              the command that repeats it trial its trial (trial.h), after
///   shrinking problem                                 its problem end the last line of a complete
///   file
struct Results {
  std::uint64_t shards = 1;
  std::uint64_t shard = 0;
  std::string writer{};
  std::string scenario{};
  std::vector<std::pair<std::string, std::string>> options{};
  std::uint64_t milliseconds = 0;
  Exploration found{};

  [[nodiscard]] std::string to_text() const;
  /// Parses a file of results. The text of an error names the line: "line 3: ...". to_text()
  /// returns accepted text unchanged except for the order of lines. Parsed numbers are consistent
  /// with each other.
  [[nodiscard]] static verbs::OrWhyNot<Results> parse(std::string_view text);
};

/// Results, preceded by the name of their file for use in sentences.
using NamedResults = std::pair<std::string, Results>;

/// Returns the merged results of all shards, as if one process had executed all runs. Exceptions:
/// `milliseconds` is the sum of the parts, and counters may differ if a failure ended the search
/// (without ExploreOptions::keep_going). Returns a sentence as the error if a shard is missing,
/// given twice, interrupted, or from another exploration. If `partial` is true, missing and
/// interrupted shards are no error. Precondition: `parts` is not empty.
[[nodiscard]] verbs::OrWhyNot<Results> merge(const std::vector<NamedResults>& parts,
                                             bool partial = false);

/// Returns the numbers of the shards that `parts` lacks, as "2, 5-7". Empty: no shard is missing.
[[nodiscard]] std::string missing_shards(const std::vector<NamedResults>& parts);

}  // namespace anyrdma::sim
