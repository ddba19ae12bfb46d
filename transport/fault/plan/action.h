// The actions of faults, one struct for each. transport/fault/plan/part.h describes the members of
// such a struct.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/plan/part.h"
#include "verbs/time.h"

namespace anyrdma::fault {

// --- to a packet (OnMessage, OnPacket) ----------------------------------------------------------

/// The packet is lost.
struct LoseMessage {
  static constexpr std::string_view kKind = "lose";
  static constexpr Victim kVictim = Victim::kPacket;

  static void visit(auto&, auto&) {}
  bool operator==(const LoseMessage&) const = default;
};

/// The packet arrives later than the link's latency says. Packets that are sent after it may
/// overtake it.
struct DelayMessage {
  static constexpr std::string_view kKind = "delay";
  static constexpr Victim kVictim = Victim::kPacket;
  verbs::Duration by{};

  static void visit(auto& visitor, auto& delay) { visitor.scalar("by", delay.by); }
  bool operator==(const DelayMessage&) const = default;
};

/// The packet arrives twice.
struct DuplicateMessage {
  static constexpr std::string_view kKind = "duplicate";
  static constexpr Victim kVictim = Victim::kPacket;

  static void visit(auto&, auto&) {}
  bool operator==(const DuplicateMessage&) const = default;
};

/// One bit of the packet is flipped, so that the receiver drops the packet because of its ICRC.
struct CorruptMessage {
  static constexpr std::string_view kKind = "corrupt";
  static constexpr Victim kVictim = Victim::kPacket;

  static void visit(auto&, auto&) {}
  bool operator==(const CorruptMessage&) const = default;
};

/// The packet changes places with the next packet in its direction, if the next one follows soon.
struct ReorderMessage {
  static constexpr std::string_view kKind = "reorder";
  static constexpr Victim kVictim = Victim::kPacket;

  static void visit(auto&, auto&) {}
  bool operator==(const ReorderMessage&) const = default;
};

/// A field of the CM message gets another value. The message is otherwise valid, as if another RDMA
/// stack, or one with a bug, had sent it. If the field has more than 64 bits, the last 64 are set.
struct AlterMessage {
  static constexpr std::string_view kKind = "alter";
  static constexpr Victim kVictim = Victim::kPacket;
  FieldName field{};
  std::uint64_t value = 0;

  static void visit(auto& visitor, auto& alter) {
    visitor.scalar("field", alter.field);
    visitor.scalar("value", alter.value);
  }
  bool operator==(const AlterMessage&) const = default;
};

// --- to a connection request (OnRequest) --------------------------------------------------------

/// The host's CM answers the request with REJ.
struct RejectRequest {
  static constexpr std::string_view kKind = "reject";
  static constexpr Victim kVictim = Victim::kRequest;
  /// Reject reason of the IBTA specification; 28: consumer defined.
  std::uint8_t reason = 28;
  std::vector<std::uint8_t> data{};  ///< at most 148 bytes

  static void visit(auto& visitor, auto& reject) {
    visitor.scalar("reason", reject.reason);
    visitor.data("data", reject.data);
  }
  bool operator==(const RejectRequest&) const = default;
};

/// The host's CM never answers the request or its retransmissions.
struct IgnoreRequest {
  static constexpr std::string_view kKind = "ignore";
  static constexpr Victim kVictim = Victim::kRequest;

  static void visit(auto&, auto&) {}
  bool operator==(const IgnoreRequest&) const = default;
};

/// The host's CM answers the request with an MRA at once, as for a slow program. The peer then
/// waits for the time in the MRA, and again after each retransmission.
struct PostponeRequest {
  static constexpr std::string_view kKind = "mra";
  static constexpr Victim kVictim = Victim::kRequest;
  std::uint8_t timeout = 20;  ///< time exponent t, at most 31: the time is 4.096 us * 2^t

  static void visit(auto& visitor, auto& postpone) { visitor.scalar("timeout", postpone.timeout); }
  bool operator==(const PostponeRequest&) const = default;
};

/// The host's CM treats the request as one of an existing connection, and sends REJ, reason 10
/// (stale connection).
struct StaleRequest {
  static constexpr std::string_view kKind = "stale";
  static constexpr Victim kVictim = Victim::kRequest;

  static void visit(auto&, auto&) {}
  bool operator==(const StaleRequest&) const = default;
};

/// The listener's backlog counts as full: the request is not answered, and its next retransmission
/// counts as a new request.
struct OverflowBacklog {
  static constexpr std::string_view kKind = "overflow";
  static constexpr Victim kVictim = Victim::kRequest;

  static void visit(auto&, auto&) {}
  bool operator==(const OverflowBacklog&) const = default;
};

// --- to an event (OnQueued) ---------------------------------------------------------------------

/// The event enters its channel after a delay, as if the kernel's work queue were busy. Later
/// events of the same id wait behind the delayed event.
struct HoldEvent {
  static constexpr std::string_view kKind = "hold";
  static constexpr Victim kVictim = Victim::kEvent;
  verbs::Duration by{};

  static void visit(auto& visitor, auto& hold) { visitor.scalar("by", hold.by); }
  bool operator==(const HoldEvent&) const = default;
};

// --- to a device --------------------------------------------------------------------------------

void visit_device(auto& visitor, auto& action) {
  visitor.name("host", action.host);
  visitor.name("device", action.device);
}

/// The device is removed, as if it were unplugged. Its ids get DEVICE_REMOVAL.
struct RemoveDevice {
  static constexpr std::string_view kKind = "remove";
  static constexpr bool kEnds = true;
  std::string host;
  std::string device;

  static void visit(auto& visitor, auto& remove) { visit_device(visitor, remove); }
  bool operator==(const RemoveDevice&) const = default;
};

/// A removed device is plugged in again with the same name, limits and GIDs. The objects that
/// programs had on the device no longer exist.
struct ReturnDevice {
  static constexpr std::string_view kKind = "return";
  std::string host;
  std::string device;
  bool new_guid = false;  ///< true: the device has another GUID, as if it were another card

  static void visit(auto& visitor, auto& plug) {
    visit_device(visitor, plug);
    visitor.option("guid", "new-guid", plug.new_guid);
  }
  bool operator==(const ReturnDevice&) const = default;
};

void visit_port(auto& visitor, auto& action) {
  visitor.name("host", action.host);
  visitor.device_or_port("device", action.device, action.port);
}

/// The device's port loses its link, and the device raises PORT_ERR. Packets that arrive are lost.
struct PortDown {
  static constexpr std::string_view kKind = "port-down";
  static constexpr bool kEnds = true;
  std::string host;
  std::string device;
  std::uint8_t port = 0;  ///< 0: its first one

  static void visit(auto& visitor, auto& port) { visit_port(visitor, port); }
  bool operator==(const PortDown&) const = default;
};

/// The device's port has a link again, and the device raises PORT_ACTIVE.
struct PortUp {
  static constexpr std::string_view kKind = "port-up";
  std::string host;
  std::string device;
  std::uint8_t port = 0;  ///< 0: its first one

  static void visit(auto& visitor, auto& port) { visit_port(visitor, port); }
  bool operator==(const PortUp&) const = default;
};

/// The device's port loses its link for a time, again and again: PORT_ERR and PORT_ACTIVE. Without
/// a duration, the port flaps kFlaps times.
struct FlapPort {
  static constexpr std::string_view kKind = "flap";
  static constexpr bool kEnds = true;
  static constexpr std::uint32_t kFlaps = 10;
  std::string host;
  std::string device;
  verbs::Duration down{};   ///< how long it has no link each time
  verbs::Duration every{};  ///< from one loss to the next, more than `down`
  std::uint8_t port = 0;    ///< as in PortDown

  static void visit(auto& visitor, auto& flap) {
    visit_port(visitor, flap);
    visitor.scalar("down", flap.down);
    visitor.scalar("every", flap.every);
  }
  bool operator==(const FlapPort&) const = default;
};

/// The device raises an asynchronous event, one of kDeviceEvents, and continues to work.
struct RaiseEvent {
  static constexpr std::string_view kKind = "device-event";
  std::string host;
  std::string device;
  std::string event;
  std::uint8_t port = 0;  ///< of which the event is; 0: its first one

  static void visit(auto& visitor, auto& raise) {
    visit_port(visitor, raise);
    visitor.one_of("event", raise.event, kDeviceEvents);
  }
  bool operator==(const RaiseEvent&) const = default;
};

// --- to the resolution of an address (OnResolving) ----------------------------------------------

/// The resolution of the address fails: the id gets ADDR_ERROR.
struct FailResolving {
  static constexpr std::string_view kKind = "unresolved";
  static constexpr Victim kVictim = Victim::kQuery;
  std::string error;  ///< one of kResolvingErrors

  static void visit(auto& visitor, auto& fail) {
    visitor.one_of("error", fail.error, kResolvingErrors);
  }
  bool operator==(const FailResolving&) const = default;
};

// --- to the resolution of a route (OnRouting) ---------------------------------------------------

/// The resolution of a route fails with ROUTE_ERROR, as if a subnet administrator refused it or did
/// not answer. The error ETIMEDOUT comes after the program's timeout, any other error at once.
struct FailRouting {
  static constexpr std::string_view kKind = "unrouted";
  static constexpr Victim kVictim = Victim::kRoute;
  std::string error;  ///< one of kRoutingErrors

  static void visit(auto& visitor, auto& fail) {
    visitor.one_of("error", fail.error, kRoutingErrors);
  }
  bool operator==(const FailRouting&) const = default;
};

void visit_address(auto& visitor, auto& action) {
  visitor.name("host", action.host);
  visitor.name("interface", action.interface);
  visitor.name("address", action.address);
}

// --- to a host ----------------------------------------------------------------------------------

/// The host loses power: its programs never continue, the host sends nothing more, and its state is
/// lost.
struct CrashHost {
  static constexpr std::string_view kKind = "crash";
  static constexpr bool kEnds = true;
  std::string host;

  static void visit(auto& visitor, auto& crash) { visitor.name("host", crash.host); }
  bool operator==(const CrashHost&) const = default;
};

/// Kills the programs of a host. The host keeps running: its kernel disconnects the peers and
/// rejects requests that were not accepted. If a program's name is given, kills only the n-th
/// program that was started on the host under that name.
struct KillPrograms {
  static constexpr std::string_view kKind = "kill";
  std::string host;
  std::string program{};     ///< empty: all programs
  std::uint32_t number = 1;  ///< 1: the first one that was started under that name

  static void visit(auto& visitor, auto& kill) {
    visitor.host_or_program("host", kill.host, kill.program, kill.number);
  }
  bool operator==(const KillPrograms&) const = default;
};

/// Starts the host with an empty state, and starts its programs again. A host that runs crashes
/// first.
struct RestartHost {
  static constexpr std::string_view kKind = "restart";
  std::string host;

  static void visit(auto& visitor, auto& restart) { visitor.name("host", restart.host); }
  bool operator==(const RestartHost&) const = default;
};

/// Stops the host until ResumeHost, like a paused virtual machine; packets to it wait or are lost.
/// If a program's name is given, stops only that program, as SIGSTOP does, or one thread of it. The
/// host and its device then continue.
struct PauseHost {
  static constexpr std::string_view kKind = "pause";
  static constexpr bool kEnds = true;
  std::string host;
  std::string program{};     ///< empty: the host
  std::uint32_t number = 1;  ///< 1: the first one that was started under that name
  std::uint32_t thread = 0;  ///< number of the thread in the trace, counted from 1; 0: all threads

  static void visit(auto& visitor, auto& pause) {
    visitor.host_or_thread("host", pause.host, pause.program, pause.number, pause.thread);
  }
  bool operator==(const PauseHost&) const = default;
};

/// A paused host continues. With a program's name, as in PauseHost, all paused threads of that
/// program continue.
struct ResumeHost {
  static constexpr std::string_view kKind = "resume";
  std::string host;
  std::string program{};
  std::uint32_t number = 1;
  std::uint32_t thread = 0;

  static void visit(auto& visitor, auto& resume) {
    visitor.host_or_thread("host", resume.host, resume.program, resume.number, resume.thread);
  }
  bool operator==(const ResumeHost&) const = default;
};

/// The host's clock and all its timers run faster than virtual time by this many millionths.
/// Negative: slower.
struct DriftClock {
  static constexpr std::string_view kKind = "drift";
  static constexpr bool kEnds = true;
  std::string host;
  std::int32_t ppm = 0;  ///< difference in millionths, from -100,000 to 100,000

  static void visit(auto& visitor, auto& drift) {
    visitor.name("host", drift.host);
    visitor.scalar("ppm", drift.ppm);
  }
  bool operator==(const DriftClock&) const = default;
};

/// Adds an address with a prefix length to an interface of a host, and its GID to the interface's
/// device.
struct AddAddress {
  static constexpr std::string_view kKind = "add-address";
  static constexpr bool kEnds = true;
  std::string host;
  std::string interface;
  std::string address;

  static void visit(auto& visitor, auto& add) { visit_address(visitor, add); }
  bool operator==(const AddAddress&) const = default;
};

/// Removes an address from an interface of a host, and its GID from the interface's device.
struct DropAddress {
  static constexpr std::string_view kKind = "drop-address";
  std::string host;
  std::string interface;
  std::string address;

  static void visit(auto& visitor, auto& drop) { visit_address(visitor, drop); }
  bool operator==(const DropAddress&) const = default;
};

/// A multicast group ends: the ids of the host that have joined the group get MULTICAST_ERROR.
struct LoseGroup {
  static constexpr std::string_view kKind = "lose-group";
  std::string host;
  std::string address;

  static void visit(auto& visitor, auto& lose) {
    visitor.name("host", lose.host);
    visitor.name("address", lose.address);
  }
  bool operator==(const LoseGroup&) const = default;
};

// --- to a network -------------------------------------------------------------------------------

/// The bonded interface fails over to its next link, which has another link address. Ids on the
/// interface that know another link address get ADDR_CHANGE. Active ids of its neighbours get
/// UNREACHABLE.
struct ChangeAddress {
  static constexpr std::string_view kKind = "fail-over";
  static constexpr bool kEnds = true;
  std::string host;
  std::string interface;

  static void visit(auto& visitor, auto& change) {
    visitor.name("host", change.host);
    visitor.name("interface", change.interface);
  }
  bool operator==(const ChangeAddress&) const = default;
};

/// The bonded interface returns to its first link, with the events of ChangeAddress. Ids that know
/// the link address of the first link get no event.
struct RestoreAddress {
  static constexpr std::string_view kKind = "fail-back";
  std::string host;
  std::string interface;

  static void visit(auto& visitor, auto& restore) {
    visitor.name("host", restore.host);
    visitor.name("interface", restore.interface);
  }
  bool operator==(const RestoreAddress&) const = default;
};

void visit_interface(auto& visitor, auto& action) {
  visitor.name("host", action.host);
  visitor.name("interface", action.interface);
}

/// One interface of a host loses all packets in both directions, and neighbours on it cannot be
/// resolved, until MendRail. The port's link stays up, so no event is raised.
struct CutRail {
  static constexpr std::string_view kKind = "cut-rail";
  static constexpr bool kEnds = true;
  std::string host;
  std::string interface;

  static void visit(auto& visitor, auto& cut) { visit_interface(visitor, cut); }
  bool operator==(const CutRail&) const = default;
};

/// Ends the effect of CutRail: the interface carries packets again.
struct MendRail {
  static constexpr std::string_view kKind = "mend-rail";
  std::string host;
  std::string interface;

  static void visit(auto& visitor, auto& mend) { visit_interface(visitor, mend); }
  bool operator==(const MendRail&) const = default;
};

/// All packets that an interface of a host sends or receives take that much longer; 0: no longer.
struct SlowRail {
  static constexpr std::string_view kKind = "slow-rail";
  static constexpr bool kEnds = true;
  std::string host;
  std::string interface;
  verbs::Duration delay{};

  static void visit(auto& visitor, auto& slow) {
    visit_interface(visitor, slow);
    visitor.scalar("delay", slow.delay);
  }
  bool operator==(const SlowRail&) const = default;
};

void visit_neighbour(auto& visitor, auto& action) {
  visitor.name("host", action.host);
  visitor.name("address", action.address);
}

/// The host resolves a neighbour again. Active ids that know another link address of the neighbour
/// get UNREACHABLE once more.
struct ConfirmNeighbour {
  static constexpr std::string_view kKind = "confirm-neighbour";
  std::string host;
  std::string address;

  static void visit(auto& visitor, auto& confirm) { visit_neighbour(visitor, confirm); }
  bool operator==(const ConfirmNeighbour&) const = default;
};

/// The host removes a neighbour from its table, with the events of ConfirmNeighbour. The next
/// resolution of the neighbour's address then asks the network for its link address.
struct ForgetNeighbour {
  static constexpr std::string_view kKind = "forget-neighbour";
  std::string host;
  std::string address;

  static void visit(auto& visitor, auto& forget) { visit_neighbour(visitor, forget); }
  bool operator==(const ForgetNeighbour&) const = default;
};

void visit_path(auto& visitor, auto& action) {
  visitor.path("path", action.from, action.to, action.both);
}

/// All packets from one host to another are lost, and neighbours cannot be resolved in that
/// direction, until MendPath. An empty name means all hosts that exist at that time; `both` means
/// both directions.
struct CutPath {
  static constexpr std::string_view kKind = "cut";
  static constexpr bool kEnds = true;
  std::string from;
  std::string to;
  bool both = false;

  static void visit(auto& visitor, auto& cut) { visit_path(visitor, cut); }
  bool operator==(const CutPath&) const = default;
};

/// Packets from one host to another wait, and neighbours cannot be resolved in that direction,
/// until MendPath delivers the packets at once. An empty name means all hosts, as in CutPath.
struct ClogPath {
  static constexpr std::string_view kKind = "clog";
  static constexpr bool kEnds = true;
  std::string from;
  std::string to;
  bool both = false;

  static void visit(auto& visitor, auto& clog) { visit_path(visitor, clog); }
  bool operator==(const ClogPath&) const = default;
};

/// Ends the effects of CutPath, ClogPath, LinkOptions::down and LinkOptions::clogged between the
/// named hosts.
struct MendPath {
  static constexpr std::string_view kKind = "mend";
  std::string from;
  std::string to;
  bool both = false;

  static void visit(auto& visitor, auto& mend) { visit_path(visitor, mend); }
  bool operator==(const MendPath&) const = default;
};

/// Sets the latency of the path from one host to another. An empty name means all hosts, as in
/// CutPath.
struct SlowPath {
  static constexpr std::string_view kKind = "slow";
  static constexpr bool kEnds = true;
  std::string from;
  std::string to;
  bool both = false;
  verbs::Duration latency{};

  static void visit(auto& visitor, auto& slow) {
    visit_path(visitor, slow);
    visitor.scalar("latency", slow.latency);
  }
  bool operator==(const SlowPath&) const = default;
};

}  // namespace anyrdma::fault
