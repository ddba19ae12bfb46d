#include "sim/faults.h"

#include <utility>

#include "sim/host.h"
#include "sim/world.h"
#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::uint32_t planned_count(const Trigger& trigger) {
  return std::visit(
      Overloaded{[](const AtTime&) { return 1u; },
                 [](const auto& counted) { return counted.occurrence == kAll ? kAll : 1u; }},
      trigger);
}

bool names(const std::string& pattern, const Host& host) {
  return pattern.empty() || pattern == host.name();
}

}  // namespace

/// One fault under way; runs as a task when its time has come or, after a message, at once but
/// outside of the sender's critical section.
class Faults::Planned final : public Task {
 public:
  Planned(Faults& faults, const Fault& fault)
      : status{.fault = fault, .planned = planned_count(fault.trigger), .fired = 0},
        faults_(faults) {}

  /// Counts an occurrence. True: it is the one.
  [[nodiscard]] bool is_due(std::uint32_t occurrence) {
    ++seen_;
    return occurrence == kAll || occurrence == seen_;
  }

  FaultStatus status;

 private:
  void run() override {
    faults_.fire(*this);
    faults_.carry_out(status.fault.action);
  }

  Faults& faults_;
  std::uint32_t seen_ = 0;
};

Faults::Faults(World& world) : world_(world) {}

Faults::~Faults() {
  for (const auto& planned : planned_) world_.scheduler().cancel(*planned);
}

PlanResult<void> Faults::inject(const FaultPlan& plan) {
  for (std::size_t i = 0; i < plan.faults.size(); ++i) {
    if (std::string problem = problem_here(plan.faults[i]); !problem.empty()) {
      return PlanError{i + 1, std::move(problem)};
    }
  }
  for (const Fault& fault : plan.faults) {
    Planned& planned = *planned_.emplace_back(std::make_unique<Planned>(*this, fault));
    if (const auto* at = std::get_if<AtTime>(&fault.trigger)) {
      world_.scheduler().at(planned, Instant(at->time));
    }
    if (std::holds_alternative<OnMessage>(fault.trigger)) watching_messages_ = true;
  }
  return {};
}

std::vector<FaultStatus> Faults::status() const {
  std::vector<FaultStatus> all;
  for (const auto& planned : planned_) all.push_back(planned->status);
  return all;
}

std::vector<Fault> Faults::unfired() const {
  std::vector<Fault> all;
  for (const auto& planned : planned_) {
    if (planned->status.fired == 0) all.push_back(planned->status.fault);
  }
  return all;
}

std::string Faults::problem_with_names(const Trigger& trigger) const {
  const auto unknown = [this](const std::string& host) {
    return !host.empty() && world_.find_host(host) == nullptr;
  };
  if (const auto* message = std::get_if<OnMessage>(&trigger)) {
    if (unknown(message->from)) return "no host '" + message->from + "'";
    if (unknown(message->to)) return "no host '" + message->to + "'";
  }
  if (const auto* request = std::get_if<OnRequest>(&trigger)) {
    if (unknown(request->host)) return "no host '" + request->host + "'";
  }
  return "";
}

std::string Faults::problem_here(const Fault& fault) const {
  if (std::string problem = problem_with(fault); !problem.empty()) return problem;
  if (std::string problem = problem_with_names(fault.trigger); !problem.empty()) return problem;
  if (const auto* remove = std::get_if<RemoveDevice>(&fault.action)) {
    const Host* host = world_.find_host(remove->host);
    if (host == nullptr) return "no host '" + remove->host + "'";
    if (!host->has_device(remove->device)) return "no device '" + remove->device + "' there";
  }
  if (const auto* change = std::get_if<ChangeAddress>(&fault.action)) {
    const Host* host = world_.find_host(change->host);
    if (host == nullptr) return "no host '" + change->host + "'";
    if (!host->has_interface(change->interface)) {
      return "no interface '" + change->interface + "' there";
    }
  }
  return "";
}

void Faults::fire(Planned& planned) {
  ++planned.status.fired;
  if (world_.trace().on()) world_.trace().fault(world_.now(), to_string(planned.status.fault));
}

void Faults::carry_out(const FaultAction& action) {
  // A second removal of one device finds nothing left to do.
  if (const auto* remove = std::get_if<RemoveDevice>(&action)) {
    (void)world_.find_host(remove->host)->remove_device(remove->device).has_value();
  }
  if (const auto* change = std::get_if<ChangeAddress>(&action)) {
    (void)world_.find_host(change->host)->fail_over(change->interface).has_value();
  }
}

bool Faults::on_message(const Host& from, const Host& to, std::uint16_t attribute) {
  bool lost = false;
  for (const auto& planned : planned_) {
    const auto* when = std::get_if<OnMessage>(&planned->status.fault.trigger);
    if (when == nullptr || static_cast<std::uint16_t>(when->message) != attribute) continue;
    if (!names(when->from, from) || !names(when->to, to)) continue;
    if (!planned->is_due(when->occurrence)) continue;
    if (std::holds_alternative<LoseMessage>(planned->status.fault.action)) {
      fire(*planned);
      lost = true;
    } else {
      world_.scheduler().at(*planned, world_.now());
    }
  }
  return lost;
}

std::optional<transport::soft::Admission::Refusal> Faults::on_request(const Host& host) {
  std::optional<transport::soft::Admission::Refusal> refusal;
  for (const auto& planned : planned_) {
    const auto* when = std::get_if<OnRequest>(&planned->status.fault.trigger);
    if (when == nullptr || !names(when->host, host)) continue;
    if (!planned->is_due(when->occurrence)) continue;
    if (const auto* reject = std::get_if<RejectRequest>(&planned->status.fault.action)) {
      if (refusal) continue;
      fire(*planned);
      refusal = transport::soft::Admission::Refusal{reject->reason, reject->data};
    } else {
      world_.scheduler().at(*planned, world_.now());
    }
  }
  return refusal;
}

}  // namespace anyrdma::sim
