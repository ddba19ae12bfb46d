// The single words of a fault: times, occurrences, names of messages and events. Each parse returns
// the error of the word, which is the value of a key; empty: none.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/plan/fault.h"
#include "verbs/time.h"

namespace anyrdma::fault {

/// "'word'".
[[nodiscard]] std::string in_quotes(std::string_view word);

/// The largest unit without a fraction, "1500ms"; one with a fraction instead of five digits or
/// more: "1.234567s".
[[nodiscard]] std::string word_of(verbs::Duration time);
/// A decimal number with ns, us, ms or s; exact to the nanosecond.
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     verbs::Duration& time);

/// "300ms", "10ms to 5s"; empty: for ever.
[[nodiscard]] std::string word_of(const Lasting& lasting);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word, Lasting& lasting);

/// "2", "all", "12.5%".
[[nodiscard]] std::string word_of(const Occurrence& occurrence);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     Occurrence& occurrence);

/// "REQ".
[[nodiscard]] std::string word_of(CmMessage message);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     CmMessage& message);

/// "ESTABLISHED".
[[nodiscard]] std::string word_of(rdma_cm_event_type event);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     rdma_cm_event_type& event);

/// "6e6f".
[[nodiscard]] std::string word_of(const std::vector<std::uint8_t>& bytes);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     std::vector<std::uint8_t>& bytes);

/// "path_mtu".
[[nodiscard]] std::string word_of(const FieldName& field);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word, FieldName& field);

/// "ENOMEM".
[[nodiscard]] std::string word_of(const Errno& error);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word, Errno& error);
/// "RDMA_WRITE".
[[nodiscard]] std::string word_of(ibv_wc_opcode opcode);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     ibv_wc_opcode& opcode);
/// "RETRY_EXC_ERR".
[[nodiscard]] std::string word_of(ibv_wc_status status);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     ibv_wc_status& status);
/// "QP_FATAL".
[[nodiscard]] std::string word_of(ibv_event_type event);
[[nodiscard]] std::string parse_word(std::string_view key, std::string_view word,
                                     ibv_event_type& event);
/// The one behind a name of kDeviceEvents.
[[nodiscard]] ibv_event_type device_event(std::string_view name);
/// "qp2", "qp0x11"; `kind` is "qp", "cq" or "srq".
[[nodiscard]] std::string word_of(std::string_view kind, const ObjectName& name);
[[nodiscard]] std::string parse_object(std::string_view kind, std::string_view word,
                                       ObjectName& name);

/// All of the word as a decimal number.
template <class T>
[[nodiscard]] bool parse_number(std::string_view word, T& number) {
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
  return parsed.ec == std::errc{} && parsed.ptr == word.data() + word.size();
}

/// Any number of a type: "28".
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

/// The word before the duration of a fault.
inline constexpr std::string_view kFor = "for";

/// Whether a host, device or interface can be named so in a plan: printable, without blanks and the
/// signs that mean something there, and not kFor.
[[nodiscard]] bool is_name(std::string_view name);

}  // namespace anyrdma::fault
