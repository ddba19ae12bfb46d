#include "check/announcements.h"

namespace anyrdma::check {
namespace {

constexpr std::string_view kAnnouncements = "announcements";

}  // namespace

void Announcements::on_limit_reached(std::uint64_t srq, const SrqCensus& census) {
  const std::uint32_t limit = std::exchange(limits_[srq].receives, 0);
  const std::string who = device_ + ": a shared receive queue says SRQ_LIMIT_REACHED ";
  if (limit == 0) return violations_.add(kAnnouncements, who + "although no limit is set");
  if (census.receives < limit) return;
  violations_.add(kAnnouncements, who + "with " + std::to_string(census.receives) +
                                      " left of a limit of " + std::to_string(limit));
}

void Announcements::audit_queue(std::uint64_t srq, const SrqCensus& census) {
  const auto found = limits_.find(srq);
  if (found == limits_.end()) return;
  Limit& limit = found->second;
  if (census.receives >= limit.receives || census.receives >= limit.untouched) return;
  violations_.add(kAnnouncements, device_ + ": a shared receive queue has " +
                                      std::to_string(census.receives) + " left of a limit of " +
                                      std::to_string(limit.receives) +
                                      ", and never said SRQ_LIMIT_REACHED");
  limit.receives = 0;
}

void Announcements::on_last_receive(std::uint32_t qp) {
  if (++told_[qp] == 1) return;
  violations_.add(kAnnouncements,
                  device_ + " QP " + std::to_string(qp) + ": LAST_WQE_REACHED comes again");
}

void Announcements::audit(std::uint32_t qp, std::uint64_t srq, const QpCensus& census) {
  const bool told = told_.contains(qp);
  const bool due = srq != 0 && census.state == IBV_QPS_ERR;
  if (told == due) return;
  violations_.add(kAnnouncements, device_ + " QP " + std::to_string(qp) +
                                      (due ? ": in ERR, and never said LAST_WQE_REACHED"
                                           : ": said LAST_WQE_REACHED, and is not in ERR"));
  told_[qp] = 1;
}

}  // namespace anyrdma::check
