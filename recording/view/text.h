// Writes a recording as text: a line for each record, a summary, or the first difference between
// two recordings.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Returns one record as a line without newline: "0.000008000 client -> server REQ id=0x1 ...,
/// arrives 0.000010000". Control characters, and characters that reorder text, are escaped
/// (base/printable.h).
[[nodiscard]] std::string line_of(const Story& story, std::size_t record);
/// Returns the same without escapes: more than one line if a program's text has newlines.
[[nodiscard]] std::string raw_line_of(const Story& story, std::size_t record);
/// Returns the summary of a recording as whole lines: hosts and objects, the duration of each step
/// of a handshake, lost and repeated messages, faults with their effects, and findings.
[[nodiscard]] std::string summary_of(const Story& story);

/// The first difference between two runs: the first records that differ, or the place where one run
/// ends and the other continues.
struct Difference {
  std::size_t at = 0;    ///< number of equal records before the difference
  std::string sentence;  ///< what is different

  /// The difference as text for users: the sentence, and some lines of both runs before and after
  /// the difference.
  std::string text;
};
/// Returns the first difference between two recordings; nullopt: they are equal.
[[nodiscard]] std::optional<Difference> difference_of(const Story& left, const Story& right);

}  // namespace anyrdma::recording
