// The actions of faults. part.h describes the members of such a struct.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/plan/part.h"
#include "verbs/time.h"

namespace anyrdma::fault {

// --- to a packet (OnMessage, OnPacket) ----------------------------------------------------------

/// It does not arrive.
struct LoseMessage {
  static constexpr std::string_view kKind = "lose";
  static constexpr Victim kVictim = Victim::kPacket;

  static void visit(auto&, auto&) {}
  bool operator==(const LoseMessage&) const = default;
};

/// The packet arrives later than the link's latency says; packets sent after it overtake it.
struct DelayMessage {
  static constexpr std::string_view kKind = "delay";
  static constexpr Victim kVictim = Victim::kPacket;
  verbs::Duration by{};

  static void visit(auto& visitor, auto& delay) { visitor.scalar("by", delay.by); }
  bool operator==(const DelayMessage&) const = default;
};

/// It arrives twice.
struct DuplicateMessage {
  static constexpr std::string_view kKind = "duplicate";
  static constexpr Victim kVictim = Victim::kPacket;

  static void visit(auto&, auto&) {}
  bool operator==(const DuplicateMessage&) const = default;
};

/// One bit of it is flipped on the way, so that the receiver's ICRC check drops it.
struct CorruptMessage {
  static constexpr std::string_view kKind = "corrupt";
  static constexpr Victim kVictim = Victim::kPacket;

  static void visit(auto&, auto&) {}
  bool operator==(const CorruptMessage&) const = default;
};

/// The packet changes places with the next one in its direction, if that one follows soon.
struct ReorderMessage {
  static constexpr std::string_view kKind = "reorder";
  static constexpr Victim kVictim = Victim::kPacket;

  static void visit(auto&, auto&) {}
  bool operator==(const ReorderMessage&) const = default;
};

/// A field of the CM message has another value, and the message is as right as before otherwise: as
/// from another stack, or one with a bug. Of fields of more than 64 bits these are the last.
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
  std::uint8_t reason = 28;          ///< IBTA's; 28: consumer defined
  std::vector<std::uint8_t> data{};  ///< at most 148 bytes

  static void visit(auto& visitor, auto& reject) {
    visitor.scalar("reason", reject.reason);
    visitor.data("data", reject.data);
  }
  bool operator==(const RejectRequest&) const = default;
};

/// Never answers the request, nor its repetitions.
struct IgnoreRequest {
  static constexpr std::string_view kKind = "ignore";
  static constexpr Victim kVictim = Victim::kRequest;

  static void visit(auto&, auto&) {}
  bool operator==(const IgnoreRequest&) const = default;
};

/// The host's CM says at once that the answer takes time, for programs that take their time: MRA.
/// The peer waits that long for it, and as long again after each repetition.
struct PostponeRequest {
  static constexpr std::string_view kKind = "mra";
  static constexpr Victim kVictim = Victim::kRequest;
  std::uint8_t timeout = 20;  ///< 4.096 us times two to the power of it; at most 31

  static void visit(auto& visitor, auto& postpone) { visitor.scalar("timeout", postpone.timeout); }
  bool operator==(const PostponeRequest&) const = default;
};

/// The host's CM takes it for one of a connection that it still has: REJ, reason 10.
struct StaleRequest {
  static constexpr std::string_view kKind = "stale";
  static constexpr Victim kVictim = Victim::kRequest;

  static void visit(auto&, auto&) {}
  bool operator==(const StaleRequest&) const = default;
};

/// The listener's backlog is full: no answer, and the sender's next try counts as new.
struct OverflowBacklog {
  static constexpr std::string_view kKind = "overflow";
  static constexpr Victim kVictim = Victim::kRequest;

  static void visit(auto&, auto&) {}
  bool operator==(const OverflowBacklog&) const = default;
};

// --- to an event (OnQueued) ---------------------------------------------------------------------

/// The event enters its channel later, as if the kernel's work queue were busy. Later events of the
/// same id wait behind it.
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

/// The device is removed, as if unplugged: DEVICE_REMOVAL.
struct RemoveDevice {
  static constexpr std::string_view kKind = "remove";
  static constexpr bool kEnds = true;
  std::string host;
  std::string device;

  static void visit(auto& visitor, auto& remove) { visit_device(visitor, remove); }
  bool operator==(const RemoveDevice&) const = default;
};

/// A removed device is plugged in again: the same name, limits and GIDs; its objects are gone.
struct ReturnDevice {
  static constexpr std::string_view kKind = "return";
  std::string host;
  std::string device;
  bool new_guid = false;  ///< another card in the slot

  static void visit(auto& visitor, auto& plug) {
    visit_device(visitor, plug);
    visitor.option("guid", "new-guid", plug.new_guid);
  }
  bool operator==(const ReturnDevice&) const = default;
};

/// The device's port loses its link: PORT_ERR, and no packet in.
struct PortDown {
  static constexpr std::string_view kKind = "port-down";
  static constexpr bool kEnds = true;
  std::string host;
  std::string device;

  static void visit(auto& visitor, auto& port) { visit_device(visitor, port); }
  bool operator==(const PortDown&) const = default;
};

/// The device's port is active again: PORT_ACTIVE.
struct PortUp {
  static constexpr std::string_view kKind = "port-up";
  std::string host;
  std::string device;

  static void visit(auto& visitor, auto& port) { visit_device(visitor, port); }
  bool operator==(const PortUp&) const = default;
};

/// The device raises an asynchronous event, one of kDeviceEvents, and goes on.
struct RaiseEvent {
  static constexpr std::string_view kKind = "device-event";
  std::string host;
  std::string device;
  std::string event;

  static void visit(auto& visitor, auto& raise) {
    visit_device(visitor, raise);
    visitor.one_of("event", raise.event, kDeviceEvents);
  }
  bool operator==(const RaiseEvent&) const = default;
};

// --- to the resolution of an address (OnResolving) ----------------------------------------------

/// It ends with ADDR_ERROR.
struct FailResolving {
  static constexpr std::string_view kKind = "unresolved";
  static constexpr Victim kVictim = Victim::kQuery;
  std::string error;  ///< kResolvingErrors

  static void visit(auto& visitor, auto& fail) {
    visitor.one_of("error", fail.error, kResolvingErrors);
  }
  bool operator==(const FailResolving&) const = default;
};

// --- to the resolution of a route (OnRouting) ---------------------------------------------------

/// The route query ends with ROUTE_ERROR, as if a subnet administrator refused or did not answer:
/// ETIMEDOUT after the program's timeout, any other error at once.
struct FailRouting {
  static constexpr std::string_view kKind = "unrouted";
  static constexpr Victim kVictim = Victim::kRoute;
  std::string error;  ///< kRoutingErrors

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

/// The host loses power: its programs never continue, it sends nothing more, and its state is lost.
struct CrashHost {
  static constexpr std::string_view kKind = "crash";
  static constexpr bool kEnds = true;
  std::string host;

  static void visit(auto& visitor, auto& crash) { visitor.name("host", crash.host); }
  bool operator==(const CrashHost&) const = default;
};

/// The host's programs are killed, and its kernel tells the peers and rejects requests that were
/// not accepted. The host keeps running without them. With a program's name, only the n-th program
/// that was started there under that name is killed.
struct KillPrograms {
  static constexpr std::string_view kKind = "kill";
  std::string host;
  std::string program{};     ///< empty: all
  std::uint32_t number = 1;  ///< of those of that name, in the order in which they were started

  static void visit(auto& visitor, auto& kill) {
    visitor.host_or_program("host", kill.host, kill.program, kill.number);
  }
  bool operator==(const KillPrograms&) const = default;
};

/// The host starts with an empty state and its start programs. A host that is on crashes first.
struct RestartHost {
  static constexpr std::string_view kKind = "restart";
  std::string host;

  static void visit(auto& visitor, auto& restart) { visitor.name("host", restart.host); }
  bool operator==(const RestartHost&) const = default;
};

/// Stops the host until ResumeHost, as a stopped virtual machine; packets wait for it or are lost.
/// With the name of a program, stops only that program, as SIGSTOP does, or one of its threads,
/// from 1; its host and its device go on.
struct PauseHost {
  static constexpr std::string_view kKind = "pause";
  static constexpr bool kEnds = true;
  std::string host;
  std::string program{};     ///< empty: the host
  std::uint32_t number = 1;  ///< of those of that name, in the order in which they were started
  std::uint32_t thread = 0;  ///< of the program, as the trace numbers them; 0: all

  static void visit(auto& visitor, auto& pause) {
    visitor.host_or_thread("host", pause.host, pause.program, pause.number, pause.thread);
  }
  bool operator==(const PauseHost&) const = default;
};

/// The host continues. Names are as in PauseHost; for a program, all its paused threads continue.
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

/// Its clock runs so many millionths faster than time, or slower where negative: all its timers.
struct DriftClock {
  static constexpr std::string_view kKind = "drift";
  static constexpr bool kEnds = true;
  std::string host;
  std::int32_t ppm = 0;  ///< at most 100,000 either way

  static void visit(auto& visitor, auto& drift) {
    visitor.name("host", drift.host);
    visitor.scalar("ppm", drift.ppm);
  }
  bool operator==(const DriftClock&) const = default;
};

/// An interface gets one more address, with the length of its network's prefix, and its device a
/// GID.
struct AddAddress {
  static constexpr std::string_view kKind = "add-address";
  static constexpr bool kEnds = true;
  std::string host;
  std::string interface;
  std::string address;

  static void visit(auto& visitor, auto& add) { visit_address(visitor, add); }
  bool operator==(const AddAddress&) const = default;
};

/// An interface loses an address, and its device the GID.
struct DropAddress {
  static constexpr std::string_view kKind = "drop-address";
  std::string host;
  std::string interface;
  std::string address;

  static void visit(auto& visitor, auto& drop) { visit_address(visitor, drop); }
  bool operator==(const DropAddress&) const = default;
};

/// A multicast group is lost to the ids of a host that have joined it: MULTICAST_ERROR.
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

/// The bonded interface fails over to its next link, and so to another link address: ADDR_CHANGE to
/// the ids there that know another, UNREACHABLE to the active ids of its neighbours likewise.
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

/// The bonded interface goes back to its first link: as ChangeAddress, so those that began with
/// that one hear nothing.
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

/// One interface of a host loses all packets, in and out, and neighbours do not find each other
/// there, until MendRail. Its port keeps its link, so there is no event.
struct CutRail {
  static constexpr std::string_view kKind = "cut-rail";
  static constexpr bool kEnds = true;
  std::string host;
  std::string interface;

  static void visit(auto& visitor, auto& cut) { visit_interface(visitor, cut); }
  bool operator==(const CutRail&) const = default;
};

/// Undoes CutRail.
struct MendRail {
  static constexpr std::string_view kKind = "mend-rail";
  std::string host;
  std::string interface;

  static void visit(auto& visitor, auto& mend) { visit_interface(visitor, mend); }
  bool operator==(const MendRail&) const = default;
};

void visit_neighbour(auto& visitor, auto& action) {
  visitor.name("host", action.host);
  visitor.name("address", action.address);
}

/// The host resolves a neighbour again: UNREACHABLE once more for active ids that know another link
/// address of it.
struct ConfirmNeighbour {
  static constexpr std::string_view kKind = "confirm-neighbour";
  std::string host;
  std::string address;

  static void visit(auto& visitor, auto& confirm) { visit_neighbour(visitor, confirm); }
  bool operator==(const ConfirmNeighbour&) const = default;
};

/// The host forgets a neighbour: like ConfirmNeighbour, and the next resolution of its address asks
/// for its link address.
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

/// Nothing passes from one host to another, nor do neighbours hear each other there, until
/// MendPath. Empty names mean all the hosts there are then; `both` means both directions.
struct CutPath {
  static constexpr std::string_view kKind = "cut";
  static constexpr bool kEnds = true;
  std::string from;
  std::string to;
  bool both = false;

  static void visit(auto& visitor, auto& cut) { visit_path(visitor, cut); }
  bool operator==(const CutPath&) const = default;
};

/// Packets from one host to another wait on the way, and neighbours do not find each other there,
/// until MendPath; then the packets arrive at once. As CutPath.
struct ClogPath {
  static constexpr std::string_view kKind = "clog";
  static constexpr bool kEnds = true;
  std::string from;
  std::string to;
  bool both = false;

  static void visit(auto& visitor, auto& clog) { visit_path(visitor, clog); }
  bool operator==(const ClogPath&) const = default;
};

/// Undoes CutPath, ClogPath, and LinkOptions::down and LinkOptions::clogged.
struct MendPath {
  static constexpr std::string_view kKind = "mend";
  std::string from;
  std::string to;
  bool both = false;

  static void visit(auto& visitor, auto& mend) { visit_path(visitor, mend); }
  bool operator==(const MendPath&) const = default;
};

/// Sets the latency from one host to another. Names as in CutPath.
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
