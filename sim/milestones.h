// Collects coverage from the recorded events of fibers and of processes.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recording/entry.h"
#include "recording/packets/packet_fields.h"
#include "sim/coverage.h"
#include "transport/transport.h"
#include "verbs/soft/hca_observer.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

/// Collects the milestones (rare events) and the coverage of one run of an exploration; owned by
/// the World. A milestone is one of these: a CM event together with the state of its id, or a
/// completion together with the state of its queue pair. Others are an asynchronous event, a NAK, a
/// repeated request, and a DREQ that crosses another. Pairs of successive events count as coverage
/// only. The object only observes.
class Milestones final : public recording::EntryReader {
 public:
  explicit Milestones(Coverage& coverage);
  ~Milestones() override;
  Milestones(const Milestones&) = delete;
  Milestones& operator=(const Milestones&) = delete;

  // --- EntryReader: what programs do ------------------------------------------------------------
  void on_entry(const recording::Entry& entry) override;

  /// Called when a fault takes effect. `kind`: the number of its kind of action.
  void on_fault(std::uint64_t kind);
  /// A packet leaves a host.
  void on_packet(std::string_view from, std::string_view to, const verbs::soft::Packet& packet);

 private:
  void on_lane(const recording::Entry& entry);
  void on_state(std::uint64_t who, std::uint64_t id, std::string_view state);
  void on_event(std::uint64_t who, std::uint64_t id, transport::EventObserver::Step step,
                std::uint64_t type);
  void on_call(std::uint64_t who, std::uint64_t id, std::string_view call, std::uint64_t error);
  void on_queue_pair(std::uint64_t who, std::uint64_t qp, std::string_view state);
  void on_completion(std::uint64_t who, std::uint64_t qp, std::uint64_t opcode,
                     std::uint64_t status);
  void on_request_packet(std::uint64_t way, const verbs::soft::Packet& packet);
  void on_dreq(std::uint64_t way, const verbs::soft::Packet& packet, bool is_answer);
  void milestone(std::uint64_t thing);
  void follow(std::uint64_t thing);

  Coverage& coverage_;
  std::uint64_t last_ = 0;                                          ///< what happened before
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> states_;  ///< by id, or queue pair
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> psns_;    ///< the highest, by way
  boost::unordered_flat_map<std::uint64_t, bool> dreqs_;            ///< unanswered, by both ids
  std::vector<std::uint64_t> lanes_;  ///< hashes of the names of hosts and processes
};

}  // namespace anyrdma::sim
