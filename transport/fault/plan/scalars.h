// Converts single words of a fault: times, occurrences, names of messages and events. Each parse
// function returns an error message that names `key`. Empty: success.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.h"
#include "transport/fault/plan/fault.h"
#include "verbs/time.h"

namespace anyrdma::fault {

/// Returns the word in quotes: "'word'".
[[nodiscard]] std::string in_quotes(std::string_view word);

/// Returns a time with the largest unit that needs no fraction, such as "1500ms". A number that
/// would have five digits or more becomes a fraction: "1.234567s".
[[nodiscard]] std::string word_of(verbs::Duration time);
/// Parses a time: a decimal number with ns, us, ms or s, exact to the nanosecond.
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     verbs::Duration& time);

/// Returns the duration of a fault's effect as "300ms", or as "10ms to 5s" if it is random. Returns
/// an empty text if the effect has no end.
[[nodiscard]] std::string word_of(const Lasting& lasting);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word, Lasting& lasting);

/// Returns an occurrence as "2", "all" or "12.5%".
[[nodiscard]] std::string word_of(const Occurrence& occurrence);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     Occurrence& occurrence);

/// Returns the name of a CM message: "REQ".
[[nodiscard]] std::string word_of(CmMessage message);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     CmMessage& message);

/// Returns the name of a CM event: "ESTABLISHED".
[[nodiscard]] std::string word_of(rdma_cm_event_type event);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     rdma_cm_event_type& event);

/// Returns bytes as hexadecimal digits: "6e6f".
[[nodiscard]] std::string word_of(const std::vector<std::uint8_t>& bytes);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     std::vector<std::uint8_t>& bytes);

/// Returns the name of a message's field: "path_mtu".
[[nodiscard]] std::string word_of(const FieldName& field);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word, FieldName& field);

/// Returns the name of an errno: "ENOMEM".
[[nodiscard]] std::string word_of(const Errno& error);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word, Errno& error);
/// Returns the name of a completion opcode: "RDMA_WRITE".
[[nodiscard]] std::string word_of(ibv_wc_opcode opcode);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     ibv_wc_opcode& opcode);
/// Returns the name of a completion status: "RETRY_EXC_ERR".
[[nodiscard]] std::string word_of(ibv_wc_status status);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     ibv_wc_status& status);
/// Returns the name of an asynchronous event: "QP_FATAL".
[[nodiscard]] std::string word_of(ibv_event_type event);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     ibv_event_type& event);
/// Returns the asynchronous event with this name, which is one of kDeviceEvents.
[[nodiscard]] ibv_event_type device_event(std::string_view name);
/// Returns the name of an object, such as "qp2" or "qp0x11". `kind` is "qp", "cq" or "srq".
[[nodiscard]] std::string word_of(std::string_view kind, const ObjectName& name);
[[nodiscard]] std::string parse_object(std::string_view kind, std::string_view word,
                                       ObjectName& name);

/// Parses a whole word as a decimal number.
template <class T>
[[nodiscard]] bool parse_number(std::string_view word, T& number) {
  const auto parsed = whole_number<T>(word);
  number = parsed.value_or(number);
  return parsed.has_value();
}

/// Returns a number in decimal: "28".
template <std::integral T>
[[nodiscard]] std::string word_of(T number) {
  return std::to_string(number);
}
template <std::integral T>
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word, T& number) {
  using Limits = std::numeric_limits<T>;
  if (parse_number(word, number)) return "";
  return in_quotes(word) + " is no " + std::string(key) + ": " + std::to_string(Limits::min()) +
         " to " + std::to_string(Limits::max());
}

/// The word in front of the duration of a fault, as in "crash s1 for 300ms".
inline constexpr std::string_view kFor = "for";

/// Whether a text can be the name of a host, device or interface in a plan. It must be printable,
/// without spaces, without characters that the grammar uses, and other than kFor.
[[nodiscard]] bool is_name(std::string_view name);

}  // namespace anyrdma::fault
