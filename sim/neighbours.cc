#include "sim/neighbours.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sim/host.h"
#include "sim/world.h"
#include "verbs/assert.h"

namespace anyrdma::sim {

using transport::soft::DeviceChange;
using transport::soft::LinkNumber;
using transport::soft::NeighbourToken;

namespace {

/// Set in the tokens of uplinks, which may be what the transport's are.
constexpr std::uint64_t kFromUplink = std::uint64_t{1} << 63;

}  // namespace

/// A request for a neighbour's link address, or for a path, that has no answer yet.
class Neighbours::Question final : public Task {
 public:
  explicit Question(Neighbours& neighbours) : neighbours_(neighbours) {}

  NeighbourToken token{};
  Address neighbour{};
  int interface = 0;
  int path_error = 0;  ///< of a request for a path: its errno
  Instant gives_up{};
  Asker asker{};

 private:
  void run() override {
    // Else it waits until the host goes on.
    if (neighbours_.host_.running()) neighbours_.answer(*this);
  }

  Neighbours& neighbours_;
};

Neighbours::Neighbours(Host& host) : host_(host) {}

Neighbours::~Neighbours() {
  for (const auto& question : questions_) host_.world().scheduler().cancel(*question);
}

const Interface& Neighbours::interface_at(int interface) const {
  return host_.interfaces()[static_cast<std::size_t>(interface) - 1];
}

// --- what it has heard --------------------------------------------------------------------------

LinkNumber Neighbours::link_of(int interface, const Address& neighbour) const {
  const auto found = known_.find(neighbour.ip);
  if (found == known_.end() || found->second.interface != interface) return {};
  return found->second.link;
}

void Neighbours::tell_of(const Address& neighbour, const Neighbour& known) {
  Address here = neighbour;
  if (here.is_link_local()) here.scope = static_cast<std::uint32_t>(known.interface);
  host_.transport().on_neighbour_changed(known.interface, here);
  // An interface without a device has nobody to tell.
  (void)interface_at(known.interface)
      .nic
      ->change(
          {.kind = DeviceChange::Kind::kNeighbourMoved, .neighbour = neighbour, .link = known.link})
      .has_value();
}

void Neighbours::on_moved(const Address& neighbour, LinkNumber link) {
  const auto known = known_.find(neighbour.ip);
  if (known == known_.end() || !known->second.known || !host_.running()) return;
  if (interface_at(known->second.interface).cut) return;
  known->second.link = link;
  const verbs::CriticalSection section(host_.runtime());
  tell_of(neighbour, known->second);
}

Neighbours::Neighbour* Neighbours::find(std::string_view address, Address& neighbour) {
  const Result<Prefix> prefix = Prefix::parse(address);
  if (!prefix) return nullptr;
  neighbour = prefix->address;
  const auto found = known_.find(neighbour.ip);
  return found == known_.end() || !found->second.known ? nullptr : &found->second;
}

Result<void> Neighbours::confirm(std::string_view address) {
  Address neighbour;
  Neighbour* const known = find(address, neighbour);
  if (known == nullptr) return verbs::errno_code(ENOENT);
  if (!answers(neighbour, known->interface)) return forget(address);
  const World::Owner& owner = *host_.world().owner_of(neighbour.ip);
  on_moved(neighbour, owner.host->interfaces()[owner.interface].link_number());
  return {};
}

// What it was is in the news of its end.
Result<void> Neighbours::forget(std::string_view address) {
  Address neighbour;
  Neighbour* const known = find(address, neighbour);
  if (known == nullptr) return verbs::errno_code(ENOENT);
  known->known = false;
  const verbs::CriticalSection section(host_.runtime());
  tell_of(neighbour, *known);
  return {};
}

// --- questions ----------------------------------------------------------------------------------

bool Neighbours::answers(const Address& neighbour, int interface) const {
  World& world = host_.world();
  const World::Owner* owner = world.owner_of(neighbour.ip);
  if (owner == nullptr) return false;
  if (!owner->host->running()) return false;
  const Interface& own = interface_at(interface);
  const Interface& its = owner->host->interfaces()[owner->interface];
  if (own.cut) world.faults().on_dead_rail(host_, own.name);
  if (its.cut) world.faults().on_dead_rail(*owner->host, its.name);
  if (own.cut || its.cut) return false;
  const LinkOptions& link = world.link_between(host_, *owner->host).options();
  if (!link.down && !link.clogged) return true;
  world.faults().on_dead_path(host_, *owner->host);
  return false;
}

void Neighbours::resolve(NeighbourToken token, const transport::soft::Route& route,
                         std::chrono::milliseconds timeout) {
  look_for(token, route.next_hop, route.interface, timeout, Asker::kTransport);
}

void Neighbours::tell(NeighbourToken token, int error, int interface, Asker asker) {
  if (asker == Asker::kTransport) return host_.transport().on_neighbour(token, error);
  interface_at(interface).nic->on_neighbour(
      NeighbourToken{static_cast<std::uint64_t>(token) & ~kFromUplink}, error);
}

Neighbours::Question& Neighbours::open(NeighbourToken token, Duration timeout) {
  if (spare_.empty()) {
    questions_.push_back(std::make_unique<Question>(*this));
    spare_.push_back(questions_.back().get());
  }
  Question& question = *spare_.back();
  spare_.pop_back();
  question.token = token;
  question.asker = Asker::kTransport;
  question.path_error = 0;
  question.gives_up = host_.world_time(host_.runtime().now() + timeout);
  open_.insert_or_assign(token, &question);
  return question;
}

// Where there is a subnet administrator, it answers or does not; RoCE has none to ask.
bool Neighbours::resolve_path(NeighbourToken token, std::chrono::milliseconds timeout) {
  World& world = host_.world();
  const int error = world.faults().on_routing(host_);
  if (error == 0) return false;
  Question& question = open(token, timeout);
  question.path_error = error;
  world.scheduler().at(question, error == ETIMEDOUT ? question.gives_up : world.now());
  return true;
}

// A known neighbour is a matter of a look-up; a new one answers after a round trip.
void Neighbours::look_for(NeighbourToken token, const Address& neighbour, int interface,
                          Duration timeout, Asker asker) {
  World& world = host_.world();
  if (const int error = world.faults().on_resolving(host_); error != 0) {
    return tell(token, error, interface, asker);
  }
  // A group's link address follows from its own.
  const auto found = known_.find(neighbour.ip);
  const bool known = neighbour.is_multicast() || (found != known_.end() && found->second.known);
  if (known) return tell(token, 0, interface, asker);
  Question& question = open(token, timeout);
  question.neighbour = neighbour;
  question.interface = interface;
  question.asker = asker;
  Instant answer = question.gives_up;
  if (answers(neighbour, interface)) {
    Host& owner = *world.owner_of(neighbour.ip)->host;
    const Duration round_trip = world.link_between(host_, owner).options().latency +
                                world.link_between(owner, host_).options().latency +
                                2 * interface_at(interface).delay;
    answer = std::min(answer, world.now() + round_trip);
  }
  world.scheduler().at(question, answer);
}

// Linux looks a last time when the time is over (K/addr.c:process_one_req).
void Neighbours::answer(Question& question) {
  const NeighbourToken token = question.token;
  if (const int path_error = question.path_error; path_error != 0) {
    recycle(question);
    const verbs::CriticalSection section(host_.runtime());
    return host_.transport().on_path(token, path_error);
  }
  const int error = answers(question.neighbour, question.interface) ? 0 : ETIMEDOUT;
  const Asker asker = question.asker;
  const Address neighbour = question.neighbour;
  const int interface = question.interface;
  recycle(question);
  const verbs::CriticalSection section(host_.runtime());
  if (error == 0) {
    const World::Owner& owner = *host_.world().owner_of(neighbour.ip);
    const Neighbour here{.interface = interface,
                         .link = owner.host->interfaces()[owner.interface].link_number()};
    const auto [known, is_new] = known_.try_emplace(neighbour.ip, here);
    if (!is_new && std::exchange(known->second, here) != here) tell_of(neighbour, here);
  }
  tell(token, error, interface, asker);
}

void Neighbours::recycle(Question& question) {
  host_.world().scheduler().cancel(question);
  open_.erase(question.token);
  spare_.push_back(&question);
}

void Neighbours::cancel(NeighbourToken token) {
  const auto found = open_.find(token);
  if (found != open_.end()) recycle(*found->second);
}

void Neighbours::ask(std::size_t interface, NeighbourToken token, const Address& neighbour,
                     Duration timeout) {
  CM_ASSERT(host_.interfaces()[interface].nic->has_processes());
  if (host_.power().off()) return;
  const int number = interface_number(interface);
  Address here = neighbour;
  if (here.is_link_local()) here.scope = static_cast<std::uint32_t>(number);
  look_for(NeighbourToken{static_cast<std::uint64_t>(token) | kFromUplink}, here, number, timeout,
           Asker::kUplink);
}

void Neighbours::drop_questions() {
  for (const auto& [token, question] : std::exchange(open_, {})) {
    host_.world().scheduler().cancel(*question);
  }
  spare_.clear();
  for (const auto& question : questions_) spare_.push_back(question.get());
}

void Neighbours::resume() {
  for (const auto& question : questions_) {
    const auto open = open_.find(question->token);
    const bool is_open = open != open_.end() && open->second == question.get();
    if (is_open && !question->armed()) host_.world().scheduler().at(*question, host_.world().now());
  }
}

}  // namespace anyrdma::sim
