#include "sim/explain/pool.h"

#include <cstring>

#include "sim/explore/outcome_bytes.h"
#include "sim/explore/perform.h"
#include "sim/explore/run_pool.h"

namespace anyrdma::sim::explain {
namespace {

/// Both processes are the same program, so a step is the same bytes in both.
std::string bytes_of(const Answer& answer) {
  const std::string outcome = to_bytes(answer.outcome);
  const std::uint64_t size = outcome.size();
  std::string bytes(sizeof size + size + answer.steps.size() * sizeof(Step), '\0');
  char* to = bytes.data();
  std::memcpy(to, &size, sizeof size);
  std::memcpy(to += sizeof size, outcome.data(), size);
  if (!answer.steps.empty())
    std::memcpy(to + size, answer.steps.data(), answer.steps.size() * sizeof(Step));
  return bytes;
}

Answer answer_from(std::string_view bytes) {
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  Answer answer{.outcome = outcome_from(bytes.substr(0, size))};
  bytes.remove_prefix(size);
  answer.steps.resize(bytes.size() / sizeof(Step));
  if (!answer.steps.empty()) std::memcpy(answer.steps.data(), bytes.data(), bytes.size());
  return answer;
}

}  // namespace

std::vector<Answer> Pool::judge(const std::vector<Probe>& probes) {
  std::vector<Answer> answers;
  if (over_) return answers;
  run_in_order(
      probes.size(),
      {.processes = options_.processes,
       .processor_time = options_.patience,
       .real_time = std::chrono::duration_cast<std::chrono::milliseconds>(2 * options_.patience),
       .stop = options_.stop},
      [](std::uint64_t) { return std::string(); },
      [&](std::uint64_t number, const std::string&) {
        Follower follower(probes[number]);
        Answer answer{.outcome = perform([&](const Trial& trial) { return run_(trial, follower); },
                                         probes[number].trial)};
        answer.steps = follower.take_steps();
        return bytes_of(answer);
      },
      [&](std::uint64_t, const std::string& bytes, const std::string& death) {
        answers.push_back(death.empty() ? answer_from(bytes)
                                        : Answer{.outcome = outcome_of_death(death)});
        return true;
      });
  runs_ += answers.size();
  over_ = answers.size() < probes.size();
  return answers;
}

}  // namespace anyrdma::sim::explain
