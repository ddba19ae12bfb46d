// Which message that one process saw leave is the one that another saw come.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "recording/view/process_file.h"

namespace anyrdma::recording {

/// A message of a file: the file's number among those that are merged, and the message's in it.
using MessageOf = std::pair<std::size_t, std::size_t>;

/// From each that came to the one that left, and the other way round. What only one file has is in
/// neither.
struct JoinedMessages {
  std::map<MessageOf, MessageOf> departure;
  std::map<MessageOf, MessageOf> arrival;
};

/// They have the same bytes, and come after they leave, by no more than `inexact` before: of equal
/// ones the one that has been under way longest, but none for longer than it takes to repeat a
/// message, unless no other is left.
[[nodiscard]] JoinedMessages join_messages(std::span<const ProcessFile> files,
                                           verbs::Duration inexact);

}  // namespace anyrdma::recording
