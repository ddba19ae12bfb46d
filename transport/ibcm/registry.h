// All connections of an agent: their memory, their ids, and their look-up tables.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "transport/ibcm/connection.h"
#include "verbs/random.h"

namespace anyrdma::ibcm {

/// The local comm ids that may be used: (id & mask) | tag.
struct IdSpace {
  std::uint32_t mask = 0xffffffff;
  std::uint32_t tag = 0;
};

/// Look-up is by hash; nothing iterates a hash. Connections keep their address until released, and
/// a released object is used again, last out first in.
class Registry {
 public:
  Registry(IdSpace ids, verbs::Random& random);
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// A new connection with an unused id other than 0; null: all ids are in use.
  [[nodiscard]] Connection* create();
  /// Precondition: its timers are idle and it is not listed by peer.
  void release(Connection& connection);

  /// Lists a connection under (remote id, GUID) and (remote QPN, GUID).
  /// Precondition: neither is taken.
  void list_by_peer(Connection& connection);
  /// Removes the connection from the list by peer. No effect if it is not listed.
  void unlist_by_peer(Connection& connection);

  /// Lists a connection under (remote id, GID of the peer): a SIDR_REQ names no CA.
  /// Precondition: not taken.
  void list_by_request(Connection& connection);
  /// Removes the connection from the list by request. No effect if it is not listed.
  void unlist_by_request(Connection& connection);

  [[nodiscard]] Connection* find(CommId local) const;
  [[nodiscard]] Connection* find_by_remote_id(CommId remote, Guid guid) const;
  [[nodiscard]] Connection* find_by_remote_qpn(Qpn remote, Guid guid) const;

  [[nodiscard]] Connection* find_by_request(CommId remote, const Path& from) const;

  [[nodiscard]] std::size_t size() const { return by_id_.size(); }

  /// Calls `visit` with every living connection, in the order of their memory: the same on every
  /// run. `visit` may release the connection it is given.
  template <class Visit>
  void for_each(Visit visit) {
    for (Connection& connection : pool_)
      if (connection.local_id != CommId{}) visit(connection);
  }

 private:
  struct PeerKey {
    std::uint32_t number;
    std::uint64_t guid;
    bool operator==(const PeerKey&) const = default;
  };
  struct PeerHash {
    std::size_t operator()(const PeerKey& key) const;
  };
  struct RequestKey {
    std::uint32_t number;
    std::array<std::uint8_t, 16> sender;
    bool operator==(const RequestKey&) const = default;
  };
  struct RequestHash {
    std::size_t operator()(const RequestKey& key) const;
  };
  using PeerMap = boost::unordered_flat_map<PeerKey, Connection*, PeerHash>;

  [[nodiscard]] CommId free_id();
  [[nodiscard]] bool usable(std::uint32_t id) const;

  IdSpace ids_;
  verbs::Random& random_;
  std::deque<Connection> pool_;
  std::vector<Connection*> free_;
  boost::unordered_flat_map<std::uint32_t, Connection*> by_id_;
  PeerMap by_remote_id_;
  PeerMap by_remote_qpn_;
  boost::unordered_flat_map<RequestKey, Connection*, RequestHash> by_request_;
};

}  // namespace anyrdma::ibcm
