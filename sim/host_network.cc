// A host's IP stack: its networks, its neighbours.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "sim/host_tasks.h"
#include "sim/world.h"
#include "verbs/assert.h"

namespace anyrdma::sim {

using transport::soft::NeighbourToken;
using transport::soft::Route;

namespace {

/// Set in the tokens of uplinks, which may be what the transport's are.
constexpr std::uint64_t kFromUplink = std::uint64_t{1} << 63;

}  // namespace

Result<Route> Host::route(const Address* source, const Address& destination) {
  if (source != nullptr && !interface_of(*source)) return verbs::errno_code(EADDRNOTAVAIL);
  if (source != nullptr && destination.is_multicast()) {
    return Route{.source = *source,
                 .destination = destination,
                 .next_hop = destination,
                 .interface = *interface_of(*source),
                 .local = false};
  }
  const bool local = interface_of(destination).has_value();
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    for (const Prefix& prefix : interfaces_[i].prefixes) {
      if (!prefix.contains(destination)) continue;
      if (local && !interface_of(destination).has_value()) continue;
      return Route{.source = source != nullptr ? *source : prefix.address,
                   .destination = destination,
                   .next_hop = destination,
                   .interface = local ? *interface_of(destination) : number_of(i),
                   .local = local};
    }
  }
  const bool forbidden =
      std::any_of(unreachable_.begin(), unreachable_.end(),
                  [&](const Prefix& each) { return each.contains(destination); });
  return verbs::errno_code(forbidden ? EHOSTUNREACH : ENETUNREACH);
}

Result<int> Host::interface_of(const Address& local) {
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    for (const Prefix& prefix : interfaces_[i].prefixes) {
      if (prefix.address.same_ip(local)) return number_of(i);
    }
  }
  return verbs::errno_code(EADDRNOTAVAIL);
}

bool Host::answers(const Address& neighbour, int interface) {
  const World::Owner* owner = world_.owner_of(neighbour.ip);
  if (owner == nullptr) return false;
  if (!owner->host->running()) return false;
  const Interface& own = interfaces_[static_cast<std::size_t>(interface) - 1];
  const Interface& its = owner->host->interfaces_[owner->interface];
  if (own.cut) world_.faults().on_dead_rail(*this, own.name);
  if (its.cut) world_.faults().on_dead_rail(*owner->host, its.name);
  if (own.cut || its.cut) return false;
  const LinkOptions& link = world_.link_between(*this, *owner->host).options();
  if (!link.down && !link.clogged) return true;
  world_.faults().on_dead_path(*this, *owner->host);
  return false;
}

void Host::resolve_neighbour(NeighbourToken token, const Route& route,
                             std::chrono::milliseconds timeout) {
  look_for(token, route.next_hop, route.interface, timeout, nullptr);
}

void Host::tell(NeighbourToken token, int error, Uplink* asker) {
  if (asker == nullptr) return transport_->on_neighbour(token, error);
  asker->on_neighbour(NeighbourToken{static_cast<std::uint64_t>(token) & ~kFromUplink}, error);
}

Host::Question& Host::ask(NeighbourToken token, Duration timeout) {
  if (spare_questions_.empty()) {
    questions_.push_back(std::make_unique<Question>(*this));
    spare_questions_.push_back(questions_.back().get());
  }
  Question& question = *spare_questions_.back();
  spare_questions_.pop_back();
  question.token = token;
  question.asker = nullptr;
  question.path_error = 0;
  question.gives_up = world_time(now() + timeout);
  open_questions_.insert_or_assign(token, &question);
  return question;
}

// Where there is a subnet administrator, it answers or does not; RoCE has none to ask.
bool Host::resolve_path(NeighbourToken token, std::chrono::milliseconds timeout) {
  const int error = world_.faults().on_routing(*this);
  if (error == 0) return false;
  Question& question = ask(token, timeout);
  question.path_error = error;
  world_.scheduler().at(question, error == ETIMEDOUT ? question.gives_up : world_.now());
  return true;
}

// A known neighbour is a matter of a look-up; a new one answers after a round trip.
void Host::look_for(NeighbourToken token, const Address& neighbour, int interface, Duration timeout,
                    Uplink* asker) {
  if (const int error = world_.faults().on_resolving(*this); error != 0) {
    return tell(token, error, asker);
  }
  // A group's link address follows from its own.
  const auto found = neighbours_.find(neighbour.ip);
  const bool known =
      neighbour.is_multicast() || (found != neighbours_.end() && found->second.known);
  if (known) return tell(token, 0, asker);
  Question& question = ask(token, timeout);
  question.neighbour = neighbour;
  question.interface = interface;
  question.asker = asker;
  Instant answer = question.gives_up;
  if (answers(neighbour, interface)) {
    Host& owner = *world_.owner_of(neighbour.ip)->host;
    const Duration round_trip = world_.link_between(*this, owner).options().latency +
                                world_.link_between(owner, *this).options().latency;
    answer = std::min(answer, world_.now() + round_trip);
  }
  world_.scheduler().at(question, answer);
}

// Linux looks a last time when the time is over (K/addr.c:process_one_req).
void Host::answer(Question& question) {
  const NeighbourToken token = question.token;
  if (const int path_error = question.path_error; path_error != 0) {
    recycle(question);
    verbs::CriticalSection section(*this);
    return transport_->on_path(token, path_error);
  }
  const int error = answers(question.neighbour, question.interface) ? 0 : ETIMEDOUT;
  Uplink* const asker = question.asker;
  const Address neighbour = question.neighbour;
  const int interface = question.interface;
  recycle(question);
  verbs::CriticalSection section(*this);
  if (error == 0) {
    const World::Owner& owner = *world_.owner_of(neighbour.ip);
    const Neighbour here{.interface = interface,
                         .link = link_of(owner.host->interfaces_[owner.interface])};
    const auto [known, is_new] = neighbours_.try_emplace(neighbour.ip, here);
    if (!is_new && std::exchange(known->second, here) != here) tell_of(neighbour, here);
  }
  tell(token, error, asker);
}

void Host::recycle(Question& question) {
  world_.scheduler().cancel(question);
  open_questions_.erase(question.token);
  spare_questions_.push_back(&question);
}

void Host::cancel_neighbour(NeighbourToken token) {
  const auto found = open_questions_.find(token);
  if (found != open_questions_.end()) recycle(*found->second);
}

void Host::ask_neighbour(std::size_t interface, NeighbourToken token, const Address& neighbour,
                         Duration timeout) {
  CM_ASSERT(interface < interfaces_.size());
  CM_ASSERT(interfaces_[interface].uplink != nullptr);
  if (power_ == Power::kOff) return;
  Address here = neighbour;
  if (here.is_link_local()) here.scope = static_cast<std::uint32_t>(number_of(interface));
  look_for(NeighbourToken{static_cast<std::uint64_t>(token) | kFromUplink}, here,
           number_of(interface), timeout, interfaces_[interface].uplink);
}

// --- addresses ----------------------------------------------------------------------------------

Result<void> Host::add_address(std::string_view interface, std::string_view text) {
  Interface* found = find_interface(interface);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  Result<Prefix> prefix = Prefix::parse(text);
  if (!prefix) return prefix.error();
  const auto index = static_cast<std::size_t>(found - interfaces_.data());
  if (prefix->address.is_link_local()) {
    prefix->address.scope = static_cast<std::uint32_t>(number_of(index));
  }
  if (!world_.claim(prefix->address, *this, index)) return verbs::errno_code(EADDRINUSE);
  found->prefixes.push_back(*prefix);
  replace_gid(*found, ibv_gid{}, prefix->address.gid());
  return {};
}

Result<void> Host::drop_address(std::string_view interface, std::string_view text) {
  Interface* found = find_interface(interface);
  if (found == nullptr) return verbs::errno_code(ENODEV);
  const Result<Prefix> prefix = Prefix::parse(text);
  if (!prefix) return prefix.error();
  const auto at =
      std::find_if(found->prefixes.begin(), found->prefixes.end(),
                   [&](const auto& own) { return own.address.ip == prefix->address.ip; });
  if (at == found->prefixes.end()) return verbs::errno_code(EADDRNOTAVAIL);
  replace_gid(*found, at->address.gid(), ibv_gid{});
  found->prefixes.erase(at);
  world_.disown(prefix->address);
  return {};
}

Result<void> Host::lose_group(std::string_view text) {
  const Result<Prefix> group = Prefix::parse(text);
  if (!group) return group.error();
  using Kind = transport::soft::DeviceChange::Kind;
  if (tell_outside({.kind = Kind::kGroupLost, .neighbour = group->address})) return {};
  verbs::CriticalSection section(*this);
  if (!transport_->on_group_lost(group->address)) return verbs::errno_code(ENOENT);
  return {};
}

/// All-zero: an empty place.
void Host::replace_gid(Interface& interface, const ibv_gid& old, const ibv_gid& gid) {
  if (!interface.present) return;
  verbs::CriticalSection section(*this);
  const auto gids = interface.hca->gids();
  const auto at = std::find_if(gids.begin(), gids.end(), [&](const ibv_gid& each) {
    return std::equal(std::begin(each.raw), std::end(each.raw), std::begin(old.raw));
  });
  if (at != gids.end()) interface.hca->set_gid(static_cast<std::uint32_t>(at - gids.begin()), gid);
}

}  // namespace anyrdma::sim
