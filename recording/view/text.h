// A story as text: a line for each record, a summary, and where two stories part.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// "0.000008000 client -> server REQ id=0x1 ..., arrives 0.000010000". Without a newline; what
/// would end the line or confuse a terminal is escaped.
[[nodiscard]] std::string line_of(const Story& story, std::size_t record);
/// The summary as whole lines: hosts and objects, durations of each step of a handshake, lost and
/// repeated messages, faults and their effects, findings.
[[nodiscard]] std::string summary_of(const Story& story);

/// The first difference of two runs: the first records that differ, or the place where one run
/// ends.
struct Difference {
  std::size_t at = 0;    ///< so many records are alike
  std::string sentence;  ///< what is different
  /// Text for users: the sentence, and both sides with some lines before and after.
  std::string text;
};
/// nullopt: they are alike.
[[nodiscard]] std::optional<Difference> difference_of(const Story& left, const Story& right);

}  // namespace anyrdma::recording
