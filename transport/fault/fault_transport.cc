#include "transport/fault/fault_transport.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>
#include <variant>

#include "transport/fault/fault_endpoint.h"
#include "transport/fault/plan/altered_field.h"
#include "transport/fault/plan/drawn.h"
#include "transport/fault/plan/ending.h"
#include "verbs/assert.h"
#include "verbs/overloaded.h"

namespace anyrdma::fault {
namespace {

using verbs::CriticalSection;
using verbs::Instant;
using Step = transport::EventObserver::Step;

/// A packet without a sender that has a name is seen by who gets it, if that has one.
template <class On>
bool goes_this_way(const On& on, verbs::PacketWay way) {
  const bool arrives = on.from.empty() && !on.to.empty();
  return arrives == (way == verbs::PacketWay::kIn);
}

bool watches_packet(const Trigger& trigger, verbs::PacketWay way, std::uint16_t attribute) {
  if (const auto* on = std::get_if<OnMessage>(&trigger))
    return static_cast<std::uint16_t>(on->message) == attribute && goes_this_way(*on, way);
  const auto* on = std::get_if<OnPacket>(&trigger);
  return on != nullptr && goes_this_way(*on, way);
}

}  // namespace

// --- life ---------------------------------------------------------------------------------------

FaultTransport::FaultTransport(transport::Transport& below, const FaultPlan& plan, Ground& ground,
                               RequestsSeen requests)
    : below_(below), ground_(ground), requests_(requests), start_(below.runtime().now()) {
  for (const Fault& each : plan.faults) {
    Arming& fault = *faults_.emplace_back(std::make_unique<Arming>(drawn(each)));
    if (fault.needs_dice()) fault.dice = dice_for("fault ", fault.status.fault, 0);
    if (std::holds_alternative<AtTime>(fault.status.fault.trigger)) timed_.push_back(&fault);
    triggers_.add(fault);
  }
  set_event_observer(this);
  set_call_observer(this);
  set_call_gate(this);
}

FaultTransport::~FaultTransport() {
  const CriticalSection section(runtime());
  graves_.clear();
  CM_ASSERT(endpoints_.empty());
}

// As in the simulator: the stream's name is the fault's text, so that leaving another fault out
// changes nothing here.
std::unique_ptr<verbs::Random> FaultTransport::dice_for(std::string_view what, const Fault& fault,
                                                        std::size_t to_come) const {
  const auto same = static_cast<std::size_t>(std::ranges::count_if(
      faults_, [&](const auto& other) { return other->status.fault == fault; }));
  return ground_.dice(std::string(what) + to_string(fault) + " " + std::to_string(same + to_come));
}

Fault FaultTransport::drawn(const Fault& fault) const {
  if (!leaves_open(fault)) return fault;
  return resolved(fault, *dice_for("drawn ", fault, 1));
}

// --- Transport ----------------------------------------------------------------------------------

std::span<ibv_device* const> FaultTransport::devices() {
  const auto all = below_.devices();
  if (gone_.empty()) return all;
  present_.clear();
  std::ranges::copy_if(all, std::back_inserter(present_), [this](ibv_device* device) {
    return std::ranges::find(gone_, device) == gone_.end();
  });
  return present_;
}

bool FaultTransport::is_gone(const ibv_context* context) const {
  return context != nullptr && std::ranges::find(gone_, context->device) != gone_.end();
}

verbs::Result<std::unique_ptr<transport::Endpoint>> FaultTransport::create_endpoint(
    rdma_port_space space, ibv_qp_type type, transport::EndpointHandler& handler) {
  auto endpoint = std::make_unique<FaultEndpoint>(*this, &handler);
  auto below = below_.create_endpoint(space, type, endpoint->handler_for_below());
  if (!below) return below.error();
  endpoint->stand_on(std::move(*below));
  endpoint->number(next_number());
  return std::unique_ptr<transport::Endpoint>(std::move(endpoint));
}

// --- endpoints ----------------------------------------------------------------------------------

std::uint64_t FaultTransport::enter(FaultEndpoint& endpoint) {
  endpoints_.emplace(++serials_, &endpoint);
  return serials_;
}

void FaultTransport::bury(std::unique_ptr<transport::Endpoint> endpoint) {
  graves_.push_back(std::move(endpoint));
  wake();
}

std::optional<Refusal> FaultTransport::refusal_of_request() {
  if (requests_ == RequestsSeen::kBelow) return std::nullopt;
  return next_refusal();
}

// --- triggers -----------------------------------------------------------------------------------

// Fetching happens outside of the critical section, queueing inside.
void FaultTransport::on_event(Step step, std::uint64_t id, std::uint64_t listener,
                              const rdma_cm_event& event) {
  if (auto* below = below_.event_observer()) below->on_event(step, id, listener, event);
  if (step == Step::kQueued) return triggers_.on_event({}, step, id, event.event);
  const CriticalSection section(runtime());
  triggers_.on_event({}, step, id, event.event);
}

void FaultTransport::on_call(std::uint64_t id, std::string_view call, int error) {
  if (auto* below = below_.call_observer()) below->on_call(id, call, error);
  triggers_.on_call({}, id, call);
}

verbs::Mishap FaultTransport::on_packet(verbs::PacketWay way, std::uint16_t attribute,
                                        std::span<std::uint8_t> message) {
  verbs::Mishap mishap = triggers_.on_packet(
      [&](const Trigger& trigger) { return watches_packet(trigger, way, attribute); },
      [&](const AlterMessage& change) {
        alter(message.first<ibcm::wire::kMadSize>(), attribute, change);
      });
  if (!mishap.corrupted) return mishap;
  if (bits_ == nullptr) bits_ = ground_.dice("faults: which bit");
  mishap.chance = bits_->next();
  return mishap;
}

void FaultTransport::on_counted(const Arming& fault) {
  const auto at = std::ranges::find(faults_, &fault, &std::unique_ptr<Arming>::get);
  ground_.on_counted(static_cast<std::size_t>(at - faults_.begin()), fault.status);
}

void FaultTransport::pull(Arming& fault) {
  pulled_.push_back(&fault);
  ground_.call_conclusion();
  wake();
}

// --- driving ------------------------------------------------------------------------------------

std::optional<Instant> FaultTransport::next_deadline() const {
  if (!pulled_.empty() || !graves_.empty()) return Instant{};
  std::optional<Instant> first;
  for (const Arming* fault : timed_) {
    first = verbs::earlier(first, start_ + std::get<AtTime>(fault->status.fault.trigger).time);
  }
  for (const Ending& ending : endings_) first = verbs::earlier(first, ending.when);
  for (const auto& [serial, endpoint] : endpoints_) {
    first = verbs::earlier(first, endpoint->next_deadline());
  }
  return first;
}

void FaultTransport::on_timer(Instant now) {
  const CriticalSection section(runtime());
  graves_.clear();
  pull_timed(now);
  end_what_lasted(now);
  deliver_held(now);
  conclude();
}

void FaultTransport::pull_timed(Instant now) {
  std::erase_if(timed_, [&](Arming* fault) {
    if (start_ + std::get<AtTime>(fault->status.fault.trigger).time > now) return false;
    if (triggers_.is_due(*fault)) pulled_.push_back(fault);
    return true;
  });
}

void FaultTransport::end_what_lasted(Instant now) {
  std::vector<FaultAction> due;
  std::erase_if(endings_, [&](const Ending& ending) {
    if (ending.when > now) return false;
    due.push_back(ending.action);
    return true;
  });
  for (const FaultAction& action : due) {
    if (!ground_.is_over()) (void)ground_.carry_out(action);
  }
}

// What an action leads to comes after it.
void FaultTransport::conclude() {
  for (Arming* fault : std::exchange(pulled_, {})) carry_out(*fault);
}

/// The action may make and end endpoints.
template <class Do>
void FaultTransport::for_each_endpoint(Do&& action) {
  std::vector<std::uint64_t> serials;
  for (const auto& [serial, endpoint] : endpoints_) serials.push_back(serial);
  for (const std::uint64_t serial : serials) {
    if (const auto found = endpoints_.find(serial); found != endpoints_.end()) {
      action(*found->second);
    }
  }
}

void FaultTransport::deliver_held(Instant now) {
  for_each_endpoint([now](FaultEndpoint& endpoint) { endpoint.deliver_held(now); });
}

// --- actions ------------------------------------------------------------------------------------

void FaultTransport::carry_out(Arming& fault) {
  if (ground_.is_over()) return;
  triggers_.fire(fault);
  const FaultAction& action = fault.status.fault.action;
  // Afterwards no object is left that could report it.
  const bool fatal =
      std::holds_alternative<CrashHost>(action) || std::holds_alternative<KillPrograms>(action);
  if (fatal) triggers_.count_observed(fault);
  Effect effect = ground_.carry_out(action);
  if (effect == Effect::kUnknown) effect = carry_out_here(action);
  if (effect == Effect::kSome && !fatal) triggers_.count_observed(fault);
  const auto ending = ending_of(action);
  if (fault.status.fault.lasts.for_ever() || effect != Effect::kSome || !ending) return;
  endings_.push_back({runtime().now() + fault.status.fault.lasts.least, *ending});
  wake();
}

Effect FaultTransport::carry_out_here(const FaultAction& action) {
  const verbs::Overloaded cases{[this](const RemoveDevice& gone) { return remove(gone.device); },
                                [this](const ChangeAddress&) { return change_address(); },
                                [](const auto&) { return Effect::kNone; }};
  return std::visit(cases, action);
}

Effect FaultTransport::remove(const std::string& name) {
  const auto all = devices();
  const auto found = std::ranges::find_if(
      all, [&](const ibv_device* device) { return std::string_view(device->name) == name; });
  if (found == all.end()) return Effect::kNone;
  ibv_device* const device = *found;
  gone_.push_back(device);
  for_each_endpoint([device](FaultEndpoint& endpoint) {
    if (endpoint.is_on(device)) endpoint.remove();
  });
  return Effect::kSome;
}

Effect FaultTransport::change_address() {
  Effect effect = Effect::kNone;
  for_each_endpoint([&effect](FaultEndpoint& endpoint) {
    if (!endpoint.is_bound()) return;
    endpoint.raise(RDMA_CM_EVENT_ADDR_CHANGE, 0);
    effect = Effect::kSome;
  });
  return effect;
}

}  // namespace anyrdma::fault
