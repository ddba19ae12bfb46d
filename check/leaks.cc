#include "check/leaks.h"

namespace anyrdma::check {
namespace {

constexpr std::string_view kLeaks = "leaks";

}  // namespace

void Leaks::on_left(const std::string& owner, std::uint64_t count, std::string_view what) {
  if (count == 0) return;
  violations_.add(
      kLeaks, owner + ": " + std::to_string(count) + " " + std::string(what) + " never destroyed");
}

void Leaks::on_timers(const std::string& device, std::uint32_t qp, const QpCensus& census) {
  const bool sends = census.state == IBV_QPS_RTS || census.state == IBV_QPS_SQD;
  if (census.timers == 0 || sends) return;
  violations_.add(kLeaks, device + " QP " + std::to_string(qp) + ": " +
                              std::to_string(census.timers) + " timers armed in state " +
                              std::to_string(census.state));
}

void Leaks::on_timers(const std::string& device, std::size_t armed, std::size_t owned) {
  if (armed == owned) return;
  violations_.add(kLeaks, device + ": " + std::to_string(armed) + " timers armed, of which " +
                              std::to_string(owned) + " have an owner");
}

}  // namespace anyrdma::check
