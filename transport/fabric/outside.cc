#include "transport/fabric/outside.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

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

}  // namespace

Outside::Outside(const std::vector<soft::Prefix>& addresses, Slot self)
    : prefixes_(addresses), addresses_(HostAddresses::of(addresses)), self_(self) {
  const bool has_link_local =
      std::ranges::any_of(addresses_.all, [](const Address& each) { return each.is_link_local(); });
  if (!has_link_local) addresses_.all.push_back(link_local_of(value(guid())));
  for (const Address& address : addresses_.all) own_gids_.push_back(address.gid());
}

// As Linux makes it of a link address, if there is one to be seen.
wire::Guid Outside::guid() const {
  CM_ASSERT(!prefixes_.empty());
  const auto link_local = std::ranges::find_if(
      prefixes_, [](const soft::Prefix& each) { return each.address.is_link_local(); });
  const soft::Prefix& prefix = link_local != prefixes_.end() ? *link_local : prefixes_.front();
  return wire::Guid{low_half(prefix.address)};
}

// Programs that choose a GID by themselves take the first of IPv4 (perftest): behind a loopback
// address they would find nobody but themselves.
std::vector<ibv_gid> Outside::gids(std::size_t size) const {
  std::vector<ibv_gid> gids = addresses_.gids(addresses_.all.size() + 1);
  std::stable_partition(gids.begin(), gids.end(),
                        [](const ibv_gid& gid) { return !Address::from_gid(gid).is_loopback(); });
  if (gids.size() > size) gids.resize(size);
  return gids;
}

bool Outside::own(const Address& address) const {
  return std::ranges::any_of(addresses_.all, [&address](const Address& each) {
    return each.family == address.family && each.ip == address.ip;  // whatever the scope
  });
}

bool Outside::leads_out(const ibv_gid& destination) const {
  const auto is_it = [&destination](const ibv_gid& gid) { return wire::same(gid, destination); };
  return std::ranges::none_of(own_gids_, is_it) && !Address::from_gid(destination).is_multicast();
}

// --- soft::Network ------------------------------------------------------------------------------

verbs::Result<Address> Outside::source_towards(const Address& destination) const {
  for (const soft::Prefix& prefix : prefixes_) {
    Address there = destination;
    there.scope = prefix.address.scope;  // there is one link
    if (destination.is_multicast() ? prefix.address.family == destination.family
                                   : prefix.contains(there)) {
      return prefix.address;
    }
  }
  // A group is all processes of the host at least.
  if (destination.is_multicast()) return Address::loopback(destination.family);
  return verbs::errno_code(ENETUNREACH);
}

verbs::Result<soft::Route> Outside::route(const Address* source, const Address& destination) {
  const bool chosen = source != nullptr && !source->is_any();
  if (chosen && !own(*source)) return verbs::errno_code(EADDRNOTAVAIL);
  soft::Route route{.source = destination,
                    .destination = destination,
                    .next_hop = destination,
                    .interface = addresses_.interface,
                    .local = own(destination)};
  if (!route.local) {
    const verbs::Result<Address> towards = source_towards(destination);
    if (!towards) return towards.error();
    route.source = *towards;
  }
  if (chosen) route.source = *source;
  route.source.port = 0;
  return route;
}

verbs::Result<int> Outside::interface_of(const Address& local) {
  if (!own(local)) return verbs::errno_code(EADDRNOTAVAIL);
  return addresses_.interface;
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

soft::LinkNumber Outside::link_of(int, const soft::Address& neighbour) {
  const auto found = neighbour_links_.find(neighbour.ip);
  return found == neighbour_links_.end() ? soft::LinkNumber{} : found->second;
}

void Outside::on_change(const soft::DeviceChange& change) {
  changes_.push_back(change);
  soft::Address& neighbour = changes_.back().neighbour;
  if (neighbour.is_link_local()) neighbour.scope = static_cast<std::uint32_t>(interface());
  if (on_changes_) on_changes_();
}

}  // namespace anyrdma::transport::fabric
