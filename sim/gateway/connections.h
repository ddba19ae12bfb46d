// The connections of a host's processes with other hosts, according to the CM messages between
// them. The gateway uses them to send the kernel's messages for a killed process.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/fabric/rendezvous/slot.h"
#include "transport/ibcm/agent.h"
#include "verbs/wire/ids.h"

namespace anyrdma::sim {

using transport::fabric::Slot;

/// Tracks connections by their CM messages. Messages between processes of one host are not seen.
/// Messages that do not parse, or that belong to no known connection, have no effect.
class Connections {
 public:
  using Mad = std::span<const std::uint8_t, ibcm::kMadBytes>;
  /// Seen from the host: `source` is its address.
  using Path = ibcm::Path;
  /// A message of its kernel to one peer.
  struct Farewell {
    Path path{};
    std::array<std::uint8_t, ibcm::kMadBytes> mad{};
  };

  /// Called for a CM message that a process of the host has sent. The communication ids in the
  /// message say which process.
  void on_sent(const Path& path, Mad mad);
  /// That came for the process at `slot`.
  void on_arrived(const Path& path, Mad mad, Slot slot);
  /// Returns the process that got an earlier copy of a peer's request, if the process has not
  /// ended. The gateway sends repetitions of the request to that process too, even if another
  /// process listens now.
  [[nodiscard]] std::optional<Slot> who_got(const ibcm::Gid& peer, wire::CommId request) const;
  /// Returns the CM messages that the kernel sends to the peers of a killed process, the oldest
  /// connection first (ucma_close in the kernel's ucma.c), and removes the process's connections.
  [[nodiscard]] std::vector<Farewell> bury(Slot slot);
  void clear();
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  enum class Stage : std::uint8_t {
    kAsked,     ///< the REQ is ours
    kAnswered,  ///< and there is a REP
    kAsking,    ///< the REQ is the peer's
    kAccepted,  ///< and we have sent a REP
    kOpen,
    kLeft,  ///< the peer has sent a DREQ, and the process has not answered it yet
  };
  struct Connection {
    Path path{};
    Slot slot{};
    Stage stage{};
    wire::CommId local{};   ///< 0: not known
    wire::CommId remote{};  ///< likewise
    wire::Qpn remote_qpn{};
    wire::Guid guid{};                 ///< of our device
    std::uint64_t transaction_id = 0;  ///< of the request; kLeft: of the DREQ
  };
  using Number = std::uint64_t;  ///< in the order of their beginnings
  using Key = std::pair<ibcm::Gid, wire::CommId>;

  void begin(const Connection& connection);
  void end(Number number);
  void learn_local(Number number, wire::CommId id);
  void learn_remote(Number number, wire::CommId id);
  [[nodiscard]] std::optional<Number> by_local(const Path& path, wire::CommId id) const;
  [[nodiscard]] std::optional<Number> by_remote(const Path& path, wire::CommId id) const;
  [[nodiscard]] static Farewell farewell_of(const Connection& connection);

  Number next_ = 0;
  std::map<Number, Connection> all_;
  // The keys of both maps: the peer's address, with the process's communication id (local_) or the
  // peer's (remote_).
  std::map<Key, Number> local_;
  std::map<Key, Number> remote_;
};

}  // namespace anyrdma::sim
