// The parts of triggers and actions of faults. Each trigger and action is a struct. Its text, its
// JSON form and its checks follow from these members:
//
//   kKind    the word for the trigger or action in a plan: "remove"
//   kVictim  the object that an action affects, or that a trigger provides; left out: a host or
//            the network
//   kEnds    true if the action's effect can end after a time (ending.h); left out: it cannot
//   visit    passes each field and its JSON key to a visitor, in the order of the plan's text
//
// A visitor reads or writes the words of a plan (words.h), or looks up names in it. For each type
// of field it has a function. After each function follows an example, or what the field contains:
//
//   scalar(key, value)            a time, an occurrence, a message, an event or a number
//   (scalars.h) one_of(key, value, words)     one of these words name(key, value) "host", then, of
//   that host, "device" or "interface" any_host(key, value)          a host, or * for any host
//   host_or_id(key, host, id)     host#3
//   object(key, host, kind, name) host#qp2, host#cq1, or with a queue pair number host#qp0x11
//   host_or_object(the same)      as object(), or only a host, for any of its objects
//   host_or_program(key, host, program, number)  host, host/program, host/program#2
//   host_or_thread(key, host, program, number, thread)  as host_or_program(), or host/program/3
//   rails(key, from, interface, to, interface)  from->to, from/eth0->to, from->to/eth1
//   device_or_port(key, device, port)  mlx5_0, mlx5_0/2
//   path(key, from, to, both)     from->to or from<->to
//   data(key, bytes)              hexadecimal digits; left out if there are no bytes
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

/// The object that an action affects, or that a trigger provides: a packet, a request or an event,
/// for example.
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
/// Returns the name of the object for messages: "a request".
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

/// The value of Occurrence::number with which a trigger fires at every occurrence.
inline constexpr std::uint32_t kAll = 0;

/// Which occurrences of a trigger fire it: the n-th, all, or each with a probability that is drawn
/// from the run's seed.
struct Occurrence {
  static constexpr std::uint32_t kCertain = 1'000'000;

  // Implicit, for brevity: OnRequest{"server", 2}.
  constexpr Occurrence(std::uint32_t which = 1) : number(which) {}
  /// Returns an Occurrence with which each occurrence fires with this probability, in millionths: 1
  /// to 999,999.
  [[nodiscard]] static constexpr Occurrence each_with(std::uint32_t millionths) {
    Occurrence occurrence(kAll);
    occurrence.per_million = millionths;
    return occurrence;
  }
  bool operator==(const Occurrence&) const = default;

  std::uint32_t number = 1;  ///< number of the occurrence, counted from 1; or kAll
  std::uint32_t per_million = kCertain;
};

/// How long the effect of a fault lasts. Conversion from a duration is implicit, for brevity:
/// `fault.lasts = 300ms`.
struct Lasting {
  constexpr Lasting() = default;
  template <class Number, class Unit>
  constexpr Lasting(std::chrono::duration<Number, Unit> time) : least(time), most(time) {}
  /// A random duration from `shortest` to `longest`, which resolved() draws (drawn.h).
  constexpr Lasting(verbs::Duration shortest, verbs::Duration longest)
      : least(shortest), most(longest) {}
  /// Whether the effect has no duration: it lasts until another fault ends it.
  [[nodiscard]] constexpr bool for_ever() const { return *this == Lasting(); }
  bool operator==(const Lasting&) const = default;

  verbs::Duration least{};
  verbs::Duration most{};
};

/// The errors with which the resolution of an address can fail (kernel functions: addr_resolve,
/// rdma_resolve_ip).
inline constexpr std::string_view kResolvingErrors[]{"ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH",
                                                     "ENODEV"};

/// The errors with which the resolution of a route can fail (kernel functions: cma_query_handler;
/// in sa_query.c send_handler, recv_handler).
inline constexpr std::string_view kRoutingErrors[]{"ETIMEDOUT", "EINVAL", "EIO"};

/// The name of a field of a CM message, such as "path_mtu". altered_field.h checks whether the
/// message has the field.
struct FieldName {
  std::string name;
  bool operator==(const FieldName&) const = default;
};

/// The asynchronous events after which a device continues to work (ibv_get_async_event(3)).
inline constexpr std::string_view kDeviceEvents[]{
    "PKEY_CHANGE", "LID_CHANGE", "SM_CHANGE", "CLIENT_REREGISTER", "GID_CHANGE", "DEVICE_FATAL"};

/// The states of an rdma_cm_id, with the kernel's names, without the prefix "RDMA_CM_".
inline constexpr std::string_view kStateNames[]{
    "IDLE",       "ADDR_QUERY", "ADDR_RESOLVED", "ROUTE_QUERY",    "ROUTE_RESOLVED", "CONNECT",
    "DISCONNECT", "ADDR_BOUND", "LISTEN",        "DEVICE_REMOVAL", "DESTROYING"};

/// The names of calls in triggers: calls on an id, rdma_cm calls without an id that create an
/// object, and verbs calls. any_allocation stands for all calls that create an object.
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
