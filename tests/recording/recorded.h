// Worlds with a recording in memory, and its story.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "recording/sink.h"
#include "recording/view/story.h"
#include "sim/testing/clean_run.h"
#include "sim/world.h"

namespace anyrdma::tests {

struct RecordedRun {
  recording::Story story;
  std::uint64_t hash = 0;
};

/// A connection's life under a plan of faults, recorded.
RecordedRun record_clean_run(std::uint64_t seed, std::string_view plan = {},
                             const sim::WorldOptions& options = {});

/// The first record of a kind and name; null: there is none.
const recording::Record* find(const recording::Story& story, recording::RecordKind kind,
                              std::string_view name);

}  // namespace anyrdma::tests
