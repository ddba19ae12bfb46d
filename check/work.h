// The claim: every work request that was taken completes exactly once, in the order of its queue,
// unless its queue pair goes to RESET or is destroyed, which discards it. A send that was not to be
// signaled completes with the next one that is.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "check/census.h"
#include "check/violations.h"

namespace anyrdma::check {

/// The checker of one device's work. Queue pairs are named by number.
class Work {
 public:
  /// `device` for the text: "host/anyrdma0".
  Work(Violations& violations, std::string device)
      : violations_(violations), device_(std::move(device)) {}

  /// Several threads post and poll, each of which says so a moment later: their order is not known.
  void set_unordered() { unordered_ = true; }
  /// A completion may come before the entry of its posting, if another thread posted the request.
  /// Such completions are judged when their queue pair is destroyed, and in finish().
  void set_late() { late_ = true; }
  void finish();

  /// The kind of queue that a queue pair takes its receives from.
  enum class Receives : std::uint8_t {
    kOwn,
    kShared,  ///< a queue that it names
    kNamed,   ///< the queue that each message names
  };
  void on_opened(std::uint32_t qp, Receives receives, std::uint64_t srq = 0);
  void on_send(std::uint32_t qp, std::uint64_t wr_id, bool signaled);
  void on_receive(std::uint32_t qp, std::uint64_t wr_id);
  void on_shared_receive(std::uint64_t srq, std::uint64_t wr_id);
  /// `dropped`: the completion queue may have dropped what came before.
  void on_polled(const ibv_wc& completion, bool dropped = false);
  /// A shared queue goes, with what was posted to it; `census` as it was just before.
  void on_closing(std::uint64_t srq, const SrqCensus& census);
  /// Counts discarded work as done; `census` is from just before. `destroyed`: the QP is destroyed,
  /// too.
  void on_discarding(std::uint32_t qp, const QpCensus& census, bool destroyed);
  /// Holds the books against what the device says: nothing may have got lost on the way.
  void audit(std::uint32_t qp, const QpCensus& census);
  void audit_queue(std::uint64_t srq, const SrqCensus& census);
  /// Returns how many requests were discarded, over all queue pairs: for reports, not a violation.
  [[nodiscard]] std::uint64_t discarded() const { return discarded_; }

 private:
  struct Send {
    std::uint64_t wr_id;
    bool signaled;
  };
  struct Queues {
    bool open = false;
    bool failed = false;  ///< an error came: from now on all complete, signaled or not
    bool reported = false;
    Receives from = Receives::kOwn;
    std::uint64_t srq = 0;
    std::deque<Send> sends;
    std::deque<std::uint64_t> receives;
    std::deque<ibv_wc> early;  ///< completions of what was not posted yet, as far as is known
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
  std::deque<std::uint64_t> gone_;  ///< posted to queues that were destroyed, not completed then
  std::uint64_t discarded_ = 0;
  bool unordered_ = false;
  bool late_ = false;
};

}  // namespace anyrdma::check
