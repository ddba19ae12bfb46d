// The checker of the sequence of events of each id. It has two state machines, one for connections
// and one for datagram services. Their input is successful calls and events; they share no code
// with cm and the transports. No Linux kernel has shown a sequence that they reject.
// docs/legality.md shows their tables.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "check/number_set.h"
#include "transport/transport.h"

namespace anyrdma::check {

/// The phase of an id, which the checker derives from the id's calls and events.
enum class Phase : std::uint8_t {
  kIdle,           ///< the id was created or bound, or its address could not be resolved
  kAddrQuery,      ///< resolve_addr has been called
  kAddrResolved,   ///< ADDR_RESOLVED came
  kRouteQuery,     ///< resolve_route was called, or a path was set
  kRouteResolved,  ///< ROUTE_RESOLVED came
  kListening,
  kConnecting,  ///< connect was called

  /// UNREACHABLE came while connecting: the attempt has ended, or only a neighbour has moved.
  kUnreached,
  kResponded,     ///< the active side has received an answer to its request
  kRequested,     ///< the passive side's id has not been accepted yet
  kAccepted,      ///< accept has been called
  kEstablished,   ///< the passive side has received the RTU
  kRefused,       ///< the handshake or the connection was rejected or given up
  kDisconnected,  ///< DISCONNECTED came
  kOver,          ///< TIMEWAIT_EXIT came
  kAsking,        ///< datagram service: connect was called
  kUnanswered,    ///< datagram service: UNREACHABLE came, as for kUnreached
  kAnswered,      ///< ESTABLISHED came
  kServing,       ///< datagram service: accept was called, and no event follows
  kRemoved,       ///< DEVICE_REMOVAL came
  kDestroyed,
};
inline constexpr std::size_t kPhaseCount = 21;
[[nodiscard]] std::string_view to_string(Phase phase);

/// The kind of connection that an id has: a connected or a datagram service. Each has its own state
/// machine. Address resolution is equal in both.
enum class Service : std::uint8_t {
  kAny,
  kConnected,  ///< RC: REQ, REP, RTU
  kDatagram,   ///< UD: SIDR_REQ, SIDR_REP
};

/// The side of a connection to which a rule applies.
enum class Side : std::uint8_t { kAny, kActive, kPassive };

/// A legal step of an id: the event may be queued while the id is in phase `from`. Every event
/// without such a row is illegal.
struct LegalEvent {
  Phase from;
  rdma_cm_event_type event;
  Phase next;
  Service service;
  Side side;
  std::string_view source;  ///< the kernel function that does so, or the issue in which it was seen
};
[[nodiscard]] std::span<const LegalEvent> legal_events();

/// The phase of an id after a successful call.
struct CallEffect {
  std::string_view call;
  Phase next;
  Service service;
};
[[nodiscard]] std::span<const CallEffect> call_effects();

/// Returns the tables of docs/legality.md: the rules for both services, or for one of them.
[[nodiscard]] std::string legality_tables(Service service);

/// Checks the events of all ids of all hosts of one run. Each violation becomes one line.
class Legality {
 public:
  void on_call(std::string_view host, std::uint64_t id, std::string_view call, int error);
  void on_event(std::string_view host, transport::EventObserver::Step step, std::uint64_t id,
                std::uint64_t listener, rdma_cm_event_type event,
                Service service = Service::kConnected);
  /// Call when a host has lost power. Its ids end without a call or an event.
  void on_crash(std::string_view host);
  /// Call when no event is pending. An id that still waits for the event of a call is then a
  /// violation.
  void on_rest();
  /// Call when the run is over. Ids that are not destroyed are then leaks.
  void on_end();

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Life {
    Phase phase = Phase::kIdle;
    Service service = Service::kConnected;   ///< the service that the id's last event named
    Side side = Side::kAny;                  ///< kAny: not decided yet
    bool joined = false;                     ///< has joined a group
    bool connected = false;                  ///< the handshake is over at this end
    bool parted = false;                     ///< disconnect was called after the handshake
    bool missed = false;                     ///< the missing event was reported already
    std::vector<rdma_cm_event_type> queued;  ///< events that were queued and not fetched
  };
  void on_queued(std::string_view host, std::uint64_t id, Life& life, rdma_cm_event_type event);
  void on_fetched(std::string_view host, std::uint64_t id, Life& life, rdma_cm_event_type event);
  void on_request(std::string_view host, std::uint64_t id, std::uint64_t listener);
  [[nodiscard]] static std::string_view awaited_by(const Life& life);
  [[nodiscard]] Life& life_of(std::string_view host, std::uint64_t id);
  void forget(std::string_view host, std::uint64_t id);
  /// Calls `body` with each id that is not destroyed, in order.
  void for_each(const std::function<void(const std::string&, std::uint64_t, Life&)>& body);
  void violation(std::string_view host, std::uint64_t id, std::string text);

  /// The ids of one host. Destroyed ids are kept as numbers alone.
  struct Lives {
    std::unordered_map<std::uint64_t, Life> known;
    NumberSet destroyed;
  };
  std::map<std::string, Lives, std::less<>> hosts_;
  std::vector<std::string> violations_;
};

}  // namespace anyrdma::check
