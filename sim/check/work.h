// The claim: every work request that was taken completes exactly once, in the order of its queue,
// unless its queue pair goes to RESET or is destroyed, which discards it. A send that was not to be
// signaled completes with the next one that is.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "sim/check/violations.h"
#include "verbs/soft/hca_observer.h"

namespace anyrdma::sim::check {

/// Of one device, whose queue pairs go by their number.
class Work {
 public:
  /// `device` for the text: "host/anyrdma0".
  Work(Violations& violations, std::string device)
      : violations_(violations), device_(std::move(device)) {}

  /// `srq` null: it has receives of its own.
  void on_opened(std::uint32_t qp, const ibv_srq* srq);
  void on_send(std::uint32_t qp, std::uint64_t wr_id, bool signaled);
  void on_receive(std::uint32_t qp, std::uint64_t wr_id);
  void on_shared_receive(const ibv_srq* srq, std::uint64_t wr_id);
  void on_polled(const ibv_wc& completion);
  /// What was discarded is done; `census` as it was just before. `destroyed`: so is the QP.
  void on_discarding(std::uint32_t qp, const verbs::soft::QpCensus& census, bool destroyed);
  /// Holds the books against what the device says: nothing may have got lost on the way.
  void audit(std::uint32_t qp, const verbs::soft::QpCensus& census);

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
    const ibv_srq* srq = nullptr;
    std::deque<Send> sends;
    std::deque<std::uint64_t> receives;
  };
  void on_sent(std::uint32_t qp, Queues& queues, const ibv_wc& completion);
  void on_received(std::uint32_t qp, Queues& queues, const ibv_wc& completion);
  void violation(std::uint32_t qp, const std::string& text);

  Violations& violations_;
  std::string device_;
  std::map<std::uint32_t, Queues> queues_;
  std::map<const ibv_srq*, std::deque<std::uint64_t>> shared_;
  std::uint64_t discarded_ = 0;
};

}  // namespace anyrdma::sim::check
