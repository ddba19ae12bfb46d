// A fault as words, which its text and its JSON have in common: each trigger and action is a kind
// and fields with a key and one word each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

/// One field.
struct Word {
  std::string key;  ///< empty in text, where the order decides
  std::string text;
  std::size_t line = 0;  ///< where it was read
};

/// A trigger or an action.
struct Phrase {
  std::string kind;  ///< "message"; "remove"
  std::vector<Word> words;
  std::size_t line = 0;
};

/// The reason and the line of an error; no reason: no error.
struct WordProblem {
  std::size_t line = 0;
  std::string reason;
};

/// How a phrase that was read says which field a word is for.
enum class Order : std::uint8_t { kByPlace, kByKey };

[[nodiscard]] Phrase phrase_of(const Trigger& trigger);
[[nodiscard]] Phrase phrase_of(const FaultAction& action);
[[nodiscard]] WordProblem read_phrase(const Phrase& phrase, Order order, Trigger& trigger);
[[nodiscard]] WordProblem read_phrase(const Phrase& phrase, Order order, FaultAction& action);
/// All there are.
[[nodiscard]] std::span<const std::string_view> trigger_kinds();
[[nodiscard]] std::span<const std::string_view> action_kinds();
/// Whether it is a kind of trigger other than a message's name: a word after "on HOST".
[[nodiscard]] bool is_trigger_kind(std::string_view word);

}  // namespace anyrdma::fault
