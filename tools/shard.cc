#include "tools/shard.h"

#include <string_view>
#include <vector>

#include "transport/fault/plan/scalars.h"

namespace anyrdma::tools {
namespace {

using Chosen = verbs::OrWhyNot<Shard>;
using Numbers = verbs::OrWhyNot<std::vector<std::uint64_t>>;

constexpr std::uint64_t kMost = 1'000'000'000;

bool is_set(const Variables& variables, const char* name) {
  const char* value = variables(name);
  return value != nullptr && *value != '\0';
}

/// What each of the names is set to.
Numbers numbers_of(const Variables& variables, const std::vector<const char*>& names) {
  std::vector<std::uint64_t> numbers;
  for (const char* name : names) {
    if (!is_set(variables, name))
      return verbs::WhyNot{std::string(names.front()) + " is set, but " + name +
                           " is not. Set both, or give --shard I/N."};
    const std::string_view value = variables(name);
    if (!fault::parse_number(value, numbers.emplace_back()) || numbers.back() > kMost)
      return verbs::WhyNot{std::string(name) + " is '" + std::string(value) +
                           "', and should be a number."};
  }
  return numbers;
}

Chosen checked(const Shard& shard) {
  if (shard.index < shard.count) return shard;
  return verbs::WhyNot{shard.source + " says shard " + std::to_string(shard.index) + " of " +
                       std::to_string(shard.count) + ", but shards are numbered from 0."};
}

Chosen of_option(const std::string& given) {
  const std::size_t slash = given.find('/');
  Shard shard{.source = "--shard"};
  if (slash == std::string::npos ||
      !fault::parse_number(std::string_view(given).substr(0, slash), shard.index) ||
      !fault::parse_number(std::string_view(given).substr(slash + 1), shard.count) ||
      shard.count > kMost)
    return verbs::WhyNot{"--shard '" + given +
                         "' is invalid. Write I/N, from 0/4 to 3/4 for four shards."};
  return checked(shard);
}

Chosen of_bazel(const Variables& variables) {
  const auto numbers = numbers_of(variables, {"TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS"});
  if (!numbers) return numbers.error();
  if (numbers->at(1) == 0) return Shard{};  // a test that is not sharded
  return checked({numbers->at(0), numbers->at(1), "TEST_SHARD_INDEX"});
}

/// An array may begin anywhere and have a step. Where it has gaps nothing says how many come before
/// one.
Chosen of_slurm(const Variables& variables) {
  const auto numbers = numbers_of(variables, {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN",
                                              "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT"});
  if (!numbers) return numbers.error();
  const std::uint64_t id = numbers->at(0);
  const std::uint64_t least = numbers->at(1);
  const std::uint64_t last = numbers->at(2);
  const std::uint64_t count = numbers->at(3);
  std::uint64_t step = 1;
  if (is_set(variables, "SLURM_ARRAY_TASK_STEP")) {
    const auto said = numbers_of(variables, {"SLURM_ARRAY_TASK_STEP"});
    if (!said) return said.error();
    step = said->front();
  }
  if (step == 0 || id < least || id > last)
    return verbs::WhyNot{"SLURM_ARRAY_TASK_ID is " + std::to_string(id) +
                         ", which is not in the array from " + std::to_string(least) + " to " +
                         std::to_string(last) + "."};
  if ((last - least) / step + 1 != count || (id - least) % step != 0)
    return verbs::WhyNot{
        "the job array from " + std::to_string(least) + " to " + std::to_string(last) + " has " +
        std::to_string(count) +
        " tasks, so it has gaps, and SLURM_ARRAY_TASK_ID does not say which shard this is. "
        "Number an array without gaps, or say --shard I/N."};
  return Shard{(id - least) / step, count, "SLURM_ARRAY_TASK_ID"};
}

Chosen of_kubernetes(const Variables& variables, std::optional<std::uint64_t> count) {
  const auto numbers = numbers_of(variables, {"JOB_COMPLETION_INDEX"});
  if (!numbers) return numbers.error();
  if (!count)
    return verbs::WhyNot{
        "JOB_COMPLETION_INDEX is " + std::to_string(numbers->front()) +
        ", but no variable says of how many. Add --shards N with the job's completions, or "
        "--shard 0/1 for all."};
  return checked({numbers->front(), *count, "JOB_COMPLETION_INDEX"});
}

/// What each engine that is there says.
verbs::OrWhyNot<std::vector<Shard>> of_environment(const Variables& variables,
                                                   std::optional<std::uint64_t> count) {
  std::vector<Chosen> said;
  if (is_set(variables, "TEST_SHARD_INDEX") || is_set(variables, "TEST_TOTAL_SHARDS"))
    said.push_back(of_bazel(variables));
  if (is_set(variables, "SLURM_ARRAY_TASK_ID")) said.push_back(of_slurm(variables));
  if (is_set(variables, "JOB_COMPLETION_INDEX")) said.push_back(of_kubernetes(variables, count));
  std::vector<Shard> shards;
  for (const Chosen& each : said) {
    if (!each) return each.error();
    if (!each->source.empty()) shards.push_back(*each);
  }
  return shards;
}

}  // namespace

Chosen choose_shard(const std::string& given, std::optional<std::uint64_t> count,
                    const Variables& variables) {
  if (!given.empty()) return of_option(given);
  if (count && (*count == 0 || *count > kMost))
    return verbs::WhyNot{"--shards is the number of all, from 1 on, not " + std::to_string(*count) +
                         "."};
  const auto said = of_environment(variables, count);
  if (!said) return said.error();
  if (said->empty() && !count) return Shard{};
  if (said->empty())
    return verbs::WhyNot{
        "--shards " + std::to_string(*count) +
        " says of how many, but no variable says which one this is: those of Bazel, Slurm and "
        "Kubernetes are not set. Say --shard I/" +
        std::to_string(*count) + "."};
  const Shard& first = said->front();
  for (const Shard& each : *said) {
    if (each.index == first.index && each.count == first.count) continue;
    return verbs::WhyNot{first.source + " says shard " + std::to_string(first.index) + " of " +
                         std::to_string(first.count) + ", and " + each.source + " says " +
                         std::to_string(each.index) + " of " + std::to_string(each.count) +
                         ". Say which with --shard I/N."};
  }
  if (count && *count != first.count)
    return verbs::WhyNot{"--shards " + std::to_string(*count) + ", but by " + first.source +
                         " there are " + std::to_string(first.count) +
                         ". Leave it out, or say --shard I/N."};
  return first;
}

}  // namespace anyrdma::tools
