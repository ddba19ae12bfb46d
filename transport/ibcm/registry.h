// All connections of a CM agent: their memory, their ids, and tables to find them.
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

/// Defines the local comm ids that an agent may use: those of the form (id & mask) | tag.
struct IdSpace {
  std::uint32_t mask = 0xffffffff;
  std::uint32_t tag = 0;
};

/// Owns the connections of an agent and finds them by hash tables. The order of a hash table never
/// influences a run. A connection keeps its address until it is released. The object that was
/// released last is reused first.
class Registry {
 public:
  Registry(IdSpace ids, verbs::Random& random);
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Returns a new connection with an unused id, which is not 0. Null: all ids are in use.
  [[nodiscard]] Connection* create();
  /// Releases a connection. Precondition: its timers are not armed, and it is not listed by peer.
  void release(Connection& connection);

  /// Lists a connection, so that it is found by the remote comm id and GUID, and by the remote QPN
  /// and GUID. Precondition: no other connection is listed under these.
  void list_by_peer(Connection& connection);
  /// Undoes list_by_peer(). No effect if the connection is not listed by its peer.
  void unlist_by_peer(Connection& connection);

  /// Lists a connection, so that it is found by the remote request id and the peer's GID. (A
  /// SIDR_REQ names no CA GUID.) Precondition: no other connection is listed under these.
  void list_by_request(Connection& connection);
  /// Undoes list_by_request(). No effect if the connection is not listed by its request.
  void unlist_by_request(Connection& connection);

  [[nodiscard]] Connection* find(CommId local) const;
  [[nodiscard]] Connection* find_by_remote_id(CommId remote, Guid guid) const;
  [[nodiscard]] Connection* find_by_remote_qpn(Qpn remote, Guid guid) const;

  [[nodiscard]] Connection* find_by_request(CommId remote, const Path& from) const;

  [[nodiscard]] std::size_t size() const { return by_id_.size(); }

  /// Calls `visit` with every connection, in the order of their memory, which is the same in every
  /// run. `visit` may release the connection that it gets.
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
