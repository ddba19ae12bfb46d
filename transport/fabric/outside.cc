#include "transport/fabric/outside.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>
#include <utility>

#include "transport/fabric/host_network.h"
#include "verbs/assert.h"
#include "verbs/wire/gid.h"

namespace anyrdma::transport::fabric {

using soft::Address;

namespace {

std::uint64_t low_half(const Address& address) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i < address.ip.size(); ++i) number = number << 8 | address.ip[i];
  return number;
}

Address link_local_of(std::uint64_t interface_id) {
  Address address{.family = AF_INET6};
  address.ip[0] = 0xfe;
  address.ip[1] = 0x80;
  for (std::size_t i = address.ip.size(); i-- > 8; interface_id >>= 8) {
    address.ip[i] = static_cast<std::uint8_t>(interface_id);
  }
  return address;
}

/// As Linux makes it of a link address, if there is one to be seen.
wire::Guid guid_of(const std::vector<soft::Prefix>& prefixes) {
  CM_ASSERT(!prefixes.empty());
  const auto link_local = std::ranges::find_if(
      prefixes, [](const soft::Prefix& each) { return each.address.is_link_local(); });
  const soft::Prefix& prefix = link_local != prefixes.end() ? *link_local : prefixes.front();
  return wire::Guid{low_half(prefix.address)};
}

}  // namespace

Outside::Outside(const std::vector<Rail>& rails, Slot self) : self_(self) {
  CM_ASSERT(!rails.empty());
  for (const Rail& rail : rails) rails_.push_back({rail.device, rail.port, rail.addresses, {}});
  rails_[0].addresses = {Address::loopback(AF_INET), Address::loopback(AF_INET6)};
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    Interface& rail = rails_[i];
    rail.guid = guid_of(rail.prefixes);
    for (const soft::Prefix& prefix : rail.prefixes) {
      Address& address = rail.addresses.emplace_back(prefix.address);
      if (address.is_link_local()) address.scope = static_cast<std::uint32_t>(interface(i));
    }
    const bool has_link_local = std::ranges::any_of(
        rail.addresses, [](const Address& each) { return each.is_link_local(); });
    if (!has_link_local) rail.addresses.push_back(link_local_of(value(guid(i))));
    for (const Address& address : rail.addresses) own_gids_.push_back(address.gid());
  }
}

bool Outside::add_address(std::size_t rail, const soft::Prefix& prefix) {
  if (rail >= rails_.size() || owner(prefix.address)) return false;
  Interface& to = rails_[rail];
  to.prefixes.push_back(prefix);
  Address& address = to.addresses.emplace_back(prefix.address);
  if (address.is_link_local()) address.scope = static_cast<std::uint32_t>(interface(rail));
  own_gids_.push_back(address.gid());
  return true;
}

bool Outside::drop_address(std::size_t rail, const Address& address) {
  if (rail >= rails_.size() || owner(address) != rail) return false;
  const auto is_it = [&address](const Address& each) { return each.ip == address.ip; };
  std::erase_if(rails_[rail].prefixes,
                [&](const soft::Prefix& each) { return is_it(each.address); });
  std::erase_if(rails_[rail].addresses, is_it);
  const ibv_gid gid = address.gid();
  std::erase_if(own_gids_, [&gid](const ibv_gid& each) { return wire::same(each, gid); });
  return true;
}

verbs::soft::HcaConfig Outside::device(std::uint8_t link_layer, std::size_t rail) const {
  verbs::soft::HcaConfig config{.node_guid = guid(rail), .link_layer = link_layer};
  const auto later = [this](std::size_t next) {
    return next < rails_.size() && rails_[next].port > 1;
  };
  for (std::size_t next = rail + 1; later(next); ++next) ++config.ports;
  config.name = rails_[rail].device;
  if (config.name.empty()) config.name = "anyrdma" + std::to_string(rail);
  return config;
}

// Programs that choose a GID by themselves take the first of IPv4 (perftest): behind a loopback
// address they would find nobody but themselves. Linux has no GIDs of loopback, so they are where a
// new address does not come after them.
std::vector<ibv_gid> Outside::gids(std::size_t size, std::size_t rail) const {
  HostAddresses addresses;
  addresses.all = rails_[rail].addresses;
  std::vector<ibv_gid> gids = addresses.gids(addresses.all.size() + 1);
  const auto loopback = std::stable_partition(gids.begin(), gids.end(), [](const ibv_gid& gid) {
    return !Address::from_gid(gid).is_loopback();
  });
  if (loopback != gids.end() && gids.size() < size)
    gids.insert(loopback, size - gids.size(), ibv_gid{});
  if (gids.size() > size) gids.resize(size);
  return gids;
}

std::optional<std::size_t> Outside::owner(const Address& address) const {
  for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
    const auto is_it = [&address](const Address& each) {
      return each.family == address.family && each.ip == address.ip;  // whatever the scope
    };
    if (std::ranges::any_of(rails_[rail].addresses, is_it)) return rail;
  }
  return std::nullopt;
}

std::optional<std::size_t> Outside::rail_of(const ibv_gid& gid) const {
  return owner(Address::from_gid(gid));
}

bool Outside::leads_out(const ibv_gid& destination) const {
  const auto is_it = [&destination](const ibv_gid& gid) { return wire::same(gid, destination); };
  return std::ranges::none_of(own_gids_, is_it) && !Address::from_gid(destination).is_multicast();
}

// --- soft::Network ------------------------------------------------------------------------------

verbs::Result<Outside::Source> Outside::source_towards(const Address& destination,
                                                       std::optional<std::size_t> wanted) const {
  for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
    const bool named = rails_.size() > 1 && destination.is_link_local() && destination.scope != 0;
    if (named && destination.scope != static_cast<std::uint32_t>(interface(rail))) continue;
    if (wanted && rail != *wanted) continue;
    for (const soft::Prefix& prefix : rails_[rail].prefixes) {
      Address there = destination;
      there.scope = prefix.address.scope;  // a rail is one link
      if (destination.is_multicast() ? prefix.address.family == destination.family
                                     : prefix.contains(there)) {
        return Source{prefix.address, rail};
      }
    }
  }
  // A group is all processes of the host at least.
  if (destination.is_multicast()) return Source{Address::loopback(destination.family), 0};
  return verbs::errno_code(ENETUNREACH);
}

verbs::Result<soft::Route> Outside::route(const Address* source, const Address& destination) {
  const bool chosen = source != nullptr && !source->is_any();
  const std::optional<std::size_t> from = chosen ? owner(*source) : std::nullopt;
  if (chosen && !from) return verbs::errno_code(EADDRNOTAVAIL);
  const std::optional<std::size_t> here = owner(destination);
  soft::Route route{.source = destination,
                    .destination = destination,
                    .next_hop = destination,
                    .interface = interface(here.value_or(0)),
                    .local = here.has_value()};
  if (!route.local) {
    // An id that is bound has a device, which is on the rail of its address.
    verbs::Result<Source> towards = source_towards(destination, from);
    if (!towards && from) towards = source_towards(destination, std::nullopt);
    if (!towards) return towards.error();
    route.source = towards->address;
    route.interface = interface(towards->rail);
  }
  if (chosen) route.source = *source;
  route.source.port = 0;
  return route;
}

verbs::Result<int> Outside::interface_of(const Address& local) {
  const std::optional<std::size_t> rail = owner(local);
  if (!rail) return verbs::errno_code(EADDRNOTAVAIL);
  return interface(*rail);
}

void Outside::resolve_neighbour(soft::NeighbourToken token, const soft::Route& route,
                                std::chrono::milliseconds timeout) {
  CM_ASSERT(transport_ != nullptr);
  // A group's link address follows from its own.
  if (route.local || route.destination.is_multicast()) return transport_->on_neighbour(token, 0);
  if (gateway_gone_) return transport_->on_neighbour(token, ETIMEDOUT);
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  open_.emplace(++asked_, token);
  questions_.push_back({.kind = NeighbourMessage::Kind::kQuestion,
                        .asker = self_,
                        .number = asked_,
                        .milliseconds = static_cast<std::uint32_t>(
                            std::clamp<std::int64_t>(timeout.count(), 0, kMost)),
                        .rail = static_cast<std::uint8_t>(rail_at(route.interface)),
                        .neighbour = route.next_hop.gid()});
  transport_->runtime().call_driver();
}

void Outside::cancel_neighbour(soft::NeighbourToken token) {
  std::erase_if(open_, [token](const auto& each) { return each.second == token; });
  std::erase_if(answers_, [token](const Answer& each) { return each.token == token; });
}

// --- the gateway --------------------------------------------------------------------------------

std::optional<NeighbourMessage> Outside::next_question() {
  if (questions_.empty()) return std::nullopt;
  const NeighbourMessage question = questions_.front();
  questions_.erase(questions_.begin());
  return question;
}

void Outside::on_answer(const NeighbourMessage& answer) {
  const auto found = open_.find(answer.number);
  if (found == open_.end() || answer.kind != NeighbourMessage::Kind::kAnswer) return;
  answers_.push_back({found->second, static_cast<int>(answer.error)});
  open_.erase(found);
}

void Outside::on_gateway_gone() {
  gateway_gone_ = true;
  questions_.clear();
  for (const auto& [number, token] : std::exchange(open_, {})) {
    answers_.push_back({token, ETIMEDOUT});
  }
}

void Outside::deliver_answers() {
  CM_ASSERT(transport_ != nullptr);
  for (const Answer& answer : std::exchange(answers_, {})) {
    transport_->on_neighbour(answer.token, answer.error);
  }
}

soft::LinkNumber Outside::link_of(int interface) {
  return rails_[rail_at(interface)].link;
}

soft::LinkNumber Outside::link_of(int interface, const soft::Address& neighbour) {
  const auto& links = rails_[rail_at(interface)].neighbour_links;
  const auto found = links.find(neighbour.ip);
  return found == links.end() ? soft::LinkNumber{} : found->second;
}

void Outside::on_change(const soft::DeviceChange& change, std::size_t rail) {
  if (rail >= rails_.size()) return;
  changes_.push_back({change, rail});
  soft::Address& neighbour = changes_.back().change.neighbour;
  if (neighbour.is_link_local()) neighbour.scope = static_cast<std::uint32_t>(interface(rail));
  if (on_changes_) on_changes_();
}

}  // namespace anyrdma::transport::fabric
