// Checks that both ends of a connection agree. Each end must report the other's queue pair
// correctly, and the queue pairs must fit together. When nothing is left to happen, no end may be
// connected to a peer that is not, unless a message between their hosts was lost.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/census.h"
#include "check/violations.h"

namespace anyrdma::check {

/// The parameters that one side sends in REQ or REP, or receives.
struct Terms {
  std::uint32_t qp_num = 0;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  bool operator==(const Terms&) const = default;
  [[nodiscard]] std::string to_string() const;
};

/// Names of connections (routes) are as in PrivateData.
class Agreement {
 public:
  explicit Agreement(Violations& violations) : violations_(violations) {}

  /// connect or accept succeeded.
  void on_offer(const IdName& id, const std::string& route, bool active, const Terms& terms);
  /// Call when an event reports the peer's terms: CONNECT_REQUEST on the passive side, the response
  /// on the active one. The terms are exchanged: what the peer can receive, this side may send.
  void on_heard(const IdName& id, const std::string& route, bool active, const Terms& terms);
  /// Compares the queue pairs of both ends, after both have entered RTS.
  void on_queue_pairs(const IdName& active, const IdName& passive, const QpCensus& left,
                      std::uint32_t left_number, const QpCensus& right, std::uint32_t right_number);
  /// This end's handshake is over.
  void on_up(const IdName& id);
  /// The connection of this end is over, or its id is destroyed or lost its device.
  void on_over(const IdName& id);
  /// The host crashed: its ends are gone, and their peers get no message.
  void on_crash(const std::string& host);
  void on_message_lost(const std::string& host, const std::string& other);
  /// A fault has happened that explains any half-open connection.
  void excuse() { excused_ = true; }
  void on_rest();

  /// The id's last peer; id 0: none.
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
  std::map<IdName, End> ends_;
  std::map<std::string, std::vector<IdName>> by_route_;
  std::set<std::pair<std::string, std::string>> troubled_;
  struct Offer {
    std::string route;
    bool active = false;
    Terms terms{};
    bool operator==(const Offer&) const = default;
  };
  std::vector<Offer> of_the_dead_;  ///< of hosts that crashed; their messages may still be heard
  bool excused_ = false;
};

}  // namespace anyrdma::check
