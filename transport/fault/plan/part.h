// The parts of triggers and actions. Each is a struct that describes it in one place; its text, its
// JSON and its checks follow from it:
//
//   kKind    its word: "remove"
//   kVictim  what it happens to, or what is at hand when it comes; left out: the world
//   kEnds    true: what it does can end after a time (ending.h); left out: it cannot
//   visit    its fields, in the order of the text, each with its key in JSON
//
// The visitor is a reader or a writer of words, or looks names up (see words.h). It knows
//
//   scalar(key, value)            a time, an occurrence, a message, an event, a number: scalars.h
//   one_of(key, value, words)     one of these words
//   name(key, value)              "host", then, of that host, "device" or "interface"
//   any_host(key, value)          or * for any
//   host_or_id(key, host, id)     host#3
//   object(key, host, kind, name) host#qp2, host#cq1; a queue pair by its number: host#qp0x11
//   host_or_object(the same)      or host alone, for any of its objects
//   host_or_program(key, host, program, number)  host, host/program, host/program#2
//   host_or_thread(key, host, program, number, thread)  the same, or host/program/3
//   one_way(key, from, to)        from->to
//   path(key, from, to, both)     the same, or from<->to
//   data(key, bytes)              hexadecimal; none: left out
//   option(key, word, on)         that word or nothing
//
// A new trigger or action must also be added to a variant of fault.h, to the grammar in
// fault_plan.h, and to the tables of docs/fault-language.md and docs/legality.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "verbs/time.h"

namespace anyrdma::fault {

/// The object that an action affects, or that a trigger provides: a packet, an event ...
enum class Victim : std::uint8_t {
  kWorld,
  kPacket,
  kRequest,
  kEvent,
  kCall,
  kWork,
  kQuery,
  kRoute
};
/// Returns the victim for messages: "a request".
[[nodiscard]] std::string_view to_string(Victim victim);

/// The messages of the CM protocol, with their attribute ids.
enum class CmMessage : std::uint16_t {
  kReq = 0x10,
  kMra = 0x11,
  kRej = 0x12,
  kRep = 0x13,
  kRtu = 0x14,
  kDreq = 0x15,
  kDrep = 0x16,
  kSidrReq = 0x17,
  kSidrRep = 0x18,
};
/// Returns the message's name: "REQ".
[[nodiscard]] std::string_view to_string(CmMessage message);

/// The trigger fires at every occurrence.
inline constexpr std::uint32_t kAll = 0;

/// Which occurrences fire a trigger: the n-th, all, or each with a probability (drawn from the
/// run's seed).
struct Occurrence {
  static constexpr std::uint32_t kCertain = 1'000'000;

  // Implicit, for brevity: OnRequest{"server", 2}.
  constexpr Occurrence(std::uint32_t which = 1) : number(which) {}
  /// Each occurrence fires with this probability in millionths, 1 to 999,999.
  [[nodiscard]] static constexpr Occurrence each_with(std::uint32_t millionths) {
    Occurrence occurrence(kAll);
    occurrence.per_million = millionths;
    return occurrence;
  }
  bool operator==(const Occurrence&) const = default;

  std::uint32_t number = 1;  ///< from 1, or kAll
  std::uint32_t per_million = kCertain;
};

/// How long the effect of a fault lasts. Implicit, for brevity: `fault.lasts = 300ms`.
struct Lasting {
  constexpr Lasting() = default;
  template <class Number, class Unit>
  constexpr Lasting(std::chrono::duration<Number, Unit> time) : least(time), most(time) {}
  /// A random duration from `shortest` to `longest`: see drawn.h.
  constexpr Lasting(verbs::Duration shortest, verbs::Duration longest)
      : least(shortest), most(longest) {}
  /// Whether the effect lasts until another fault ends it.
  [[nodiscard]] constexpr bool for_ever() const { return *this == Lasting(); }
  bool operator==(const Lasting&) const = default;

  verbs::Duration least{};
  verbs::Duration most{};
};

/// The errors with which the resolution of an address can fail (kernel: addr_resolve,
/// rdma_resolve_ip).
inline constexpr std::string_view kResolvingErrors[]{"ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH",
                                                     "ENODEV"};

/// The errors with which the query for a path can fail (kernel: cma_query_handler; sa_query.c:
/// send_handler, recv_handler).
inline constexpr std::string_view kRoutingErrors[]{"ETIMEDOUT", "EINVAL", "EIO"};

/// A field of a CM message by name: "path_mtu". The code that carries out the fault knows the
/// names.
struct FieldName {
  std::string name;
  bool operator==(const FieldName&) const = default;
};

/// The asynchronous events after which a device continues to work (ibv_get_async_event(3)).
inline constexpr std::string_view kDeviceEvents[]{
    "PKEY_CHANGE", "LID_CHANGE", "SM_CHANGE", "CLIENT_REREGISTER", "GID_CHANGE", "DEVICE_FATAL"};

/// The states of an id, as the kernel names them, without the prefix "RDMA_CM_".
inline constexpr std::string_view kStateNames[]{
    "IDLE",       "ADDR_QUERY", "ADDR_RESOLVED", "ROUTE_QUERY",    "ROUTE_RESOLVED", "CONNECT",
    "DISCONNECT", "ADDR_BOUND", "LISTEN",        "DEVICE_REMOVAL", "DESTROYING"};

/// The names of calls in triggers: calls on an id, calls of rdma_cm that create an object without
/// an id, and verbs calls. any_allocation stands for all that create an object.
inline constexpr std::string_view kCallNames[]{"bind_addr",
                                               "resolve_addr",
                                               "resolve_route",
                                               "listen",
                                               "connect",
                                               "establish",
                                               "accept",
                                               "reject",
                                               "disconnect",
                                               "notify",
                                               "destroy",
                                               "join_multicast",
                                               "leave_multicast",
                                               "create_event_channel",
                                               "create_id",
                                               "open_device",
                                               "alloc_pd",
                                               "alloc_td",
                                               "alloc_parent_domain",
                                               "reg_mr",
                                               "rereg_mr",
                                               "alloc_null_mr",
                                               "alloc_mw",
                                               "alloc_dm",
                                               "create_comp_channel",
                                               "create_cq",
                                               "resize_cq",
                                               "modify_cq",
                                               "create_qp",
                                               "open_qp",
                                               "modify_qp",
                                               "create_srq",
                                               "modify_srq",
                                               "open_xrcd",
                                               "create_ah",
                                               "attach_mcast",
                                               "post_send",
                                               "post_recv",
                                               "post_srq_recv",
                                               "any_allocation"};

}  // namespace anyrdma::fault
