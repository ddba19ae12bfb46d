// The argument of `monitor goto` and of --goto: a moment of a run that is named in words.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "verbs/time.h"
#include "verbs/why_not.h"

namespace anyrdma::sim::debug {

/// Where the run fails: a crash, a deadlock, a limit.
struct AtFailure {
  bool operator==(const AtFailure&) const = default;
};
/// A record of the run, by the number that its recording gives it.
struct AtRecord {
  std::uint64_t number = 0;
  bool operator==(const AtRecord&) const = default;
};
/// Virtual time since the beginning of the run.
struct AtMoment {
  verbs::Duration time{};
  bool operator==(const AtMoment&) const = default;
};
using Destination = std::variant<AtFailure, AtRecord, AtMoment>;

/// Parses "failure", "record 123" or "10.5ms". The error is a sentence for the user.
[[nodiscard]] verbs::OrWhyNot<Destination> parse_destination(std::string_view text);

}  // namespace anyrdma::sim::debug
