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
#include "transport/fault/plan/matching.h"
#include "transport/fault/plan/scalars.h"
#include "verbs/assert.h"
#include "verbs/overloaded.h"

namespace anyrdma::fault {
namespace {

using verbs::CriticalSection;
using verbs::Instant;
using Step = transport::EventObserver::Step;

constexpr std::uint8_t kStaleConnection = 10;  // IBTA vol 1, 12.6.7.2

/// The plan is this host's alone, so names need no look.
template <class On>
bool watches(const Trigger& trigger, std::uint64_t id, rdma_cm_event_type type) {
  const On* on = std::get_if<On>(&trigger);
  return on != nullptr && on->event == type && (on->id == 0 || on->id == id);
}

bool watches_call(const Trigger& trigger, std::uint64_t id, std::string_view call) {
  const auto* on = std::get_if<OnCall>(&trigger);
  return on != nullptr && names_call(*on, id, call);
}

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

/// A word of kRoutingErrors.
int errno_of(std::string_view word) {
  Errno error;
  const std::string problem = parse_word("error", word, error);
  CM_ASSERT(problem.empty());
  return error.value;
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

std::vector<FaultStatus> FaultTransport::status() const {
  std::vector<FaultStatus> all;
  for (const auto& fault : faults_) all.push_back(fault->status);
  return all;
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

std::optional<Refusal> FaultTransport::next_refusal() {
  std::optional<Refusal> refusal;
  for (const auto& fault : faults_) {
    FaultStatus& status = fault->status;
    if (!std::holds_alternative<OnRequest>(status.fault.trigger) || !is_due(*fault)) continue;
    const auto* reject = std::get_if<RejectRequest>(&status.fault.action);
    const bool stale = std::holds_alternative<StaleRequest>(status.fault.action);
    const bool overflow = std::holds_alternative<OverflowBacklog>(status.fault.action);
    const bool ignored = std::holds_alternative<IgnoreRequest>(status.fault.action);
    const auto* postpone = std::get_if<PostponeRequest>(&status.fault.action);
    if (reject == nullptr && postpone == nullptr && !overflow && !ignored && !stale) {
      pull(*fault);
      continue;
    }
    if (refusal) continue;
    fire(*fault);
    count_observed(*fault);
    refusal.emplace();
    refusal->forgotten = overflow;
    refusal->ignored = ignored;
    if (postpone != nullptr) refusal->postponed = postpone->timeout;
    if (stale) refusal->reason = kStaleConnection;
    if (reject == nullptr) continue;
    refusal->reason = reject->reason;
    refusal->private_data = reject->data;
  }
  return refusal;
}

int FaultTransport::next_routing() {
  int error = 0;
  for (const auto& fault : faults_) {
    const Fault& what = fault->status.fault;
    if (!std::holds_alternative<OnRouting>(what.trigger) || !is_due(*fault)) continue;
    const auto* fail = std::get_if<FailRouting>(&what.action);
    if (fail == nullptr) {
      pull(*fault);
    } else if (error == 0) {
      fire(*fault);
      count_observed(*fault);
      error = errno_of(fail->error);
    }
  }
  return error;
}

std::optional<verbs::Duration> FaultTransport::hold(std::uint64_t id, rdma_cm_event_type type) {
  std::optional<verbs::Duration> longest;
  for (const auto& fault : faults_) {
    FaultStatus& status = fault->status;
    const auto* hold = std::get_if<HoldEvent>(&status.fault.action);
    if (hold == nullptr || !watches<OnQueued>(status.fault.trigger, id, type)) continue;
    if (!is_due(*fault)) continue;
    fire(*fault);
    count_observed(*fault);
    longest = std::max(longest.value_or(hold->by), hold->by);
  }
  return longest;
}

// --- triggers -----------------------------------------------------------------------------------

// Fetching happens outside of the critical section, queueing inside.
void FaultTransport::on_event(Step step, std::uint64_t id, std::uint64_t listener,
                              const rdma_cm_event& event) {
  if (auto* below = below_.event_observer()) below->on_event(step, id, listener, event);
  if (step == Step::kQueued) return count_event(step, id, event.event);
  const CriticalSection section(runtime());
  count_event(step, id, event.event);
}

void FaultTransport::count_event(Step step, std::uint64_t id, rdma_cm_event_type type) {
  for (const auto& fault : faults_) {
    const Fault& what = fault->status.fault;
    if (std::holds_alternative<HoldEvent>(what.action)) continue;
    const bool is_it = step == Step::kQueued ? watches<OnQueued>(what.trigger, id, type)
                                             : watches<OnFetched>(what.trigger, id, type);
    if (is_it && is_due(*fault)) pull(*fault);
  }
}

void FaultTransport::on_call(std::uint64_t id, std::string_view call, int error) {
  if (auto* below = below_.call_observer()) below->on_call(id, call, error);
  for (const auto& fault : faults_) {
    if (counts_at_gate(fault->status.fault) ||
        !watches_call(fault->status.fault.trigger, id, call)) {
      continue;
    }
    if (is_due(*fault)) pull(*fault);
  }
}

int FaultTransport::on_call(std::uint64_t id, std::string_view call) {
  int error = 0;
  for (const auto& fault : faults_) {
    const Fault& what = fault->status.fault;
    if (!counts_at_gate(what) || !watches_call(what.trigger, id, call) || !is_due(*fault)) continue;
    const auto* fail = std::get_if<FailCall>(&what.action);
    if (fail == nullptr) {
      pull(*fault);
    } else if (error == 0) {
      fire(*fault);
      count_observed(*fault);
      error = fail->error.value;
    }
  }
  return error;
}

ibv_wc_status FaultTransport::on_work(const verbs::PostedWork& work) {
  ibv_wc_status status = IBV_WC_SUCCESS;
  for (const auto& fault : faults_) {
    const Fault& what = fault->status.fault;
    if (!names_work(what, work) || !is_due(*fault)) continue;
    const auto* complete = std::get_if<CompleteWork>(&what.action);
    if (complete == nullptr) {
      pull(*fault);
    } else if (status == IBV_WC_SUCCESS) {
      fire(*fault);
      status = complete->status;
      spoiled_.push_back({fault.get(), work, status});
    }
  }
  return status;
}

void FaultTransport::on_failure(const ibv_wc& completion) {
  std::erase_if(spoiled_, [this, &completion](const Spoiled& each) {
    const bool shared = each.work.qp_num == 0;  // a shared receive queue's: any queue pair
    const bool is_it = each.status == completion.status && each.work.wr_id == completion.wr_id &&
                       (shared || each.work.qp_num == completion.qp_num);
    if (is_it) count_observed(*each.fault);
    return is_it;
  });
}

verbs::Mishap FaultTransport::on_packet(verbs::PacketWay way, std::uint16_t attribute,
                                        std::span<std::uint8_t> message) {
  verbs::Mishap mishap;
  for (const auto& fault : faults_) {
    const Fault& what = fault->status.fault;
    if (!watches_packet(what.trigger, way, attribute) || !is_due(*fault)) continue;
    if (const auto* change = std::get_if<AlterMessage>(&what.action)) {
      alter(message.first<ibcm::wire::kMadSize>(), attribute, *change);
      mishap.altered = true;
    } else if (!befall(what.action, mishap)) {
      pull(*fault);
      continue;
    }
    fire(*fault);
    count_observed(*fault);
  }
  if (!mishap.corrupted) return mishap;
  if (bits_ == nullptr) bits_ = ground_.dice("faults: which bit");
  mishap.chance = bits_->next();
  return mishap;
}

bool FaultTransport::is_due(Arming& fault) {
  if (ground_.is_over()) return false;
  const bool due = fault.is_due();
  account_for(fault);
  return due;
}

void FaultTransport::count_observed(Arming& fault) {
  ++fault.status.observed;
  account_for(fault);
}

void FaultTransport::account_for(const Arming& fault) {
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
    if (is_due(*fault)) pulled_.push_back(fault);
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

void FaultTransport::fire(Arming& fault) {
  ++fault.status.fired;
  account_for(fault);
  ground_.on_fired(fault.status);
}

void FaultTransport::carry_out(Arming& fault) {
  if (ground_.is_over()) return;
  fire(fault);
  const FaultAction& action = fault.status.fault.action;
  // Afterwards no object is left that could report it.
  const bool fatal =
      std::holds_alternative<CrashHost>(action) || std::holds_alternative<KillPrograms>(action);
  if (fatal) count_observed(fault);
  Effect effect = ground_.carry_out(action);
  if (effect == Effect::kUnknown) effect = carry_out_here(action);
  if (effect == Effect::kSome && !fatal) count_observed(fault);
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
