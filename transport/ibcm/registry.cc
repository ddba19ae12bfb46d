#include "transport/ibcm/registry.h"

#include <boost/container_hash/hash.hpp>

#include "verbs/assert.h"

namespace anyrdma::ibcm {
namespace {

template <class Map, class Key>
Connection* look_up(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

}  // namespace

// The map mixes what it gets; this only has to keep apart what differs.
std::size_t Registry::PeerHash::operator()(const PeerKey& key) const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  return key.guid * kOdd + key.number;
}

std::size_t Registry::RequestHash::operator()(const RequestKey& key) const {
  return boost::hash_range(key.sender.begin(), key.sender.end()) ^ key.number;
}

// A bit that the tag sets cannot tell ids apart.
Registry::Registry(IdSpace ids, verbs::Random& random)
    : ids_{ids.mask & ~ids.tag, ids.tag}, random_(random) {}

Connection* Registry::create() {
  const CommId id = free_id();
  if (id == CommId{}) return nullptr;
  if (free_.empty()) free_.push_back(&pool_.emplace_back());
  Connection* connection = free_.back();
  free_.pop_back();
  static_cast<ConnectionData&>(*connection) = ConnectionData{};
  connection->local_id = id;
  by_id_.emplace(value(id), connection);
  return connection;
}

void Registry::release(Connection& connection) {
  CM_ASSERT(!connection.retry.armed());
  CM_ASSERT(!connection.timewait.armed());
  CM_ASSERT(!connection.listed_by_peer);
  CM_ASSERT(!connection.listed_by_request);
  by_id_.erase(value(connection.local_id));
  connection.local_id = CommId{};
  free_.push_back(&connection);
}

void Registry::list_by_peer(Connection& connection) {
  const std::uint64_t guid = value(connection.remote_guid);
  const bool new_id =
      by_remote_id_.emplace(PeerKey{value(connection.remote_id), guid}, &connection).second;
  const bool new_qpn =
      by_remote_qpn_.emplace(PeerKey{value(connection.remote_qpn), guid}, &connection).second;
  CM_ASSERT(new_id);
  CM_ASSERT(new_qpn);
  connection.listed_by_peer = true;
}

void Registry::unlist_by_peer(Connection& connection) {
  if (!connection.listed_by_peer) return;
  const std::uint64_t guid = value(connection.remote_guid);
  by_remote_id_.erase(PeerKey{value(connection.remote_id), guid});
  by_remote_qpn_.erase(PeerKey{value(connection.remote_qpn), guid});
  connection.listed_by_peer = false;
}

void Registry::list_by_request(Connection& connection) {
  const bool added =
      by_request_
          .emplace(RequestKey{value(connection.remote_id), connection.path.destination},
                   &connection)
          .second;
  CM_ASSERT(added);
  connection.listed_by_request = true;
}

void Registry::unlist_by_request(Connection& connection) {
  if (!connection.listed_by_request) return;
  by_request_.erase(RequestKey{value(connection.remote_id), connection.path.destination});
  connection.listed_by_request = false;
}

Connection* Registry::find(CommId local) const {
  return look_up(by_id_, value(local));
}

Connection* Registry::find_by_remote_id(CommId remote, Guid guid) const {
  return look_up(by_remote_id_, PeerKey{value(remote), value(guid)});
}

Connection* Registry::find_by_remote_qpn(Qpn remote, Guid guid) const {
  return look_up(by_remote_qpn_, PeerKey{value(remote), value(guid)});
}

Connection* Registry::find_by_request(CommId remote, const Path& from) const {
  return look_up(by_request_, RequestKey{value(remote), from.destination});
}

bool Registry::usable(std::uint32_t id) const {
  return id != 0 && !by_id_.contains(id);
}

// Draws a few times, then walks the ids of the mask from the last draw on: with a narrow mask and
// many connections drawing alone might never end.
CommId Registry::free_id() {
  constexpr int kDraws = 16;
  std::uint32_t bits = 0;
  for (int i = 0; i < kDraws; ++i) {
    bits = static_cast<std::uint32_t>(random_.next()) & ids_.mask;
    if (usable(bits | ids_.tag)) return CommId{bits | ids_.tag};
  }
  const std::uint32_t first = bits;
  do {
    bits = ((bits | ~ids_.mask) + 1) & ids_.mask;
    if (usable(bits | ids_.tag)) return CommId{bits | ids_.tag};
  } while (bits != first);
  return CommId{};
}

}  // namespace anyrdma::ibcm
