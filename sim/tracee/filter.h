// The seccomp filter of a traced process: which of its system calls the kernel makes at once, which
// it refuses, and which stop the process. Source: seccomp(2).
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

namespace anyrdma::sim::tracee {

enum class Verdict : std::uint8_t {
  kPass,    ///< the kernel makes the call; the tracer is not asked
  kStop,    ///< the thread stops with StopKind::kCall
  kRefuse,  ///< the call fails with an errno; the tracer is not asked
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
    kHasAny,       ///< the argument's lower 32 bits have a bit of `value`
    kUpperHalfIs,  ///< the argument's upper 32 bits are `value`
  };
  unsigned argument = 0;  ///< 0 to 5
  Test test = Test::kIs;
  std::uint32_t value = 0;
  Answer answer{};
  const char* name = "";  ///< of the value, for readers: "MAP_HUGETLB"
};

/// The answer to the calls of one number. The first applicable rule of `arguments` decides, or else
/// `answer`.
struct CallRule {
  int number = 0;
  Answer answer{};
  std::span<const ArgumentRule> arguments{};
};

/// Returns a program for SECCOMP_SET_MODE_FILTER. `rules` have each number at most once, in any
/// order. Calls without a rule stop the thread; calls of other architectures fail with ENOSYS. The
/// number of a call is looked at before any argument, so the kernel makes calls that always pass
/// without executing the filter (since Linux 5.11).
[[nodiscard]] std::vector<sock_filter> filter_of(std::span<const CallRule> rules);

}  // namespace anyrdma::sim::tracee
