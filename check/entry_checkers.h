// All checkers of this folder together. They read the entries of a run (recording/entry.h) while it
// goes on, or from its recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/afterlife.h"
#include "check/agreement.h"
#include "check/device.h"
#include "check/fifo.h"
#include "check/leaks.h"
#include "check/ledger.h"
#include "check/legality.h"
#include "check/payload.h"
#include "check/private_data.h"
#include "check/retried.h"
#include "check/violations.h"
#include "recording/entry.h"

namespace anyrdma::check {

class Checkers final : public recording::EntryReader {
 public:
  /// The origin of the entries.
  enum class Source : std::uint8_t {
    kWorld,      ///< a simulated run: every program is observed
    kProcesses,  ///< recordings of processes in real time: some processes may have no recording
  };
  explicit Checkers(Source source = Source::kWorld);
  Checkers(const Checkers&) = delete;
  Checkers& operator=(const Checkers&) = delete;

  void on_entry(const recording::Entry& entry) override;
  /// Ends the run, and makes the checks that need its end. `complete`: the recording reaches the
  /// end of all programs. Then objects that still exist were leaked, and an action that no peer has
  /// reported did not happen.
  void finish(bool complete = true);
  /// Returns the violations so far, one line each. Some are found only in finish().
  [[nodiscard]] std::vector<std::string> findings() const;
  /// Returns the requests, found since the last call, that were posted again and took effect twice.
  /// A correct program may do so.
  [[nodiscard]] std::vector<Retried::Remark> take_remarks() { return retried_.take_remarks(); }
  /// Returns one sentence for each property that could not be checked.
  [[nodiscard]] std::vector<std::string> unjudged() const;

 private:
  struct Lane {
    std::string of;
    std::string name;
    const std::string* program;  ///< its name, in names_
    std::size_t in = 0;          ///< the lane that it is directly in, or its own
    std::size_t host = 0;  ///< the lane (timeline row) of its host; a host's own lane for a host
  };
  /// An event that was queued and not yet fetched.
  struct Queued {
    std::uint64_t type = 0;
    std::int64_t status = 0;
    std::string parameters{};
  };
  /// The data that the checkers keep about one id, except its phase (legality.h).
  struct Known {
    bool active = false;   ///< has called connect
    bool passive = false;  ///< came with a CONNECT_REQUEST
    bool answered = false;
    bool connected = false;
    bool datagram = false;
    std::uint64_t listener = 0;
    std::string route{};  ///< empty until both addresses are known
    Fifo<Queued> queued{};
  };
  /// An event that was reported before the peer's call that caused it.
  struct Early {
    IdName id;
    Known known;
    std::uint64_t type = 0;
    Queued event;
  };

  void on_lane(const recording::Entry& entry);
  void on_queued(const IdName& id, const recording::Entry& entry);
  void on_fetched(const IdName& id, const recording::Entry& entry);
  void on_delivered(const IdName& id, const Known& known, std::uint64_t type, const Queued& event);
  void on_request(const IdName& id, const Known& known, const Queued& event);
  void on_response(const IdName& id, const Known& known, std::uint64_t type, const Queued& event);
  void on_rejection(const IdName& id, const Known& known, std::size_t room, const Queued& event);
  void on_given(const IdName& id, std::size_t lane, const recording::Entry& entry);
  void on_called(const IdName& id, const recording::Entry& entry);
  void on_fault(const recording::Entry& entry);
  void on_new_numbers(std::size_t lane);
  void on_gone(std::size_t lane);
  void on_rest(std::uint64_t waiting);
  /// Call when a program ends without an answer to a request of `route`. The CM may then reject the
  /// request by itself.
  void on_silent_end(const IdName& id, const std::string& route);
  void over(const IdName& id);
  void forget(std::size_t lane);
  void compare_queue_pairs(const IdName& active);
  /// Checks the events of `route` that were reported before the calls that caused them, after the
  /// process of `by`, the peer, has reported its calls.
  void settle(const std::string& route, const IdName& by);
  /// Whether the peer's call that led to this `event` of the route has been reported. Always true
  /// in a simulated run.
  [[nodiscard]] bool is_observed(const std::string& route, std::uint64_t event) const;
  /// Notes that an id belongs to a connection of `route`.
  void take_route(Known& known, const std::string& route);
  /// Notes that an id of the route exists no more.
  void leave_route(const std::string& route);
  [[nodiscard]] std::string machine_of(std::uint64_t lane) const;
  [[nodiscard]] Device& device_at(std::size_t lane);
  [[nodiscard]] const Device* device_of(const std::string& program, std::uint32_t qp) const;
  [[nodiscard]] const Lane& lane_at(std::uint64_t lane) const { return lanes_[lane]; }

  const Source source_;
  Violations violations_;
  Legality legality_;
  Ledger ledger_{violations_};
  PrivateData private_data_{violations_};
  Agreement agreement_{violations_};
  Payload payload_{violations_};
  Atomics atomics_{violations_};
  Keys keys_{violations_};
  Afterlife afterlife_{violations_};
  Leaks leaks_{violations_};
  Retried retried_;
  std::map<EndKey, std::string> ends_;
  std::vector<Lane> lanes_;
  std::set<std::string> names_;                             ///< of lanes
  std::map<std::size_t, std::unique_ptr<Device>> devices_;  ///< by lane
  std::unordered_map<IdName, Known, IdName::Hash> known_;
  struct Route {
    std::uint64_t ids = 0;   ///< number of ids that belong to it now
    std::uint64_t uses = 0;  ///< number of ids that have ever belonged to it
  };
  std::unordered_map<std::string, Route> routes_;
  /// Routes without ids and their `uses`; those that have ended first are in front.
  std::deque<std::pair<std::string, std::uint64_t>> finished_;
  /// True: a message may arrive long after the ends of its connection have gone.
  bool keeps_all_ = false;
  std::map<std::string, std::vector<Early>> early_;  ///< by route
  std::uint64_t running_ = 0;                        ///< 1 + lane of the thread that runs
  bool altered_ = false;                             ///< a fault has changed a message
  bool hung_ = false;                                ///< the runner of the programs has reported it
};

}  // namespace anyrdma::check
