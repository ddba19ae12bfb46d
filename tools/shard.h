// Determines which shard (part) of an exploration this process executes, if several machines share
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "verbs/why_not.h"

namespace anyrdma::tools {

struct Shard {
  std::uint64_t index = 0;  ///< from 0
  std::uint64_t count = 1;
  std::string source{};  ///< the variable or option that says so; empty: none does, and this is the
                         ///< whole search
};

/// As getenv(3); null: not set.
using Variables = std::function<const char*(const char*)>;

/// As `given` has it ("2/4", from 0; empty: not given), else the environment: Bazel's
/// TEST_SHARD_INDEX and TEST_TOTAL_SHARDS, the SLURM_ARRAY_TASK_... of a job array, or
/// JOB_COMPLETION_INDEX of an indexed job of Kubernetes, which needs `count`. The error: they do
/// not say it, or contradict each other.
[[nodiscard]] verbs::OrWhyNot<Shard> choose_shard(const std::string& given,
                                                  std::optional<std::uint64_t> count,
                                                  const Variables& variables);

}  // namespace anyrdma::tools
