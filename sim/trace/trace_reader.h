// The text of a trace, read back: to compare runs, of this machine or another.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/trace.h"

namespace anyrdma::sim {

/// One line of Trace::text(), taken apart. What is not named here stays in `text`.
struct TraceLine {
  Instant time{};
  RecordKind kind{};
  std::string host;            ///< empty: a fault
  std::string peer;            ///< kSend: "-" when nobody has the address; kDrop: empty likewise
  std::string cause;           ///< kDrop, kDropMessage
  std::uint64_t id = 0;        ///< of events ...
  std::uint64_t listener = 0;  ///< ... 0: none
  rdma_cm_event_type event{};
  int status = 0;
  std::string text;  ///< the packet, the message that was ignored, the event's rest, fault, note

  bool operator==(const TraceLine&) const = default;
  /// As it was read.
  [[nodiscard]] std::string to_string() const;
};

struct TraceError {
  std::size_t line = 0;  ///< from 1
  std::string reason;
  [[nodiscard]] std::string to_string() const;
};

/// Takes exactly what Trace writes: canonical numbers, known kinds, causes and events, time that
/// does not go back. Nullopt on the first line that is none, with `error` filled.
[[nodiscard]] std::optional<std::vector<TraceLine>> parse_trace(std::string_view text,
                                                                TraceError& error);

/// Where two runs part.
struct TraceDifference {
  std::size_t line = 0;  ///< from 1
  std::string what;      ///< "time", "kind", "host", "peer", "cause", "event", "text" or "end"
  std::string left;      ///< the line; empty: its trace ends before
  std::string right;
  /// Some lines for people.
  [[nodiscard]] std::string to_string() const;
};
[[nodiscard]] std::optional<TraceDifference> first_difference(const std::vector<TraceLine>& left,
                                                              const std::vector<TraceLine>& right);

}  // namespace anyrdma::sim
