// A world of two hosts in which the conversation happens, under a fault plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "examples/conversation.h"
#include "sim/options.h"

namespace anyrdma::examples {

/// All that a run left behind.
struct Outcome {
  Diary diary;
  std::uint64_t trace_hash = 0;
  std::string trace;                  ///< with Tracing::kKeep
  std::vector<std::uint8_t> capture;  ///< with WorldOptions::capture
  std::uint64_t packets = 0;
  std::vector<std::string> unfired;  ///< planned faults that did not happen
};

/// Runs the conversation between "client", 10.0.0.2, and "server", 10.0.0.1, until nothing is left
/// to happen. `plan` has the form of transport/fault/plan/fault_plan.h; throws
/// std::invalid_argument if it does not.
[[nodiscard]] Outcome run_conversation(std::uint64_t seed, std::string_view plan,
                                       const sim::WorldOptions& options);

}  // namespace anyrdma::examples
