// The trace of a run: packets put on the wire, drops with their reasons, CM events, faults, output
// and ends of programs, and scheduling choices, in order. The trace contains no address, process id
// or wall-clock time, so that equal runs have equal traces on every machine.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recording/packets/fields.h"
#include "sim/trace/tracing.h"
#include "transport/ibcm/agent.h"
#include "transport/transport.h"
#include "verbs/soft/packet.h"
#include "verbs/time.h"

namespace anyrdma::sim {

using verbs::Instant;

/// Names a host in a trace.
enum class HostIndex : std::uint16_t {};
inline constexpr HostIndex kNoHost{0xffff};

enum class RecordKind : std::uint8_t {
  kSend,         ///< a host put a packet on the wire
  kDrop,         ///< a packet was lost in the network, or dropped by the receiving device
  kDropMessage,  ///< the CM ignored a message
  kQueued,       ///< a CM event entered its channel
  kFetched,      ///< the application took a CM event
  kFault,        ///< a fault of the plan fired
  kNote,         ///< a line of the test or of a program's output, or the end of a program
  kChoice,       ///< the schedule did not choose the first ready candidate
};

/// Why a packet ended before the application could notice it.
enum class DropCause : std::uint8_t {
  kLoss,   ///< the link's loss probability
  kFault,  ///< a fault of the plan
  kLinkDown,
  kNoSuchAddress,  ///< no host has the destination address
  kNoDevice,       ///< the interface has no RDMA device, or no longer
  kMalformed,      ///< from here on: the receiving device's counters
  kUnknownQp,
  kBadIcrc,
  kWrongState,
  kBadQueueKey,
  kNoReceive,
  kUnknownGroup,
  kHostStopped,  ///< the host is off, or it is paused and its queue is full
};
[[nodiscard]] std::string_view to_string(DropCause cause);

/// One record of a trace. Its fields are bytes in a form that only the files of this folder read.
struct TraceRecord {
  Instant time{};
  RecordKind kind{};
  HostIndex host = kNoHost;
  HostIndex peer = kNoHost;
  std::span<const std::uint8_t> fields{};
};

/// Owned by the World. Not thread-safe.
class Trace {
 public:
  explicit Trace(Tracing tracing) : tracing_(tracing) {}

  [[nodiscard]] bool on() const { return tracing_ != Tracing::kOff; }
  /// Returns the hash of all records so far. Equal runs have the same hash on every compiler and
  /// machine.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// The i-th record. Precondition: Tracing::kKeep.
  [[nodiscard]] TraceRecord record(std::size_t i) const;
  /// A record as one line without a newline.
  [[nodiscard]] std::string line(std::size_t i) const;
  /// All lines. Empty unless Tracing::kKeep.
  [[nodiscard]] std::string text() const;

  // --- for the simulator; each does nothing when tracing is off ---------------------------------
  [[nodiscard]] HostIndex add_host(std::string_view name);
  [[nodiscard]] std::string_view name_of(HostIndex host) const;
  void send(Instant now, HostIndex from, HostIndex to, const recording::FieldWriter& fields);
  /// Records a lost packet. `fields`: the encoded packet, since the packet may be destroyed already
  /// when its loss is known.
  void drop(Instant now, HostIndex at, HostIndex peer, DropCause cause,
            recording::FieldWriter& fields);
  void drop_message(Instant now, HostIndex at, ibcm::DropReason reason, std::uint16_t attribute);
  void event(Instant now, HostIndex at, transport::EventObserver::Step step, std::uint64_t id,
             std::uint64_t listener, const rdma_cm_event& event);
  void fault(Instant now, std::string_view text);
  void note(Instant now, HostIndex at, std::string_view text);
  /// Records a choice at a scheduling point. `choice`: the number of candidates that were ready
  /// before the chosen one.
  void choice(Instant now, std::uint64_t point, std::uint32_t choice);

 private:
  struct Name {
    std::string text;
    std::uint64_t hash;
  };
  struct Stored {
    Instant time;
    std::size_t begin;
    std::uint32_t size;
    RecordKind kind;
    HostIndex host;
    HostIndex peer;
  };
  void add(Instant now, RecordKind kind, HostIndex host, HostIndex peer,
           std::span<const std::uint8_t> fields);
  [[nodiscard]] std::uint64_t hash_of(HostIndex host) const;

  Tracing tracing_;
  std::uint64_t hash_ = 0;
  std::size_t count_ = 0;
  std::vector<Name> names_;
  std::vector<Stored> stored_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace anyrdma::sim
