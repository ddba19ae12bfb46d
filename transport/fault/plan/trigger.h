// The triggers of faults, one struct for each. transport/fault/plan/part.h describes the members of
// such a struct.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/fault/plan/part.h"
#include "verbs/time.h"

namespace anyrdma::fault {

/// The fault happens at this virtual time, counted from the beginning of the run.
struct AtTime {
  static constexpr std::string_view kKind = "time";
  verbs::Duration time{};

  static void visit(auto& visitor, auto& at) { visitor.scalar("time", at.time); }
  bool operator==(const AtTime&) const = default;
};

/// The fault happens at a random instant of a time window, uniformly distributed. resolved() draws
/// it (drawn.h).
struct BetweenTimes {
  static constexpr std::string_view kKind = "between";
  verbs::Duration from{};
  verbs::Duration to{};  ///< end of the window, later than `from` and not part of the window

  static void visit(auto& visitor, auto& between) {
    visitor.scalar("from", between.from);
    visitor.scalar("to", between.to);
  }
  bool operator==(const BetweenTimes&) const = default;
};

// --- the wire -----------------------------------------------------------------------------------

/// The fault happens when a host sends its n-th CM message of a kind to another host. An empty name
/// means any host.
struct OnMessage {
  static constexpr std::string_view kKind = "message";
  static constexpr Victim kVictim = Victim::kPacket;
  std::string from;
  std::string to;
  CmMessage message = CmMessage::kReq;
  Occurrence occurrence{};
  /// The interfaces that send and receive it; empty: any.
  std::string from_interface{};
  std::string to_interface{};

  static void visit(auto& visitor, auto& on) {
    visitor.rails("path", on.from, on.from_interface, on.to, on.to_interface);
    visitor.scalar("message", on.message);
    visitor.scalar("occurrence", on.occurrence);
  }
  bool operator==(const OnMessage&) const = default;
};

/// The fault happens when a host sends its n-th packet of any kind, CM messages included, to
/// another host.
struct OnPacket {
  static constexpr std::string_view kKind = "packet";
  static constexpr Victim kVictim = Victim::kPacket;
  std::string from;
  std::string to;
  Occurrence occurrence{};
  std::string from_interface{};  ///< as in OnMessage
  std::string to_interface{};

  static void visit(auto& visitor, auto& on) {
    visitor.rails("path", on.from, on.from_interface, on.to, on.to_interface);
    visitor.scalar("occurrence", on.occurrence);
  }
  bool operator==(const OnPacket&) const = default;
};

// --- the connection manager ---------------------------------------------------------------------

/// The fault happens when the n-th connection request arrives at a listener of a host.
struct OnRequest {
  static constexpr std::string_view kKind = "request";
  static constexpr Victim kVictim = Victim::kRequest;
  std::string host;
  Occurrence occurrence{};

  static void visit(auto& visitor, auto& on) {
    visitor.any_host("host", on.host);
    visitor.scalar("occurrence", on.occurrence);
  }
  bool operator==(const OnRequest&) const = default;
};

/// The fault happens when a program on a host resolves an address for the n-th time.
struct OnResolving {
  static constexpr std::string_view kKind = "resolving";
  static constexpr Victim kVictim = Victim::kQuery;
  std::string host;
  Occurrence occurrence{};

  static void visit(auto& visitor, auto& on) {
    visitor.any_host("host", on.host);
    visitor.scalar("occurrence", on.occurrence);
  }
  bool operator==(const OnResolving&) const = default;
};

/// The fault happens when a program on a host resolves a route for the n-th time.
struct OnRouting {
  static constexpr std::string_view kKind = "routing";
  static constexpr Victim kVictim = Victim::kRoute;
  std::string host;
  Occurrence occurrence{};

  static void visit(auto& visitor, auto& on) {
    visitor.any_host("host", on.host);
    visitor.scalar("occurrence", on.occurrence);
  }
  bool operator==(const OnRouting&) const = default;
};

/// The fault happens when an id enters a state, such as "CONNECT" (kStateNames), for the n-th time.
/// `id` is as in OnQueued.
struct OnState {
  static constexpr std::string_view kKind = "state";
  std::string host;
  std::uint64_t id = 0;
  std::string state;
  Occurrence occurrence{};

  static void visit(auto& visitor, auto& on) {
    visitor.host_or_id("host", on.host, on.id);
    visitor.one_of("state", on.state, kStateNames);
    visitor.scalar("occurrence", on.occurrence);
  }
  bool operator==(const OnState&) const = default;
};

void visit_event(auto& visitor, auto& on) {
  visitor.host_or_id("host", on.host, on.id);
  visitor.scalar("event", on.event);
  visitor.scalar("occurrence", on.occurrence);
}

/// The fault happens when the n-th CM event of a type enters its channel on a host. `id` is the
/// id's number in the trace; 0: any id.
struct OnQueued {
  static constexpr std::string_view kKind = "queued";
  static constexpr Victim kVictim = Victim::kEvent;
  std::string host;
  std::uint64_t id = 0;
  rdma_cm_event_type event = RDMA_CM_EVENT_ESTABLISHED;
  Occurrence occurrence{};

  static void visit(auto& visitor, auto& on) { visit_event(visitor, on); }
  bool operator==(const OnQueued&) const = default;
};

/// The fault happens when the application fetches the n-th CM event of a type. `id` is as in
/// OnQueued.
struct OnFetched {
  static constexpr std::string_view kKind = "fetched";
  std::string host;
  std::uint64_t id = 0;
  rdma_cm_event_type event = RDMA_CM_EVENT_ESTABLISHED;
  Occurrence occurrence{};

  static void visit(auto& visitor, auto& on) { visit_event(visitor, on); }
  bool operator==(const OnFetched&) const = default;
};

}  // namespace anyrdma::fault
