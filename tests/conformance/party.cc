#include "tests/conformance/party.h"

#include <poll.h>

#include <iostream>
#include <utility>

#include "tests/conformance/event_text.h"
#include "tests/conformance/require.h"
#include "tests/conformance/stage.h"

namespace anyrdma::conformance {
namespace {

/// How long an event without bounds may take: long enough for a loaded machine.
constexpr Duration kPatience = 30s;
/// How much later than its bound an event is still waited for, to say how late it was.
constexpr Duration kOverdue = 30s;
constexpr int kResolvingMs = 2000;

/// Whether it came in time. How long it took is for people only: it varies.
std::string timing_text(Duration elapsed, const Within& within) {
  if (within.at_most == Duration{}) return {};
  const std::string bounds = duration_text(within.at_least) + ".." + duration_text(within.at_most);
  if (elapsed >= within.at_least && elapsed <= within.at_most) return " after " + bounds;
  std::cerr << "not within " << bounds << ": after " << duration_text(elapsed) << "\n";
  return (elapsed < within.at_least ? " too early for " : " too late for ") + bounds;
}

}  // namespace

void Held::ack() {
  party_->note("acknowledges " + name_);  // before: whoever waits for it goes on at once
  event_.ack();
}

Party::Party(Stage& stage, Side side) : stage_(stage), side_(side) {
  (void)channel();
}

Party::~Party() {
  early_.clear();
  // Newest first: a listener waits for the requests that its children still hold.
  while (!ids_.empty()) ids_.pop_back();
  for (rdma_event_channel* const channel : channels_) calls().cm.destroy_event_channel(channel);
}

const Calls& Party::calls() const {
  return stage_.backend().calls(side_);
}

rdma_event_channel* Party::channel(int number) {
  while (channels_.size() <= static_cast<std::size_t>(number)) {
    rdma_event_channel* const channel = calls().cm.create_event_channel();
    require(channel != nullptr, "no event channel");
    make_nonblocking(channel->fd);
    channels_.push_back(channel);
  }
  return channels_[static_cast<std::size_t>(number)];
}

void Party::note(const std::string& line) {
  stage_.add(side_, (side_ == Side::kPassive ? "server: " : "client: ") + line);
}

std::string Party::owner_of(std::uint32_t qpn) const {
  std::string name;
  for (const Id& id : ids_) {
    if (qpn == id.number_ || qpn == id.had_) name = id.name();
  }
  return name;
}

// --- ids ----------------------------------------------------------------------------------------

std::string Party::take_name() {
  return (side_ == Side::kPassive ? "s" : "c") + std::to_string(++count_);
}

Id& Party::add(rdma_cm_id* id) {
  return ids_.emplace_back(*this, take_name(), id);
}

Id* Party::find(const rdma_cm_id* id) {
  for (Id& each : ids_) {
    if (each.get() == id) return &each;
  }
  return nullptr;
}

void Party::forget(const Id& id) {
  for (auto& [number, early] : early_) {
    std::erase_if(early, [&id](const Fetched& each) { return each.id == &id; });
  }
}

rdma_cm_id* Party::make(rdma_event_channel* channel, rdma_port_space space, int& error) {
  rdma_cm_id* made = nullptr;
  const Calls& calls = this->calls();
  error = calls.error_of(calls.cm.create_id(channel, &made, nullptr, space));
  return error == 0 ? made : nullptr;
}

Id& Party::create(rdma_port_space space) {
  int error = 0;
  Id& id = add(make(channel(), space, error));
  id.note_call("create " + space_text(space), error_text(error));
  return id;
}

Id& Party::create_synchronous(rdma_port_space space) {
  int error = 0;
  Id& id = add(make(nullptr, space, error));
  id.note_call("create synchronous " + space_text(space), error_text(error));
  return id;
}

bool Party::step(Id& id, rdma_cm_event_type expected, std::string& failure) {
  std::optional<Fetched> fetched = fetch(0, &id, kPatience);
  if (fetched && fetched->event->event == expected && fetched->event->status == 0) return true;
  failure = fetched ? describe(*fetched) : "no event";
  return false;
}

Id& Party::routed(Place to, rdma_port_space space) {
  int error = 0;
  Id& id = add(make(channel(), space, error));
  std::string failure;
  const Address address = stage_.address(to);
  const Address own = stage_.address(any_port(side_ == Side::kPassive ? kServer : kClient));
  const auto refused = [&](const char* call, int answer) {
    if (answer != 0) failure = std::string(call) + " " + error_text(calls().error_of(answer));
    return answer != 0;
  };
  if (id.id_ == nullptr) {
    failure = "no id";
  } else if (!refused("resolve_addr",
                      calls().cm.resolve_addr(id.id_, own.get(), address.get(), kResolvingMs)) &&
             step(id, RDMA_CM_EVENT_ADDR_RESOLVED, failure)) {
    if (!refused("resolve_route", calls().cm.resolve_route(id.id_, kResolvingMs)))
      (void)step(id, RDMA_CM_EVENT_ROUTE_RESOLVED, failure);
  }
  const std::string kind = space == RDMA_PS_TCP ? "" : " " + space_text(space);
  id.note_call("routed" + kind + " to " + stage_.place_text(to), failure.empty() ? "ok" : failure);
  return id;
}

Id& Party::connecting(Place to, const Param& param, rdma_port_space space) {
  Id& id = routed(to, space);
  id.make_qp();
  id.connect(param);
  return id;
}

Id& Party::create_endpoint(Place place, rdma_port_space space, ibv_qp_type type, bool listens) {
  const Calls& calls = this->calls();
  const Address address = stage_.address(place);
  const std::string node = ip_of(*address.get());
  const std::string service = std::to_string(port_of(*address.get()));
  rdma_addrinfo hints{};
  hints.ai_flags = RAI_NUMERICHOST | (listens ? RAI_PASSIVE : 0);
  hints.ai_port_space = space;
  hints.ai_qp_type = type;
  rdma_addrinfo* found = nullptr;
  rdma_cm_id* made = nullptr;
  int error = calls.error_of(calls.cm.getaddrinfo(node.c_str(), service.c_str(), &hints, &found));
  if (error == 0)
    error = calls.error_of(this->calls().cm.create_ep(&made, found, nullptr, nullptr));
  if (found != nullptr) calls.cm.freeaddrinfo(found);
  Id& id = add(error == 0 ? made : nullptr);
  id.note_call("create endpoint " + space_text(space) + " type " + std::to_string(type) +
                   (listens ? " on " : " to ") + stage_.place_text(place),
               error_text(error));
  return id;
}

Id& Party::listening(Place on, int backlog, rdma_port_space space) {
  int error = 0;
  Id& id = add(make(channel(), space, error));
  std::string failure;
  const Address address = stage_.address(on);
  if (id.id_ == nullptr) {
    failure = "no id";
  } else if (const int bound = calls().cm.bind_addr(id.id_, address.get()); bound != 0) {
    failure = "bind " + error_text(calls().error_of(bound));
  } else if (const int listens = calls().cm.listen(id.id_, backlog); listens != 0) {
    failure = "listen " + error_text(calls().error_of(listens));
  }
  const std::string kind = space == RDMA_PS_TCP ? "" : " " + space_text(space);
  id.note_call("listening" + kind + " on " + stage_.place_text(on),
               failure.empty() ? "ok" : failure);
  return id;
}

void Party::die() {
  note("dies");
  early_.clear();
  for (rdma_event_channel* const channel : channels_) stage_.backend().end(side_, channel);
}

// --- events -------------------------------------------------------------------------------------

std::optional<Party::Fetched> Party::fetch(int channel_number, const Id* only, Duration patience) {
  std::deque<Fetched>& early = early_[channel_number];
  for (auto each = early.begin(); each != early.end(); ++each) {
    if (only != nullptr && each->id != only) continue;
    Fetched found = std::move(*each);
    early.erase(each);
    return found;
  }
  rdma_event_channel* const from = channel(channel_number);
  std::optional<Fetched> found;
  (void)stage_.backend().wait_until(
      [&] {
        while (rdma_cm_event* const event = stage_.backend().next_event(side_, from)) {
          Fetched fetched{.event = Event(calls(), event)};
          fetched.id = find(fetched.event.owner());
          if (fetched.id != nullptr) fetched.id->learn(*fetched.event);
          if (rdma_cm_id* const request = fetched.event.request(); request != nullptr)
            fetched.request = &add(request);
          if (only == nullptr || fetched.id == only) {
            found = std::move(fetched);
            return true;
          }
          early.push_back(std::move(fetched));
        }
        return false;
      },
      patience);
  return found;
}

std::optional<Party::Fetched> Party::next(const Id* only, const Within& within) {
  const Instant start = stage_.last_line();
  const bool bounded = within.at_most != Duration{};
  std::optional<Fetched> fetched =
      fetch(within.channel, only, bounded ? within.at_most + kOverdue : kPatience);
  if (!fetched) {
    note("no event" + (only == nullptr ? std::string() : " for " + only->name()));
    return {};
  }
  const Duration elapsed = stage_.backend().now() - start;
  stage_.add(side_, describe(*fetched) + timing_text(elapsed, within));
  return fetched;
}

void Party::take(const Within& within) {
  (void)next(nullptr, within);
}

void Party::take(const Id& id, const Within& within) {
  (void)next(&id, within);
}

Id& Party::take_request(const Within& within) {
  const std::optional<Fetched> fetched = next(nullptr, within);
  return fetched && fetched->request != nullptr ? *fetched->request : add(nullptr);
}

Held Party::hold(const Within& within) {
  std::optional<Fetched> fetched = next(nullptr, within);
  if (!fetched) return {*this, {}, "nothing"};
  std::string name = (fetched->id != nullptr ? fetched->id->name() : "?") + " " +
                     event_text(fetched->event->event);
  return {*this, std::move(fetched->event), std::move(name)};
}

void Party::await() {
  pollfd entry{.fd = channel()->fd, .events = POLLIN, .revents = 0};
  // There is no descriptor in virtual time, which is never too short.
  if (entry.fd < 0) return stage_.settle();
  const auto waits = [&entry] { return ::poll(&entry, 1, 0) == 1; };
  if (!stage_.backend().wait_until(waits, kPatience)) note("no event waits");
}

void Party::quiet(Duration time, int channel_number) {
  const std::optional<Fetched> fetched = fetch(channel_number, nullptr, time);
  note(fetched ? "not quiet" : "quiet for " + duration_text(time));
  if (fetched) stage_.add(side_, describe(*fetched));
}

std::string Party::describe(const Fetched& fetched) {
  std::string text = (fetched.id != nullptr ? fetched.id->name() : "?") + " <- " +
                     describe_event(stage_, *this, *fetched.event);
  if (fetched.request != nullptr) text += " " + fetched.request->name();
  return text;
}

}  // namespace anyrdma::conformance
