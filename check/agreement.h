// The checker of whether both ends of a connection agree. Each end must report the other end's
// queue pair correctly, and the two queue pairs must fit together. At the end of a run, no end may
// be connected to a peer that is not, unless a message between their hosts was lost.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/census.h"
#include "check/violations.h"

namespace anyrdma::check {

/// The connection parameters that one side sends in a REQ or REP, or receives in one.
struct Terms {
  std::uint32_t qp_num = 0;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  bool operator==(const Terms&) const = default;
  [[nodiscard]] std::string to_string() const;
};

/// Compares the two ends of each connection. A route names a connection: both socket addresses, the
/// active side's first.
class Agreement {
 public:
  explicit Agreement(Violations& violations) : violations_(violations) {}

  /// Call when rdma_connect or rdma_accept of `id` has succeeded with the parameters `terms`.
  void on_offer(const IdName& id, const std::string& route, bool active, const Terms& terms);
  /// Call when an event of `id` reports the peer's parameters `terms`: CONNECT_REQUEST on the
  /// passive side, the response on the active side. Initiator depth and responder resources are
  /// already exchanged, as the event reports them.
  void on_heard(const IdName& id, const std::string& route, bool active, const Terms& terms);
  /// Compares the queue pairs of both ends, after both have entered RTS.
  void on_queue_pairs(const IdName& active, const IdName& passive, const QpCensus& left,
                      std::uint32_t left_number, const QpCensus& right, std::uint32_t right_number);
  /// Call when the handshake of this end of the connection is complete.
  void on_up(const IdName& id);
  /// Call when the connection of `id` has ended, the id is destroyed, or its device was removed.
  void on_over(const IdName& id);
  /// Call when a host has crashed. Its ends of connections no longer exist, and their peers get no
  /// message.
  void on_crash(const std::string& host);
  void on_message_lost(const std::string& host, const std::string& other);
  /// Call when a fault has happened that may leave one end connected and the other not. That is
  /// then no violation.
  void excuse() { excused_ = true; }
  void on_rest();
  /// Forgets all ends of connections of the route. No id of the route exists any more, and no
  /// message for one is under way.
  void forget(const std::string& route);

  /// Returns the peer that `id` had last. An IdName with id 0 means that it had none.
  [[nodiscard]] IdName peer_of(const IdName& id) const;
  [[nodiscard]] Terms terms_of(const IdName& id) const;

 private:
  enum class Stage : std::uint8_t { kShaking, kUp, kOver };
  struct End {
    std::string route;
    bool active = false;
    bool offered = false;
    bool reported = false;
    Terms terms{};
    Stage stage = Stage::kShaking;
    IdName peer{};
  };
  void pair(const IdName& id, const IdName& peer);
  [[nodiscard]] bool troubled(const std::string& host, const std::string& other) const;

  Violations& violations_;
  std::unordered_map<IdName, End, IdName::Hash> ends_;
  std::unordered_map<std::string, std::vector<IdName>> by_route_;
  std::set<std::pair<std::string, std::string>> troubled_;
  struct Offer {
    std::string route;
    bool active = false;
    Terms terms{};
    bool operator==(const Offer&) const = default;
  };
  /// Parameters sent by hosts that crashed later; peers may still receive these messages.
  std::vector<Offer> of_the_dead_;
  bool excused_ = false;
};

}  // namespace anyrdma::check
