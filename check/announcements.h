// Checks two asynchronous events. IBV_EVENT_SRQ_LIMIT_REACHED must come once for each limit, when a
// receive is taken and fewer than the limit are left. IBV_EVENT_QP_LAST_WQE_REACHED must come once
// to each queue pair with a shared receive queue that goes to ERR, and to no other.
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

  /// A limit was set; 0: the event is disabled.
  void on_limit_set(std::uint64_t srq, std::uint32_t limit, const SrqCensus& census) {
    limits_[srq] = {limit, census.receives};
  }
  void on_posted(std::uint64_t srq) { ++limits_[srq].untouched; }
  void on_limit_reached(std::uint64_t srq, const SrqCensus& census);
  /// Compares with the device's counts. May be called at any time.
  void audit_queue(std::uint64_t srq, const SrqCensus& census);
  void on_closing(std::uint64_t srq) { limits_.erase(srq); }

  void on_last_receive(std::uint32_t qp);
  /// Compares with the queue pair's counts. May be called at any time. `srq`: 0 if it has none.
  void audit(std::uint32_t qp, std::uint64_t srq, const QpCensus& census);
  /// The queue pair is fresh, in RESET or destroyed.
  void on_fresh(std::uint32_t qp) { told_.erase(qp); }

 private:
  struct Limit {
    std::uint32_t receives = 0;  ///< 0: none
    std::size_t untouched = 0;   ///< as many would be there if none had been taken since it was set
  };

  Violations& violations_;
  std::string device_;
  std::map<std::uint64_t, Limit> limits_;
  std::map<std::uint32_t, unsigned> told_;  ///< how often each has heard of its last receive
};

}  // namespace anyrdma::check
