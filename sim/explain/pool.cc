#include "sim/explain/pool.h"

#include <cstring>

#include "sim/explore/outcome_bytes.h"
#include "sim/explore/perform.h"
#include "sim/explore/run_pool.h"

namespace anyrdma::sim::explain {
namespace {

/// What precedes the outcome and the steps of an answer.
struct Head {
  std::uint64_t size = 0;  ///< of the outcome
  verbs::Duration end{};
  std::uint64_t stopped = 0;
};

/// Both processes are the same program, so a step is the same bytes in both.
std::string bytes_of(const Answer& answer) {
  const std::string outcome = to_bytes(answer.outcome);
  const Head head{.size = outcome.size(), .end = answer.end, .stopped = answer.stopped};
  std::string bytes(sizeof head + head.size + answer.steps.size() * sizeof(Step), '\0');
  char* to = bytes.data();
  std::memcpy(to, &head, sizeof head);
  std::memcpy(to += sizeof head, outcome.data(), head.size);
  if (!answer.steps.empty())
    std::memcpy(to + head.size, answer.steps.data(), answer.steps.size() * sizeof(Step));
  return bytes;
}

Answer answer_from(std::string_view bytes) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes.remove_prefix(sizeof head);
  Answer answer{.outcome = outcome_from(bytes.substr(0, head.size)),
                .end = head.end,
                .stopped = head.stopped != 0};
  bytes.remove_prefix(head.size);
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
        answer.end = follower.end();
        answer.stopped = follower.is_over();
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
