// The checker of two asynchronous events. IBV_EVENT_SRQ_LIMIT_REACHED must come once for each
// limit, when a receive is taken and fewer receives than the limit are left.
// IBV_EVENT_QP_LAST_WQE_REACHED must come once to each queue pair with a shared receive queue that
// goes to ERR, and to no other queue pair.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "check/census.h"
#include "check/violations.h"

namespace anyrdma::check {

/// The checker for one device.
class Announcements {
 public:
  Announcements(Violations& violations, std::string device)
      : violations_(violations), device_(std::move(device)) {}

  /// Call when the program has set the limit of a shared receive queue. A limit of 0 disables the
  /// event.
  void on_limit_set(std::uint64_t srq, std::uint32_t limit, const SrqCensus& census) {
    limits_[srq] = {limit, census.receives};
  }
  void on_posted(std::uint64_t srq) { ++limits_[srq].untouched; }
  void on_limit_reached(std::uint64_t srq, const SrqCensus& census);
  /// Compares the events so far with the counts of a shared receive queue. Call it at any time.
  void audit_queue(std::uint64_t srq, const SrqCensus& census);
  void on_closing(std::uint64_t srq) { limits_.erase(srq); }

  void on_last_receive(std::uint32_t qp);
  /// Compares the events so far with the counts of a queue pair. Call it at any time. `srq` is 0 if
  /// the queue pair has no shared receive queue.
  void audit(std::uint32_t qp, std::uint64_t srq, const QpCensus& census);
  /// Call when a queue pair was created, went to RESET or was destroyed.
  void on_fresh(std::uint32_t qp) { told_.erase(qp); }

 private:
  struct Limit {
    std::uint32_t receives = 0;  ///< 0: none

    /// Number of receives that would be in the queue if none had been taken since the limit was
    /// set.
    std::size_t untouched = 0;
  };

  Violations& violations_;
  std::string device_;
  std::map<std::uint64_t, Limit> limits_;
  /// Number of LAST_WQE_REACHED events of each queue pair, by its number.
  std::map<std::uint32_t, unsigned> told_;
};

}  // namespace anyrdma::check
