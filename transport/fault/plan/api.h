// Triggers and actions of faults on an application's calls, queue pairs and completions.
// transport/fault/plan/part.h describes the members of such a struct. legal.h lists the errors that
// a real RDMA stack can return.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "transport/fault/plan/part.h"
#include "verbs/time.h"

namespace anyrdma::fault {

/// Names an object of a host: the n-th object of its kind that was created on the host ("#qp2"), or
/// a queue pair by its number ("#qp0x11").
struct ObjectName {
  std::uint64_t made = 0;    ///< counted from 1; 0: `number` names the object
  std::uint32_t number = 0;  ///< a queue pair number; if both are 0: any object
  bool operator==(const ObjectName&) const = default;
};

/// An errno.
struct Errno {
  int value = 0;
  bool operator==(const Errno&) const = default;
};

// --- when ---------------------------------------------------------------------------------------

/// The trigger "when the application makes the n-th call of a kind". The kinds are "connect",
/// "destroy", "post_send" and others (kCallNames). Only calls that the id's state allows are
/// counted, whether they succeed or not. `id` is as in OnQueued, and 0 for verbs calls and for
/// calls that create an id. The action FailCall replaces the call's effect; other actions are
/// carried out after the call.
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

/// The trigger "when the application posts work for the n-th completion of a kind", signaled or
/// not. Work is counted when it is posted, because a queue completes in order, and only if the
/// queue pair's state allows the work. An empty `qp` means any queue pair.
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

/// The call fails with this errno. Other effects are those of a real failure.
struct FailCall {
  static constexpr std::string_view kKind = "fail";
  static constexpr Victim kVictim = Victim::kCall;
  Errno error{};

  static void visit(auto& visitor, auto& fail) { visitor.scalar("error", fail.error); }
  bool operator==(const FailCall&) const = default;
};

// --- to work (OnCompletion) ---------------------------------------------------------------------

/// The request completes with this error, and later requests of its queue are flushed. The peer
/// sees what it would see if the error had a real cause.
struct CompleteWork {
  static constexpr std::string_view kKind = "complete";
  static constexpr Victim kVictim = Victim::kWork;
  ibv_wc_status status = IBV_WC_RETRY_EXC_ERR;

  static void visit(auto& visitor, auto& complete) { visitor.scalar("status", complete.status); }
  bool operator==(const CompleteWork&) const = default;
};

// --- to queues ----------------------------------------------------------------------------------

/// The queue pair goes to ERR with an asynchronous event: QP_FATAL, or, if it is a reliable
/// connection that can receive, QP_REQ_ERR or QP_ACCESS_ERR.
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

/// The n-th completion queue that was created on the host overruns. The device raises CQ_ERR, and
/// the queue pairs of the completion queue go to ERR with QP_FATAL.
struct OverrunQueue {
  static constexpr std::string_view kKind = "cq-overrun";
  std::string host;
  ObjectName cq{};

  static void visit(auto& visitor, auto& overrun) {
    visitor.object("cq", overrun.host, "cq", overrun.cq);
  }
  bool operator==(const OverrunQueue&) const = default;
};

/// The n-th shared receive queue that was created on the host fails. The device raises SRQ_ERR, and
/// the queue pairs of the shared receive queue go to ERR with QP_FATAL.
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

/// The programs of the host wait for this time before they fetch an event, and before each poll. A
/// time of 0 ends the effect.
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
