#include "transport/fault/plan/triggers.h"

#include <algorithm>
#include <string>
#include <variant>

#include "transport/fault/plan/matching.h"
#include "transport/fault/plan/scalars.h"
#include "verbs/assert.h"

namespace anyrdma::fault {
namespace {

using Step = transport::EventObserver::Step;

constexpr std::uint8_t kStaleConnection = 10;  // IBTA vol 1, 12.6.7.2
constexpr std::string_view kStatePrefix = "RDMA_CM_";

template <class On>
bool is_at(const On& on, std::string_view host) {
  return on.host.empty() || host.empty() || on.host == host;
}

template <class On>
bool names_id(const On& on, std::string_view host, std::uint64_t id) {
  return is_at(on, host) && (on.id == 0 || on.id == id);
}

template <class On>
bool names_event(const Fault& fault, std::string_view host, std::uint64_t id,
                 rdma_cm_event_type type) {
  const On* on = std::get_if<On>(&fault.trigger);
  return on != nullptr && on->event == type && names_id(*on, host, id);
}

bool names_call_at(const Fault& fault, std::string_view host, std::uint64_t id,
                   std::string_view call) {
  const auto* on = std::get_if<OnCall>(&fault.trigger);
  return on != nullptr && is_at(*on, host) && names_call(*on, id, call);
}

template <class On>
bool names_host(const Fault& fault, std::string_view host) {
  const On* on = std::get_if<On>(&fault.trigger);
  return on != nullptr && is_at(*on, host);
}

int errno_of(const FailCall& fail) {
  return fail.error.value;
}

/// Of FailResolving, FailRouting: a word of kResolvingErrors or kRoutingErrors.
template <class Fail>
int errno_of(const Fail& fail) {
  Errno error;
  const std::string problem = parse_word("error", fail.error, error);
  CM_ASSERT(problem.empty());
  return error.value;
}

/// Nothing: the action is not one on a request.
std::optional<Refusal> refusal_by(const FaultAction& action) {
  Refusal refusal;
  if (const auto* reject = std::get_if<RejectRequest>(&action)) {
    refusal.reason = reject->reason;
    refusal.private_data = reject->data;
  } else if (const auto* postpone = std::get_if<PostponeRequest>(&action)) {
    refusal.postponed = postpone->timeout;
  } else if (std::holds_alternative<StaleRequest>(action)) {
    refusal.reason = kStaleConnection;
  } else if (std::holds_alternative<OverflowBacklog>(action)) {
    refusal.forgotten = true;
  } else if (std::holds_alternative<IgnoreRequest>(action)) {
    refusal.ignored = true;
  } else {
    return std::nullopt;
  }
  return refusal;
}

}  // namespace

// --- counts -------------------------------------------------------------------------------------

std::vector<FaultStatus> Triggers::status() const {
  std::vector<FaultStatus> all;
  for (const Arming* fault : faults_) all.push_back(fault->status);
  return all;
}

bool Triggers::is_due(Arming& fault) {
  if (driver_.is_over(fault)) return false;
  const bool due = fault.is_due();
  driver_.on_counted(fault);
  return due;
}

void Triggers::fire(Arming& fault) {
  ++fault.status.fired;
  driver_.on_counted(fault);
  driver_.on_fired(fault);
}

void Triggers::count_observed(Arming& fault) {
  ++fault.status.observed;
  driver_.on_counted(fault);
}

template <class IsIt>
void Triggers::pull_each(IsIt&& is_it) {
  for (Arming* fault : faults_) {
    if (is_it(fault->status.fault) && is_due(*fault)) driver_.pull(*fault);
  }
}

template <class Fail, class IsIt>
int Triggers::error_of(IsIt&& is_it) {
  int error = 0;
  for (Arming* fault : faults_) {
    if (!is_it(fault->status.fault) || !is_due(*fault)) continue;
    const auto* fail = std::get_if<Fail>(&fault->status.fault.action);
    if (fail == nullptr) {
      driver_.pull(*fault);
    } else if (error == 0) {
      fire(*fault);
      count_observed(*fault);
      error = errno_of(*fail);
    }
  }
  return error;
}

// --- events and calls ---------------------------------------------------------------------------

void Triggers::on_event(std::string_view host, Step step, std::uint64_t id,
                        rdma_cm_event_type type) {
  pull_each([&](const Fault& fault) {
    if (std::holds_alternative<HoldEvent>(fault.action)) return false;
    return step == Step::kQueued ? names_event<OnQueued>(fault, host, id, type)
                                 : names_event<OnFetched>(fault, host, id, type);
  });
}

std::optional<verbs::Duration> Triggers::on_delivery(std::string_view host, std::uint64_t id,
                                                     rdma_cm_event_type type) {
  std::optional<verbs::Duration> longest;
  for (Arming* fault : faults_) {
    const Fault& what = fault->status.fault;
    const auto* hold = std::get_if<HoldEvent>(&what.action);
    if (hold == nullptr || !names_event<OnQueued>(what, host, id, type) || !is_due(*fault))
      continue;
    fire(*fault);
    count_observed(*fault);
    longest = std::max(longest.value_or(hold->by), hold->by);
  }
  return longest;
}

void Triggers::on_call(std::string_view host, std::uint64_t id, std::string_view call) {
  pull_each([&](const Fault& fault) {
    return !counts_at_gate(fault) && names_call_at(fault, host, id, call);
  });
}

int Triggers::on_gate(std::string_view host, std::uint64_t id, std::string_view call) {
  return error_of<FailCall>([&](const Fault& fault) {
    return counts_at_gate(fault) && names_call_at(fault, host, id, call);
  });
}

void Triggers::on_state(std::string_view host, std::uint64_t id, std::string_view state) {
  if (state.starts_with(kStatePrefix)) state.remove_prefix(kStatePrefix.size());
  pull_each([&](const Fault& fault) {
    const auto* on = std::get_if<OnState>(&fault.trigger);
    return on != nullptr && on->state == state && names_id(*on, host, id);
  });
}

// --- connections --------------------------------------------------------------------------------

std::optional<Refusal> Triggers::on_request(std::string_view host) {
  std::optional<Refusal> first;
  for (Arming* fault : faults_) {
    const Fault& what = fault->status.fault;
    if (!names_host<OnRequest>(what, host) || !is_due(*fault)) continue;
    std::optional<Refusal> refusal = refusal_by(what.action);
    if (!refusal) {
      driver_.pull(*fault);
    } else if (!first) {
      fire(*fault);
      count_observed(*fault);
      first = std::move(refusal);
    }
  }
  return first;
}

int Triggers::on_resolving(std::string_view host) {
  return error_of<FailResolving>(
      [host](const Fault& fault) { return names_host<OnResolving>(fault, host); });
}

int Triggers::on_routing(std::string_view host) {
  return error_of<FailRouting>(
      [host](const Fault& fault) { return names_host<OnRouting>(fault, host); });
}

// --- work and packets ---------------------------------------------------------------------------

ibv_wc_status Triggers::on_work(std::string_view host, const verbs::PostedWork& work) {
  ibv_wc_status status = IBV_WC_SUCCESS;
  for (Arming* fault : faults_) {
    const Fault& what = fault->status.fault;
    if (!names_host<OnCompletion>(what, host) || !names_work(what, work) || !is_due(*fault))
      continue;
    const auto* complete = std::get_if<CompleteWork>(&what.action);
    if (complete == nullptr) {
      driver_.pull(*fault);
    } else if (status == IBV_WC_SUCCESS) {
      fire(*fault);
      status = complete->status;
      spoiled_.push_back({fault, work, status});
    }
  }
  return status;
}

void Triggers::on_failure(const ibv_wc& completion) {
  std::erase_if(spoiled_, [this, &completion](const Spoiled& each) {
    const bool shared = each.work.qp_num == 0;  // a shared receive queue's: any queue pair
    const bool is_it = each.status == completion.status && each.work.wr_id == completion.wr_id &&
                       (shared || each.work.qp_num == completion.qp_num);
    if (is_it) count_observed(*each.fault);
    return is_it;
  });
}

verbs::Mishap Triggers::on_packet(const std::function<bool(const Trigger&)>& is_it,
                                  const std::function<void(const AlterMessage&)>& alter,
                                  bool arrives) {
  verbs::Mishap mishap;
  for (Arming* fault : faults_) {
    const Fault& what = fault->status.fault;
    if (!is_it(what.trigger) || !is_due(*fault)) continue;
    if (const auto* change = std::get_if<AlterMessage>(&what.action)) {
      alter(*change);
      mishap.altered = true;
    } else if (!befall(what.action, mishap)) {
      driver_.pull(*fault);
      continue;
    }
    fire(*fault);
    if (arrives) count_observed(*fault);
  }
  return mishap;
}

}  // namespace anyrdma::fault
