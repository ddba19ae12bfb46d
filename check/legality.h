// Checks the sequence of events of each id with two state machines: one for connections, one for
// datagrams. Their input is the successful calls and the events. They share no code with cm and the
// transports. No kernel has shown a sequence that they reject; docs/legality.md has the table.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/transport.h"

namespace anyrdma::check {

/// The phase of an id, as its calls and events show it.
enum class Phase : std::uint8_t {
  kIdle,           ///< created, bound, or an address could not be resolved
  kAddrQuery,      ///< resolve_addr has been called
  kAddrResolved,   ///< ADDR_RESOLVED came
  kRouteQuery,     ///< resolve_route, or a path was set
  kRouteResolved,  ///< ROUTE_RESOLVED came
  kListening,
  kConnecting,    ///< connect has been called
  kUnreached,     ///< UNREACHABLE came meanwhile: the end, or the neighbour has only moved
  kResponded,     ///< the active side's handshake has been answered
  kRequested,     ///< the passive side's id, not accepted yet
  kAccepted,      ///< accept has been called
  kEstablished,   ///< the passive side heard RTU
  kRefused,       ///< the handshake or the connection has been rejected or given up
  kDisconnected,  ///< DISCONNECTED came
  kOver,          ///< TIMEWAIT_EXIT came
  kAsking,        ///< of a datagram service: connect has been called
  kUnanswered,    ///< as kUnreached
  kAnswered,      ///< ESTABLISHED came
  kServing,       ///< accept has been called: nothing follows
  kRemoved,       ///< DEVICE_REMOVAL came
  kDestroyed,
};
inline constexpr std::size_t kPhaseCount = 21;
[[nodiscard]] std::string_view to_string(Phase phase);

/// The service of an id. Each has its own state machine; address resolution is the same in both.
enum class Service : std::uint8_t {
  kAny,
  kConnected,  ///< RC: REQ, REP, RTU
  kDatagram,   ///< UD: SIDR_REQ, SIDR_REP
};

/// The side of a connection to which a rule applies.
enum class Side : std::uint8_t { kAny, kActive, kPassive };

/// A legal step: this event may be queued in phase `from`. All other events are illegal.
struct LegalEvent {
  Phase from;
  rdma_cm_event_type event;
  Phase next;
  Service service;
  Side side;
  std::string_view source;  ///< where the kernel does it, or the issue where it was seen
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

/// The ids of all hosts of one run. Keeps a line for each violation.
class Legality {
 public:
  void on_call(std::string_view host, std::uint64_t id, std::string_view call, int error);
  void on_event(std::string_view host, transport::EventObserver::Step step, std::uint64_t id,
                std::uint64_t listener, rdma_cm_event_type event,
                Service service = Service::kConnected);
  /// A host has lost power: its ids end without a call or an event.
  void on_crash(std::string_view host);
  /// Call when no event is pending: an id that waits for the event of a call violates the rules.
  void on_rest();
  /// The run is over: ids that are not destroyed are leaks.
  void on_end();

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Life {
    Phase phase = Phase::kIdle;
    Service service = Service::kConnected;   ///< as its last event said
    Side side = Side::kAny;                  ///< kAny: not decided yet
    bool joined = false;                     ///< has joined a group
    bool connected = false;                  ///< the handshake is over at this end
    bool parted = false;                     ///< and then disconnect was called
    bool missed = false;                     ///< reported at rest already
    std::vector<rdma_cm_event_type> queued;  ///< not fetched
  };
  void on_queued(std::string_view host, std::uint64_t id, Life& life, rdma_cm_event_type event);
  void on_fetched(std::string_view host, std::uint64_t id, Life& life, rdma_cm_event_type event);
  void on_request(std::string_view host, std::uint64_t id, std::uint64_t listener);
  [[nodiscard]] static std::string_view awaited_by(const Life& life);
  [[nodiscard]] Life& life_of(std::string_view host, std::uint64_t id);
  void violation(std::string_view host, std::uint64_t id, std::string text);

  std::map<std::pair<std::string, std::uint64_t>, Life, std::less<>> lives_;
  std::vector<std::string> violations_;
};

}  // namespace anyrdma::check
