// Turns events of fibers and of processes alike into coverage.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recording/work/work.h"
#include "sim/coverage.h"
#include "sim/packets/packet_fields.h"
#include "transport/fault/plan/question.h"
#include "transport/transport.h"
#include "verbs/soft/hca_observer.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

/// Owned by a World whose run is under exploration. A milestone is an event with
/// its id's state, or a completion with its queue pair's state. Others are an asynchronous event, a
/// NAK, a request that is sent again, a DREQ that crosses another. Pairs of neighbours are
/// coverage, but no milestones. The object only listens.
class Milestones {
 public:
  explicit Milestones(Coverage& coverage);
  ~Milestones();
  Milestones(const Milestones&) = delete;
  Milestones& operator=(const Milestones&) = delete;

  // Of the ids of a program: a host's fibers, or a process, by its name.
  void on_state(std::string_view who, std::uint64_t id, std::string_view state);
  void on_event(std::string_view who, std::uint64_t id, transport::EventObserver::Step step,
                rdma_cm_event_type type);
  void on_call(std::string_view who, std::uint64_t id, std::string_view call, int error);
  /// All that a process says of itself.
  void on_told(std::string_view process, const fault::Question& what);
  /// A fault of the plan, by the number of its kind of action, strikes.
  void on_fault(std::uint64_t kind);
  /// A packet leaves a host.
  void on_packet(std::string_view from, std::string_view to, const verbs::soft::Packet& packet);
  /// The observer for a device of fibers. It passes all on to `next` unless that is null.
  [[nodiscard]] verbs::soft::HcaObserver* watch(std::string_view host,
                                                verbs::soft::HcaObserver* next);

 private:
  class Device;
  void on_queue_pair(std::string_view who, const recording::QueuePairState& state);
  void on_work(std::string_view who, const recording::PostedWork& work);
  void on_completion(std::string_view who, const recording::TakenCompletion& completion);
  void on_async(std::string_view who, const recording::RaisedEvent& event);
  void on_request_packet(std::uint64_t way, const verbs::soft::Packet& packet);
  void on_dreq(std::uint64_t way, const verbs::soft::Packet& packet, bool is_answer);
  void milestone(std::uint64_t thing);
  void follow(std::uint64_t thing);

  Coverage& coverage_;
  std::uint64_t last_ = 0;                                          ///< what happened before
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> states_;  ///< by id, or queue pair
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> psns_;    ///< the highest, by way
  boost::unordered_flat_map<std::uint64_t, bool> dreqs_;            ///< unanswered, by both ids
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace anyrdma::sim
