#include "sim/tracee/filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "verbs/assert.h"

namespace anyrdma::sim::tracee {
namespace {

using Program = std::vector<sock_filter>;

constexpr std::uint32_t kX32Bit = 0x4000'0000;

/// The calls from one number to the next part's.
struct Part {
  std::uint32_t begin;
  Answer answer;
  std::span<const ArgumentRule> arguments;
};

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter give(const Answer& answer) {
  switch (answer.verdict) {
    case Verdict::kPass:
      return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    case Verdict::kRefuse:
      return BPF_STMT(BPF_RET | BPF_K,
                      SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(answer.error));
    case Verdict::kStop:
      break;
  }
  return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
}

/// Adjacent calls that have the same answer whatever their arguments are one part.
std::vector<Part> parts_of(std::span<const CallRule> rules) {
  std::vector<CallRule> sorted(rules.begin(), rules.end());
  std::ranges::sort(sorted, {}, &CallRule::number);
  std::vector<Part> parts;
  const auto add = [&parts](std::uint32_t begin, Answer answer,
                            std::span<const ArgumentRule> arguments) {
    const bool same = !parts.empty() && parts.back().answer == answer &&
                      parts.back().arguments.empty() && arguments.empty();
    if (!same) parts.push_back({begin, answer, arguments});
  };
  std::uint32_t next = 0;
  for (const CallRule& rule : sorted) {
    const auto number = static_cast<std::uint32_t>(rule.number);
    CM_ASSERT(number >= next && number < kX32Bit);
    if (number > next) add(next, {}, {});
    add(number, rule.answer, rule.arguments);
    next = number + 1;
  }
  add(next, {}, {});
  return parts;
}

/// The number is loaded; no argument is looked at before it is known which call it is.
Program code_of(const Part& part) {
  Program code;
  for (const ArgumentRule& rule : part.arguments) {
    const bool upper = rule.test == ArgumentRule::Test::kUpperHalfIs;
    const std::uint16_t compare = rule.test == ArgumentRule::Test::kHasAny ? BPF_JSET : BPF_JEQ;
    code.push_back(load(offsetof(seccomp_data, args) + rule.argument * sizeof(std::uint64_t) +
                        (upper ? sizeof(std::uint32_t) : 0)));
    code.push_back(
        BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | BPF_K | compare), rule.value, 0, 1));
    code.push_back(give(rule.answer));
  }
  code.push_back(give(part.answer));
  return code;
}

/// A binary search for the call's part.
Program search(std::span<const Part> parts) {
  constexpr std::size_t kFarthest = 255;
  if (parts.size() == 1) return code_of(parts.front());
  const auto upper = parts.subspan(parts.size() / 2);
  const Program below = search(parts.first(parts.size() / 2));
  const Program above = search(upper);
  const std::uint32_t begin = upper.front().begin;
  Program code;
  if (below.size() <= kFarthest) {
    const auto length = static_cast<std::uint8_t>(below.size());
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, begin, length, 0));
  } else {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, begin, 0, 1));
    code.push_back(BPF_STMT(BPF_JMP | BPF_JA, static_cast<std::uint32_t>(below.size())));
  }
  code.insert(code.end(), below.begin(), below.end());
  code.insert(code.end(), above.begin(), above.end());
  return code;
}

}  // namespace

bool applies(const ArgumentRule& rule, std::uint64_t argument) {
  constexpr unsigned kHalf = 32;
  const auto lower = static_cast<std::uint32_t>(argument);
  switch (rule.test) {
    case ArgumentRule::Test::kIs:
      return lower == rule.value;
    case ArgumentRule::Test::kHasAny:
      return (lower & rule.value) != 0;
    case ArgumentRule::Test::kUpperHalfIs:
      return argument >> kHalf == rule.value;
  }
  return false;
}

std::vector<sock_filter> filter_of(std::span<const CallRule> rules) {
  constexpr Answer kNoSuchCall{Verdict::kRefuse, ENOSYS};
  Program filter;
  filter.push_back(load(offsetof(seccomp_data, arch)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
  filter.push_back(give(kNoSuchCall));
  filter.push_back(load(offsetof(seccomp_data, nr)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 0, 1));
  filter.push_back(give(kNoSuchCall));
  const Program found = search(parts_of(rules));
  filter.insert(filter.end(), found.begin(), found.end());
  return filter;
}

}  // namespace anyrdma::sim::tracee
