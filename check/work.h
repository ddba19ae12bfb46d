// The checker of work requests. Every request that the device has accepted must complete exactly
// once, in the order of its queue. Requests are discarded if their queue pair goes to RESET or is
// destroyed. An unsignaled send completes together with the next signaled send.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "check/census.h"
#include "check/fifo.h"
#include "check/violations.h"

namespace anyrdma::check {

/// Checks the work of one device. Numbers identify queue pairs.
class Work {
 public:
  /// Creates the checker. `device` is the device's name in messages: "host/anyrdma0".
  Work(Violations& violations, std::string device)
      : violations_(violations), device_(std::move(device)) {}

  /// Call if several threads post and poll. Each thread reports its actions a moment later, so
  /// their order is unknown.
  void set_unordered() { unordered_ = true; }
  /// Call if the entry of a completion may come before the entry of its posting, because another
  /// thread has posted the request. Such completions are checked when their queue pair is
  /// destroyed, and in finish().
  void set_late() { late_ = true; }
  void finish();

  /// Where a queue pair takes its receives from: its own queue, or a shared receive queue.
  enum class Receives : std::uint8_t {
    kOwn,
    kShared,  ///< the shared receive queue that the queue pair was created with
    kNamed,   ///< the shared receive queue that each message names (XRC)
  };
  void on_opened(std::uint32_t qp, Receives receives, std::uint64_t srq = 0);
  void on_send(std::uint32_t qp, std::uint64_t wr_id, bool signaled);
  void on_receive(std::uint32_t qp, std::uint64_t wr_id);
  void on_shared_receive(std::uint64_t srq, std::uint64_t wr_id);
  /// Call when the program has polled a completion. `dropped`: the completion queue may have
  /// dropped earlier completions.
  void on_polled(const ibv_wc& completion, bool dropped = false);
  /// Call when a shared receive queue is destroyed, with the requests that were posted to it.
  /// `census` has the counts from just before.
  void on_closing(std::uint64_t srq, const SrqCensus& census);
  /// Call when a queue pair goes to RESET or is destroyed, which discards its requests. `census`
  /// has the counts from just before. `destroyed`: the queue pair is destroyed.
  void on_discarding(std::uint32_t qp, const QpCensus& census, bool destroyed);
  /// Compares the checker's counts of unfinished requests with the device's counts in `census`. A
  /// difference is a violation: a request was lost.
  void audit(std::uint32_t qp, const QpCensus& census);
  void audit_queue(std::uint64_t srq, const SrqCensus& census);
  /// Returns how many requests were discarded on all queue pairs. Reports print the number; it is
  /// not a violation.
  [[nodiscard]] std::uint64_t discarded() const { return discarded_; }

 private:
  struct Send {
    std::uint64_t wr_id;
    bool signaled;
  };
  struct Queues {
    bool open = false;
    /// A completion had an error; from then on all sends complete, signaled or not.
    bool failed = false;
    bool reported = false;
    Receives from = Receives::kOwn;
    std::uint64_t srq = 0;
    Fifo<Send> sends;
    Fifo<std::uint64_t> receives;
    std::vector<ibv_wc> early;  ///< completions whose requests are not reported yet
  };
  [[nodiscard]] bool is_early(Queues& queues, const ibv_wc& completion);
  void settle(std::uint32_t qp, Queues& queues);
  void judge_early(std::uint32_t qp, Queues& queues);
  void on_sent(std::uint32_t qp, Queues& queues, const ibv_wc& completion, bool dropped);
  void on_received(std::uint32_t qp, Queues& queues, const ibv_wc& completion, bool dropped);
  [[nodiscard]] bool take_shared(const Queues& queues, std::uint64_t wr_id);
  void violation(std::uint32_t qp, const std::string& text);

  Violations& violations_;
  std::string device_;
  std::map<std::uint32_t, Queues> queues_;
  std::map<std::uint64_t, std::deque<std::uint64_t>> shared_;
  /// Requests that were posted to destroyed queues and had not completed by then.
  std::deque<std::uint64_t> gone_;
  std::uint64_t discarded_ = 0;
  bool unordered_ = false;
  bool late_ = false;
};

}  // namespace anyrdma::check
