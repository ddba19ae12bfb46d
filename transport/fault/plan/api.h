// Triggers and actions on an application's calls, queue pairs and completions. part.h describes the
// members of such a struct, legal.h lists what a real stack allows.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/fault/plan/part.h"
#include "verbs/time.h"

namespace anyrdma::fault {

/// An object of a host: the n-th of its kind that was made there ("#qp2"), or a queue pair by its
/// number ("#qp0x11").
struct ObjectName {
  std::uint64_t made = 0;    ///< from 1; 0: by `number`
  std::uint32_t number = 0;  ///< of a queue pair; 0 and not made: any
  bool operator==(const ObjectName&) const = default;
};

/// An errno.
struct Errno {
  int value = 0;
  bool operator==(const Errno&) const = default;
};

// --- when ---------------------------------------------------------------------------------------

/// When the application makes the n-th call of a kind that the id's state allows, successful or
/// not: "connect", "destroy", "post_send" (kCallNames). `id` as in OnQueued; verbs calls and those
/// that make an id are on none. An action other than FailCall follows the call.
struct OnCall {
  static constexpr std::string_view kKind = "call";
  static constexpr Victim kVictim = Victim::kCall;
  std::string host;
  std::uint64_t id = 0;
  std::string call;
  Occurrence occurrence{};

  static void visit(auto& visitor, auto& on) {
    visitor.host_or_id("host", on.host, on.id);
    visitor.one_of("call", on.call, kCallNames);
    visitor.scalar("occurrence", on.occurrence);
  }
  bool operator==(const OnCall&) const = default;
};

/// When the application posts work that leads to the n-th completion of a kind, signaled or not:
/// counted when it is posted, since a queue completes in order, on queue pairs that are in a state
/// to do it. `qp` empty means any.
struct OnCompletion {
  static constexpr std::string_view kKind = "completion";
  static constexpr Victim kVictim = Victim::kWork;
  std::string host;
  ObjectName qp{};
  ibv_wc_opcode opcode = IBV_WC_SEND;
  Occurrence occurrence{};

  static void visit(auto& visitor, auto& on) {
    visitor.host_or_object("host", on.host, "qp", on.qp);
    visitor.scalar("opcode", on.opcode);
    visitor.scalar("occurrence", on.occurrence);
  }
  bool operator==(const OnCompletion&) const = default;
};

// --- to a call (OnCall) -------------------------------------------------------------------------

/// The call returns this errno, and has no other effect than a real failure has.
struct FailCall {
  static constexpr std::string_view kKind = "fail";
  static constexpr Victim kVictim = Victim::kCall;
  Errno error{};

  static void visit(auto& visitor, auto& fail) { visitor.scalar("error", fail.error); }
  bool operator==(const FailCall&) const = default;
};

// --- to work (OnCompletion) ---------------------------------------------------------------------

/// The request completes with this error, and later requests are flushed. The peer sees the same as
/// with a real cause of the error.
struct CompleteWork {
  static constexpr std::string_view kKind = "complete";
  static constexpr Victim kVictim = Victim::kWork;
  ibv_wc_status status = IBV_WC_RETRY_EXC_ERR;

  static void visit(auto& visitor, auto& complete) { visitor.scalar("status", complete.status); }
  bool operator==(const CompleteWork&) const = default;
};

// --- to queues ----------------------------------------------------------------------------------

/// The queue pair goes to ERR by itself, with this asynchronous event: QP_FATAL, or on a reliable
/// connection that can receive QP_REQ_ERR or QP_ACCESS_ERR.
struct FailQueuePair {
  static constexpr std::string_view kKind = "qp-error";
  std::string host;
  ObjectName qp{};
  ibv_event_type event = IBV_EVENT_QP_FATAL;

  static void visit(auto& visitor, auto& fail) {
    visitor.object("qp", fail.host, "qp", fail.qp);
    visitor.scalar("event", fail.event);
  }
  bool operator==(const FailQueuePair&) const = default;
};

/// The n-th completion queue made on the host overruns: CQ_ERR, and its queue pairs go to ERR with
/// QP_FATAL.
struct OverrunQueue {
  static constexpr std::string_view kKind = "cq-overrun";
  std::string host;
  ObjectName cq{};

  static void visit(auto& visitor, auto& overrun) {
    visitor.object("cq", overrun.host, "cq", overrun.cq);
  }
  bool operator==(const OverrunQueue&) const = default;
};

/// The n-th shared receive queue made on the host fails by itself: SRQ_ERR, and its queue pairs go
/// to ERR with QP_FATAL.
struct FailSharedQueue {
  static constexpr std::string_view kKind = "srq-error";
  std::string host;
  ObjectName srq{};

  static void visit(auto& visitor, auto& fail) {
    visitor.object("srq", fail.host, "srq", fail.srq);
  }
  bool operator==(const FailSharedQueue&) const = default;
};

// --- to programs --------------------------------------------------------------------------------

/// The programs of the host take this long before each event that they fetch and each poll; 0: no
/// longer.
struct SlowConsumer {
  static constexpr std::string_view kKind = "slow-consumer";
  static constexpr bool kEnds = true;
  std::string host;
  verbs::Duration delay{};

  static void visit(auto& visitor, auto& slow) {
    visitor.name("host", slow.host);
    visitor.scalar("delay", slow.delay);
  }
  bool operator==(const SlowConsumer&) const = default;
};

}  // namespace anyrdma::fault
