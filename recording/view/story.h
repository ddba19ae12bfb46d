// A recording for display: lanes (timeline rows) with records in the order of time. A record also
// has what later entries added, such as the arrival of a message. docs/recording.md explains each
// member.
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

/// A timeline row: that of a host, a process, a thread, a device, a queue pair or an id.
struct Lane {
  std::string of;  ///< kind of the lane: host, process, thread, device, qp, id
  std::string name;
  std::optional<std::size_t> in{};  ///< lane that contains this one; it comes before this one
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

/// A record: a message, a call, an event, a wait or the like. Members that its kind does not have
/// are empty.
struct Record {
  Duration time{};
  std::size_t lane = 0;
  RecordKind kind{};
  std::string name{};
  std::vector<std::size_t> about{};  ///< lanes of the ids and queue pairs that the record is about
  Fields fields{};
  std::optional<std::size_t> to{};       ///< lane of a message's receiver
  std::optional<Duration> arrives{};     ///< arrival of a message; none: it never arrives
  std::string fate{};                    ///< reason why a message does not arrive
  std::optional<std::size_t> same{};     ///< the earlier record that this message repeats
  std::optional<std::uint64_t> bytes{};  ///< of a message's payload
  std::optional<std::uint64_t> psn{};
  std::optional<Duration> ends{};          ///< end of a call or a wait; none: it never ends
  std::optional<Duration> fetched{};       ///< time at which an event was fetched
  std::optional<Duration> acknowledged{};  ///< time at which an event was acknowledged
  std::string result{};                    ///< result of a call: "0", "-1 ECONNREFUSED"

  /// Status of an event: a number; of a completion: IBV_WC_...
  std::string status{};
  std::string purpose{};               ///< purpose of a wait
  std::string effect{};                ///< effect of a fault
  std::vector<std::size_t> strikes{};  ///< the records that a fault affected
  std::string stream{};                ///< a note that a program wrote: "out", "err"
  std::vector<std::string> stack{};    ///< the stack of a finding
  std::string packet{};                ///< both GIDs, and what restore_packet() reads
  std::uint16_t udp_source_port = 0;   ///< of the packet
};

/// The record that a user should look at first.
struct Moment {
  Duration time{};
  std::size_t at = 0;  ///< a record
  std::string why;
  std::optional<std::size_t> cause{};  ///< the record that a hanging thread waits for
};

/// The value of the clock of a recording of a process in real time.
inline constexpr std::string_view kRealClock = "real";
/// The fate of a message whose receiver made no recording, or whose receiver's recording was not
/// given.
inline constexpr std::string_view kUnseen = "not seen to arrive";

/// The content of a recording.
struct Story {
  std::string clock = "virtual";
  std::string seed{};
  std::vector<std::string> plan{};
  std::vector<std::string> faults{};  ///< the result of each fault of the plan

  /// 16 hexadecimal digits; empty: the recording was cut off before.
  std::string hash{};
  std::string command{};
  std::string program{};
  std::string build{};
  std::string began{};
  std::string verdict{};  ///< "cut off" if the recording has no end entry
  std::vector<Moment> moments{};
  std::vector<Lane> lanes{};  ///< lanes; each comes after the lane that contains it
  std::vector<Record> records{};
  bool truncated = false;

  /// Returns the lane of the host that contains a lane; for a host's lane, the lane itself.
  [[nodiscard]] std::size_t host_of(std::size_t lane) const;
};

/// The result of tell(): a recording, or the reason why there is none.
struct Told {
  std::optional<Story> story{};
  std::string problem{};  ///< why the file is no recording: a sentence without full stop
};
/// Reads a recording.
[[nodiscard]] Told tell(std::span<const std::uint8_t> file);

}  // namespace anyrdma::recording
