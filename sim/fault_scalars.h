// The single words of a fault: times, occurrences, names of messages and events. Each parse gives
// what is wrong with the word; empty: nothing.
#pragma once

#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fault.h"
#include "verbs/time.h"

namespace anyrdma::sim {

/// The largest unit without a fraction: "1500ms".
[[nodiscard]] std::string time_text(verbs::Duration time);
/// A decimal number with ns, us, ms or s; exact to the nanosecond.
[[nodiscard]] std::string parse_time(std::string_view word, verbs::Duration& time);

/// "2", "all", "12.5%".
[[nodiscard]] std::string occurrence_text(const Occurrence& occurrence);
[[nodiscard]] std::string parse_occurrence(std::string_view word, Occurrence& occurrence);

[[nodiscard]] std::string parse_message(std::string_view word, CmMessage& message);

/// "ESTABLISHED".
[[nodiscard]] std::string event_text(rdma_cm_event_type event);
[[nodiscard]] std::string parse_event(std::string_view word, rdma_cm_event_type& event);

/// The calls that can pull a trigger, as cm names them.
[[nodiscard]] std::span<const std::string_view> call_names();
[[nodiscard]] std::string parse_call(std::string_view word, std::string& call);

[[nodiscard]] std::string parse_reason(std::string_view word, std::uint8_t& reason);
[[nodiscard]] std::string parse_data(std::string_view word, std::vector<std::uint8_t>& data);

/// Whether a host, device or interface can be named so in a plan: printable, without blanks and the
/// signs that mean something there.
[[nodiscard]] bool is_name(std::string_view name);

/// "'word'".
[[nodiscard]] std::string quoted(std::string_view word);

/// All of the word as a decimal number.
template <class T>
[[nodiscard]] bool parse_number(std::string_view word, T& number) {
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
  return parsed.ec == std::errc{} && parsed.ptr == word.data() + word.size();
}

}  // namespace anyrdma::sim
