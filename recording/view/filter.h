// A filter of records.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Selects records. A record passes if it matches every member that is set, and of each member at
/// least one value.
struct Filter {
  std::vector<std::string> hosts{};        ///< by name
  std::vector<std::string> ids{};          ///< "client#1"
  std::vector<std::string> queue_pairs{};  ///< "client#qp0x11", or "0x11" of any host
  std::vector<RecordKind> kinds{};
  std::optional<Duration> from{};
  std::optional<Duration> to{};  ///< latest time of a record

  [[nodiscard]] bool empty() const;
  [[nodiscard]] bool passes(const Story& story, const Record& record) const;
  /// Returns the first value of the filter that does not exist in the recording. Empty: all exist.
  [[nodiscard]] std::string unknown_in(const Story& story) const;
};

}  // namespace anyrdma::recording
