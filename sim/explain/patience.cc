#include "sim/explain/patience.h"

#include <algorithm>

namespace anyrdma::sim::explain {
namespace {

constexpr int kTimes = 8;

}  // namespace

std::vector<Answer> Patience::judge(const std::vector<Probe>& probes) {
  std::vector<Probe> limited = probes;
  if (stops_ && slowest_ > verbs::Duration::zero()) {
    for (Probe& probe : limited)
      if (probe.parts) probe.limit = *probe.parts + kTimes * slowest_;
  }
  std::vector<Answer> answers = judge_(limited);
  for (const Answer& answer : answers) {
    has_stopped_ |= answer.stopped;
    if (!answer.fails()) slowest_ = std::max(slowest_, answer.end);
  }
  return answers;
}

void Patience::never_stop() {
  stops_ = false;
  has_stopped_ = false;
}

}  // namespace anyrdma::sim::explain
