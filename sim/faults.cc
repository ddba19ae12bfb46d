#include "sim/faults.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "sim/altered_message.h"
#include "sim/fault_action.h"
#include "sim/fault_names.h"
#include "sim/host.h"
#include "sim/milestones.h"
#include "sim/recorder.h"
#include "sim/schedule/random_stream.h"
#include "sim/world.h"
#include "transport/fault/plan/drawn.h"
#include "transport/fault/plan/flaps.h"
#include "transport/fault/plan/legal.h"
#include "transport/fault/plan/matching.h"

namespace anyrdma::sim {
namespace {

bool names(const std::string& pattern, const Host& host) {
  return pattern.empty() || pattern == host.name();
}

bool names_way(const auto& on, const Interfaces::Place& from, const Interfaces::Place& to) {
  const auto names_rail = [](const std::string& pattern, const Interface& interface) {
    return pattern.empty() || pattern == interface.name;
  };
  return names(on.from, from.host) && names(on.to, to.host) &&
         names_rail(on.from_interface, from.interface) && names_rail(on.to_interface, to.interface);
}

bool names_packet(const Trigger& trigger, const Interfaces::Place& from,
                  const Interfaces::Place& to, std::uint16_t attribute) {
  if (const auto* on = std::get_if<OnMessage>(&trigger))
    return static_cast<std::uint16_t>(on->message) == attribute && names_way(*on, from, to);
  const auto* on = std::get_if<OnPacket>(&trigger);
  return on != nullptr && names_way(*on, from, to);
}

}  // namespace

/// One fault under way; runs as a task when its time has come or, after its trigger, at once but
/// outside of everybody's critical section.
class Faults::Planned final : public fault::Arming, public Task {
 public:
  /// `drawn`: the fault, with nothing left to chance.
  Planned(Faults& faults, const Fault& fault, Fault drawn)
      : Arming(fault), faults_(faults), drawn_(std::move(drawn)) {}

  [[nodiscard]] bool is_over() const { return over_; }
  /// It does not happen any more, nor does what it has done end.
  void call_off() {
    over_ = true;
    faults_.world_.scheduler().cancel(*this);
    faults_.world_.scheduler().cancel(end_);
    faults_.world_.scheduler().cancel(flapping_);
  }
  [[nodiscard]] const Fault& drawn() const { return drawn_; }
  /// What it has done goes on, and will end.
  [[nodiscard]] bool ends_later() const { return end_.armed(); }

 private:
  class End final : public Task {
   public:
    explicit End(Planned& planned) : planned_(planned) {}
    /// How it was before, which not all actions that end it know.
    Before before;

   private:
    [[nodiscard]] std::string what() override {
      return "a fault ends: " + to_string(planned_.drawn_);
    }
    void run() override {
      planned_.faults_.tell("the end of " + to_string(planned_.drawn_), planned_.drawn_.action);
      carry_out_end(planned_.faults_.world_, planned_.drawn_.action, before);
    }
    Planned& planned_;
  };

  /// The port goes down and up.
  class Flapping final : public Task {
   public:
    explicit Flapping(Planned& planned) : planned_(planned) {}
    /// True: the port has lost its link. From the beginning, if it flaps already.
    bool start() {
      left_ = fault::flaps_of(flap(), planned_.drawn_.lasts);
      if (armed() && is_down_) return true;
      return lose();
    }

   private:
    [[nodiscard]] const FlapPort& flap() const {
      return std::get<FlapPort>(planned_.drawn_.action);
    }
    [[nodiscard]] std::string what() override {
      return "a port flaps: " + to_string(planned_.drawn_);
    }
    void run() override {
      if (!is_down_) {
        (void)lose();
        return;
      }
      is_down_ = false;
      set(PortUp{flap().host, flap().device, flap().port});
      if (left_ != 0) wait(flap().every - flap().down);
    }
    bool lose() {
      --left_;
      is_down_ = true;
      const bool lost = set(PortDown{flap().host, flap().device, flap().port});
      wait(flap().down);
      return lost;
    }
    bool set(const fault::FaultAction& action) {
      planned_.faults_.tell("flap: " + to_string(action), action);
      return carry_out(planned_.faults_.world_, action);
    }
    void wait(verbs::Duration time) {
      Scheduler& scheduler = planned_.faults_.world_.scheduler();
      scheduler.at(*this, planned_.faults_.world_.now() + time);
    }
    Planned& planned_;
    std::uint32_t left_ = 0;
    bool is_down_ = false;
  };

  [[nodiscard]] std::string what() override { return "a fault happens: " + to_string(drawn_); }
  void run() override {
    if (std::holds_alternative<AtTime>(drawn_.trigger)) ++status.armed;
    faults_.triggers_.fire(*this);
    World& world = faults_.world_;
    if (std::holds_alternative<FlapPort>(drawn_.action)) {
      if (flapping_.start()) ++status.observed;
      return;
    }
    Before before;
    if (!drawn_.lasts.for_ever() && !end_.armed()) before = before_action(world, drawn_.action);
    // A cut path is observed when somebody comes that way.
    const bool changed = carry_out(world, drawn_.action);
    const bool is_cut = std::holds_alternative<CutPath>(drawn_.action) ||
                        std::holds_alternative<CutRail>(drawn_.action);
    if (changed && !is_cut) ++status.observed;
    if (!changed || drawn_.lasts.for_ever()) return;
    if (!end_.armed()) end_.before = std::move(before);
    world.scheduler().at(end_, world.now() + drawn_.lasts.least);
  }

  Faults& faults_;
  Fault drawn_;
  bool over_ = false;
  End end_{*this};
  Flapping flapping_{*this};
};

Faults::Faults(World& world) : world_(world) {}

Faults::~Faults() {
  end();
}

// --- planning -----------------------------------------------------------------------------------

PlanResult<void> Faults::check(const FaultPlan& plan) const {
  for (std::size_t i = 0; i < plan.faults.size(); ++i) {
    if (std::string problem = problem_here(plan.faults[i]); !problem.empty()) {
      return PlanError{i + 1, std::move(problem)};
    }
  }
  return {};
}

PlanResult<void> Faults::inject(const FaultPlan& plan) {
  if (PlanResult<void> checked = check(plan); !checked) return checked.error();
  for (const Fault& fault : plan.faults) {
    if (world_.recorder() != nullptr) world_.recorder()->about("plan", to_string(fault));
    const auto same = std::ranges::count_if(
        planned_, [&](const auto& other) { return other->status.fault == fault; });
    // The streams' names are the fault's text, so that leaving another one out changes nothing.
    const std::string name = to_string(fault) + " " + std::to_string(same + 1);
    Fault drawn = fault;
    if (fault::leaves_open(fault)) {
      RandomStream dice(world_.seed(), "drawn " + name);
      drawn = fault::resolved(fault, dice);
    }
    Planned& planned = *planned_.emplace_back(std::make_unique<Planned>(*this, fault, drawn));
    if (planned.needs_dice())
      planned.dice = std::make_unique<RandomStream>(world_.seeds(), "fault " + name);
    triggers_.add(planned);
    watch_for(planned);
  }
  return {};
}

void Faults::end() {
  for (const auto& planned : planned_) planned->call_off();
}

bool Faults::will_restart(std::string_view host) const {
  return std::ranges::any_of(planned_, [&](const auto& planned) {
    const Fault& fault = planned->drawn();
    if (const auto* crash = std::get_if<CrashHost>(&fault.action); crash != nullptr) {
      return crash->host == host && planned->ends_later();
    }
    const auto* restart = std::get_if<RestartHost>(&fault.action);
    return restart != nullptr && restart->host == host && planned->status.fired == 0 &&
           std::holds_alternative<AtTime>(fault.trigger);
  });
}

bool Faults::may_restart(std::string_view host) const {
  return std::ranges::any_of(planned_, [&](const auto& planned) {
    const Fault& fault = planned->drawn();
    const auto* crash = std::get_if<CrashHost>(&fault.action);
    if (crash != nullptr) return crash->host == host && !fault.lasts.for_ever();
    const auto* restart = std::get_if<RestartHost>(&fault.action);
    return restart != nullptr && restart->host == host;
  });
}

void Faults::watch_for(Planned& planned) {
  const Trigger& trigger = planned.drawn().trigger;
  if (const auto* at = std::get_if<AtTime>(&trigger)) {
    world_.scheduler().at(planned, Instant(at->time));
  }
  watching_packets_ |=
      std::holds_alternative<OnMessage>(trigger) || std::holds_alternative<OnPacket>(trigger);
  if (std::holds_alternative<OnQueued>(trigger) || std::holds_alternative<OnFetched>(trigger)) {
    watching_events_ = true;
    world_.watch_events();
  }
  if (fault::counts_at_gate(planned.status.fault)) {
    watching_gate_ = true;
    world_.watch_gate();
  } else if (std::holds_alternative<OnCall>(trigger) || std::holds_alternative<OnState>(trigger)) {
    watching_calls_ = true;
    world_.watch_calls();
  }
}

fault::Oversight Faults::oversight() const {
  const auto any = [this](auto&& is_it) {
    return std::any_of(planned_.begin(), planned_.end(),
                       [&](const auto& planned) { return is_it(planned->status.fault); });
  };
  return {
      .entries = watching_events_ || watching_calls_,
      .events = watching_events_,
      .calls = watching_calls_,
      .gate = watching_gate_,
      .requests =
          any([](const Fault& fault) { return std::holds_alternative<OnRequest>(fault.trigger); }),
      .routes =
          any([](const Fault& fault) { return std::holds_alternative<OnRouting>(fault.trigger); }),
      .takes = any(
          [](const Fault& fault) { return std::holds_alternative<SlowConsumer>(fault.action); })};
}

std::string Faults::problem_here(const Fault& fault) const {
  if (std::string problem = problem_with(fault); !problem.empty()) return problem;
  if (std::holds_alternative<HoldEvent>(fault.action)) {
    return "'hold' is not possible on simulated hosts: delay the message that causes the event";
  }
  const PlanResult<FaultPlan> again = FaultPlan::parse(to_string(fault));
  if (!again) return again.error().reason;
  if (again->faults != std::vector{fault}) return "a fault whose text means something else";
  return problem_with_names(world_, fault);
}

// --- accounting ---------------------------------------------------------------------------------

std::string Faults::report() const {
  std::string text;
  for (const auto& planned : planned_) text += planned->status.to_string() + "\n";
  return text;
}

std::vector<Fault> Faults::unfired() const {
  std::vector<Fault> all;
  for (const auto& planned : planned_) {
    const FaultStatus& status = planned->status;
    if (status.fired == 0 && !status.fault.maybe) all.push_back(status.fault);
  }
  return all;
}

// --- running ------------------------------------------------------------------------------------

// All faults are Planned.
bool Faults::is_over(const fault::Arming& fault) const {
  return static_cast<const Planned&>(fault).is_over();
}

void Faults::pull(fault::Arming& fault) {
  world_.scheduler().at(static_cast<Planned&>(fault), world_.now());
}

void Faults::on_fired(fault::Arming& fault) {
  const Planned& planned = static_cast<Planned&>(fault);
  if (world_.milestones() != nullptr)
    world_.milestones()->on_fault(planned.status.fault.action.index());
  if (world_.trace().on() || world_.stream() != nullptr)
    tell(to_string(planned.drawn()), planned.drawn().action);
  if (packet_ != nullptr && world_.recorder() != nullptr) world_.recorder()->struck(*packet_);
}

void Faults::tell(const std::string& text, const fault::FaultAction& action) {
  world_.trace().fault(world_.now(), text);
  if (world_.stream() != nullptr) world_.stream()->fault(text, action);
}

Mishap Faults::on_packet(const Interfaces::Place& from, const Interfaces::Place& to,
                         verbs::soft::Packet& packet, bool passes) {
  const std::uint16_t attribute = cm_attribute(packet);
  const auto is_it = [&](const Trigger& trigger) {
    return names_packet(trigger, from, to, attribute);
  };
  const auto change = [&](const AlterMessage& how) { alter(packet, attribute, how); };
  packet_ = &packet;
  Mishap mishap = triggers_.on_packet(std::ref(is_it), std::ref(change), passes);
  packet_ = nullptr;
  // As random as the run, the same wherever it is repeated.
  if (mishap.corrupted) mishap.chance = world_.random("faults: which bit").next();
  return mishap;
}

std::optional<transport::soft::Admission::Refusal> Faults::on_request(const Host& host) {
  const std::optional<fault::Refusal> planned = triggers_.on_request(host.name());
  if (!planned) return std::nullopt;
  transport::soft::Admission::Refusal refusal;
  refusal.reason = planned->reason;
  refusal.private_data = planned->private_data;
  refusal.no_room = planned->forgotten;
  refusal.unanswered = planned->ignored;
  refusal.postponed = planned->postponed;
  return refusal;
}

void Faults::on_event(const Host& host, transport::EventObserver::Step step, std::uint64_t id,
                      rdma_cm_event_type type) {
  triggers_.on_event(host.name(), step, id, type);
}

void Faults::on_call(const Host& host, std::uint64_t id, std::string_view call) {
  triggers_.on_call(host.name(), id, call);
}

void Faults::on_state(const Host& host, std::uint64_t id, std::string_view state) {
  triggers_.on_state(host.name(), id, state);
}

int Faults::on_resolving(const Host& host) {
  return triggers_.on_resolving(host.name());
}

int Faults::on_routing(const Host& host) {
  return triggers_.on_routing(host.name());
}

int Faults::on_gate(const Host& host, std::uint64_t id, std::string_view call) {
  return triggers_.on_gate(host.name(), id, call);
}

ibv_wc_status Faults::on_work(const Host& host, const verbs::PostedWork& work) {
  return triggers_.on_work(host.name(), work);
}

void Faults::on_failure(const ibv_wc& completion) {
  triggers_.on_failure(completion);
}

void Faults::on_dead_rail(const Host& host, std::string_view interface) {
  for (const auto& planned : planned_) {
    const auto* cut = std::get_if<CutRail>(&planned->status.fault.action);
    if (cut == nullptr || planned->status.fired == 0) continue;
    if (names(cut->host, host) && cut->interface == interface) ++planned->status.observed;
  }
}

void Faults::on_dead_path(const Host& from, const Host& to) {
  for (const auto& planned : planned_) {
    const auto* cut = std::get_if<CutPath>(&planned->status.fault.action);
    if (cut == nullptr || planned->status.fired == 0) continue;
    const bool forth = names(cut->from, from) && names(cut->to, to);
    const bool back = cut->both && names(cut->from, to) && names(cut->to, from);
    if (forth || back) ++planned->status.observed;
  }
}

}  // namespace anyrdma::sim
