#include "sim/debug/cluster/destination.h"

#include <string>

#include "transport/fault/plan/scalars.h"

namespace anyrdma::sim::debug {

verbs::OrWhyNot<Destination> parse_destination(std::string_view text) {
  constexpr std::string_view kRecord = "record ";
  if (text == "failure") return Destination(AtFailure{});
  if (text.starts_with(kRecord)) {
    AtRecord record;
    const std::string_view number = text.substr(kRecord.size());
    if (fault::parse_number(number, record.number)) return Destination(record);
    return verbs::WhyNot{"goto: '" + std::string(number) +
                         "' is no number of a record. Write record 123, for example."};
  }
  verbs::Duration time{};
  if (fault::parse_word("goto", text, time).empty() && time >= verbs::Duration::zero())
    return Destination(AtMoment{time});
  return verbs::WhyNot{"goto: '" + std::string(text) +
                       "' is no moment of a run. Write 10.5ms, 'record 123' or failure."};
}

}  // namespace anyrdma::sim::debug
