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

#include "sim/check/violations.h"
#include "verbs/soft/hca_observer.h"

namespace anyrdma::sim::check {

/// Of one device, whose queue pairs go by their number.
class Work {
 public:
  /// `device` for the text: "host/anyrdma0".
  Work(Violations& violations, std::string device)
      : violations_(violations), device_(std::move(device)) {}

  /// Where a queue pair's receives come from.
  enum class Receives : std::uint8_t {
    kOwn,
    kShared,  ///< a queue that it names
    kNamed,   ///< the queue that each message names
  };
  void on_opened(std::uint32_t qp, Receives receives, const ibv_srq* srq = nullptr);
  void on_send(std::uint32_t qp, std::uint64_t wr_id, bool signaled);
  void on_receive(std::uint32_t qp, std::uint64_t wr_id);
  void on_shared_receive(const ibv_srq* srq, std::uint64_t wr_id);
  /// `dropped`: the completion queue may have dropped what came before.
  void on_polled(const ibv_wc& completion, bool dropped = false);
  /// A shared queue goes, with what was posted to it; `census` as it was just before.
  void on_closing(const ibv_srq* srq, const verbs::soft::SrqCensus& census);
  /// Counts discarded work as done; `census` is from just before. `destroyed`: the QP is destroyed,
  /// too.
  void on_discarding(std::uint32_t qp, const verbs::soft::QpCensus& census, bool destroyed);
  /// Holds the books against what the device says: nothing may have got lost on the way.
  void audit(std::uint32_t qp, const verbs::soft::QpCensus& census);
  void audit(const ibv_srq* srq, const verbs::soft::SrqCensus& census);
  /// Those that were posted to and are not destroyed.
  [[nodiscard]] std::vector<const ibv_srq*> shared_queues() const;

  /// How many were discarded, over all queue pairs: a report, no violation.
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
    const ibv_srq* srq = nullptr;
    std::deque<Send> sends;
    std::deque<std::uint64_t> receives;
  };
  void on_sent(std::uint32_t qp, Queues& queues, const ibv_wc& completion, bool dropped);
  void on_received(std::uint32_t qp, Queues& queues, const ibv_wc& completion, bool dropped);
  [[nodiscard]] bool take_shared(const Queues& queues, std::uint64_t wr_id);
  void violation(std::uint32_t qp, const std::string& text);

  Violations& violations_;
  std::string device_;
  std::map<std::uint32_t, Queues> queues_;
  std::map<const ibv_srq*, std::deque<std::uint64_t>> shared_;
  std::deque<std::uint64_t> gone_;  ///< posted to queues that were destroyed, not completed then
  std::uint64_t discarded_ = 0;
};

}  // namespace anyrdma::sim::check
