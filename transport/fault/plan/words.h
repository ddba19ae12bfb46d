// A fault as words, which is the form between its text and its JSON. Each trigger and action is a
// kind and fields, and each field is a key and one word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

/// One field of a trigger or an action.
struct Word {
  /// The field's key; empty if the word comes from a plan's text, where the order decides.
  std::string key;
  std::string text;
  std::size_t line = 0;  ///< number of the line from which the word was read
};

/// A trigger or an action.
struct Phrase {
  std::string kind;  ///< "message"; "remove"
  std::vector<Word> words;
  std::size_t line = 0;
};

/// An error with its line. An empty reason means that there is no error.
struct WordProblem {
  std::size_t line = 0;
  std::string reason;
};

/// How the words of a fault are assigned to fields: by their place (text) or by their key (JSON).
enum class Order : std::uint8_t { kByPlace, kByKey };

[[nodiscard]] Phrase phrase_of(const Trigger& trigger);
[[nodiscard]] Phrase phrase_of(const FaultAction& action);
[[nodiscard]] WordProblem read_phrase(const Phrase& phrase, Order order, Trigger& trigger);
[[nodiscard]] WordProblem read_phrase(const Phrase& phrase, Order order, FaultAction& action);
/// Returns the kinds of triggers.
[[nodiscard]] std::span<const std::string_view> trigger_kinds();
[[nodiscard]] std::span<const std::string_view> action_kinds();
/// Whether the word after "on HOST" names a kind of trigger. Otherwise it is the
/// name of a CM message.
[[nodiscard]] bool is_trigger_kind(std::string_view word);

}  // namespace anyrdma::fault
