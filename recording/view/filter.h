// Which records of a story somebody wants to see.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Each that is set must hold; of several values, one.
struct Filter {
  std::vector<std::string> hosts{};        ///< by name
  std::vector<std::string> ids{};          ///< "client#1"
  std::vector<std::string> queue_pairs{};  ///< "client#qp0x11", or "0x11" of any host
  std::vector<RecordKind> kinds{};
  std::optional<Duration> from{};
  std::optional<Duration> to{};  ///< not later

  [[nodiscard]] bool empty() const;
  [[nodiscard]] bool passes(const Story& story, const Record& record) const;
  /// What is named there is not in the story; empty: all is.
  [[nodiscard]] std::string unknown_in(const Story& story) const;
};

}  // namespace anyrdma::recording
