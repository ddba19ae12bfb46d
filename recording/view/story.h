// A recording for display: lanes, and in them records in the order of time, with everything that
// became known of each. docs/recording.md explains each member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verbs/time.h"

namespace anyrdma::recording {

using verbs::Duration;

/// A timeline row.
struct Lane {
  std::string of;  ///< host, process, thread, device, qp, id
  std::string name;
  std::optional<std::size_t> in{};  ///< comes before it
};

enum class RecordKind : std::uint8_t {
  kMessage,
  kCall,
  kState,
  kEvent,
  kCompletion,
  kWait,
  kFault,
  kNote,
  kFinding,
  kChoice,
};
/// "message".
[[nodiscard]] std::string_view to_string(RecordKind kind);
[[nodiscard]] std::optional<RecordKind> record_kind(std::string_view name);

using Fields = std::vector<std::pair<std::string, std::string>>;

/// A record. Members that its kind does not have are empty.
struct Record {
  Duration time{};
  std::size_t lane = 0;
  RecordKind kind{};
  std::string name{};
  std::vector<std::size_t> about{};  ///< lanes, of ids and queue pairs
  Fields fields{};
  std::optional<std::size_t> to{};       ///< lane; of a message
  std::optional<Duration> arrives{};     ///< a message; none: never
  std::string fate{};                    ///< why not
  std::optional<std::size_t> same{};     ///< the record that it repeats
  std::optional<std::uint64_t> bytes{};  ///< of a message's payload
  std::optional<std::uint64_t> psn{};
  std::optional<Duration> ends{};          ///< a call, a wait; none: never
  std::optional<Duration> fetched{};       ///< an event
  std::optional<Duration> acknowledged{};  ///< an event
  std::string result{};                    ///< a call: "0", "-1 ECONNREFUSED"
  std::string status{};                    ///< an event: a number; a completion: IBV_WC_...
  std::string purpose{};                   ///< a wait
  std::string effect{};                    ///< a fault
  std::vector<std::size_t> strikes{};      ///< records; of a fault
  std::string stream{};                    ///< a note that a program wrote: "out", "err"
  std::vector<std::string> stack{};        ///< a finding
  std::string packet{};               ///< a message: both GIDs, and sim/packets/packet_restore.h's
  std::uint16_t udp_source_port = 0;  ///< of the packet
};

/// The record that a user should look at first.
struct Moment {
  Duration time{};
  std::size_t at = 0;  ///< a record
  std::string why;
  std::optional<std::size_t> cause{};  ///< the record that a hanging thread waits for
};

/// The clock of a recording of a process in real time.
inline constexpr std::string_view kRealClock = "real";
/// The fate of a message whose receiver does not record, or is not in the recording.
inline constexpr std::string_view kUnseen = "not seen to arrive";

/// The content of a recording.
struct Story {
  std::string clock = "virtual";
  std::string seed{};
  std::vector<std::string> plan{};
  std::vector<std::string> faults{};  ///< the result of each
  std::string hash{};                 ///< 16 hexadecimal digits; empty: cut off before
  std::string command{};
  std::string program{};
  std::string build{};
  std::string began{};
  std::string verdict{};  ///< "cut off" when the recording ends without an end
  std::vector<Moment> moments{};
  std::vector<Lane> lanes{};  ///< parents first
  std::vector<Record> records{};
  bool truncated = false;

  /// The host's lane that a lane is in, or itself.
  [[nodiscard]] std::size_t host_of(std::size_t lane) const;
};

/// The result of tell(): a recording, or the reason why there is none.
struct Told {
  std::optional<Story> story{};
  std::string problem{};  ///< why there is none: a sentence without full stop
};
/// Reads a recording.
[[nodiscard]] Told tell(std::span<const std::uint8_t> file);

}  // namespace anyrdma::recording
