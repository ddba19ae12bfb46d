// The seccomp filter of a traced process: which of its system calls the kernel makes at once, which
// it refuses, and which stop the process. Source: seccomp(2).
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

namespace anyrdma::sim::tracee {

enum class Verdict : std::uint8_t {
  kPass,    ///< the kernel executes the call, and the tracer does not see it
  kStop,    ///< the thread stops with StopKind::kCall
  kRefuse,  ///< the call fails with an errno, and the tracer does not see it
};

struct Answer {
  Verdict verdict = Verdict::kStop;
  int error = 0;  ///< of kRefuse, positive
  bool operator==(const Answer&) const = default;
};

/// Another answer for calls with a certain argument.
struct ArgumentRule {
  enum class Test : std::uint8_t {
    kIs,           ///< the argument's lower 32 bits are `value`
    kHasAny,       ///< `value` and the argument's lower 32 bits have a common bit
    kUpperHalfIs,  ///< the argument's upper 32 bits are `value`
  };
  unsigned argument = 0;  ///< 0 to 5
  Test test = Test::kIs;
  std::uint32_t value = 0;
  Answer answer{};
  const char* name = "";  ///< of the value, for readers: "MAP_HUGETLB"
};

/// Whether the rule is one for calls whose argument `rule.argument` has this value.
[[nodiscard]] bool applies(const ArgumentRule& rule, std::uint64_t argument);

/// The verdict on system calls with one number. The first rule of `arguments` that applies to the
/// call decides; if none applies, `answer` decides.
struct CallRule {
  int number = 0;
  Answer answer{};
  std::span<const ArgumentRule> arguments{};
};

/// Returns a BPF program for SECCOMP_SET_MODE_FILTER. `rules` contain each system call number at
/// most once, in any order. Calls without a rule stop the thread. Calls of other architectures fail
/// with ENOSYS. The program tests the number before any argument, so that since Linux 5.11 the
/// kernel executes calls that always pass without the filter.
[[nodiscard]] std::vector<sock_filter> filter_of(std::span<const CallRule> rules);

}  // namespace anyrdma::sim::tracee
