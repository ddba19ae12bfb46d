// Records a process in real time (docs/recording.md): its messages, the states and events of its
// ids and queue pairs, the calls of its threads, and the faults of its plan.
#pragma once

#include <rdma/rdma_cma.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/work/work.h"
#include "recording/writer.h"
#include "transport/fault/plan/arming.h"
#include "transport/fault/plan/fault_plan.h"
#include "transport/open/record_file.h"
#include "transport/realtime/fork_guard.h"
#include "transport/station/packet_watch.h"
#include "transport/transport.h"
#include "verbs/time.h"

namespace anyrdma::transport {

/// Threads: any, inside or outside the critical section; it never enters that. In a child made by
/// fork() nothing is written any more, and it may not be destroyed: the file is the parent's.
class ProcessRecorder final : public recording::WorkSink,
                              public station::PacketWatch,
                              private realtime::ForkGuarded {
 public:
  /// `transport` is the name of what was opened.
  ProcessRecorder(std::shared_ptr<recording::Sink> sink, const RecordingProcess& process,
                  std::string_view transport);
  ~ProcessRecorder() override;
  ProcessRecorder(const ProcessRecorder&) = delete;
  ProcessRecorder& operator=(const ProcessRecorder&) = delete;

  // --- what cm observes -------------------------------------------------------------------------
  void event(EventObserver::Step step, std::uint64_t id, std::uint64_t listener,
             const rdma_cm_event& event);
  void acknowledged(std::uint64_t id);
  void called(std::uint64_t id, std::string_view call, int error);
  void state(std::uint64_t id, std::string_view state);
  void given(std::uint64_t id, std::uint32_t qp_num);

  // --- WorkSink ---------------------------------------------------------------------------------
  void on_queue_pair(const recording::QueuePairState& state) override;
  void on_work(const recording::PostedWork& work) override;
  void on_completion(const recording::TakenCompletion& completion) override;
  void on_async(const recording::RaisedEvent& event) override;

  // --- PacketWatch ------------------------------------------------------------------------------
  void on_leaving(const verbs::soft::Packet& packet, bool own) override;
  void on_arriving(const verbs::soft::Packet& packet) override;
  void on_passed() override;

  // --- faults -----------------------------------------------------------------------------------
  void planned(const fault::FaultPlan& plan);
  /// Strikes the packet that is passing, if any.
  void fired(const fault::FaultStatus& status);

  /// The process ends; `faults` is what became of its plan. Nothing is written afterwards.
  void end(const std::vector<fault::FaultStatus>& faults);

 private:
  class Turn;
  void before_fork() override {}
  void after_fork_in_parent() override {}
  void after_fork_in_child() override { forked_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] verbs::Instant now() const;
  [[nodiscard]] recording::Number lane_of(const ibv_gid& outsider);
  template <recording::EntryKind kKind, class... Fields>
  void write(const Fields&... fields) {
    writer_.write<kKind>(now(), fields...);
  }
  /// Says which thread it is that does what comes.
  void tell_thread();
  template <recording::EntryKind kKind, class... Fields>
  void write_deed(const Fields&... fields) {
    tell_thread();
    write<kKind>(fields...);
  }
  void send(const verbs::soft::Packet& packet, recording::Number from, recording::Number to);

  const std::string name_;  ///< of the process's lane
  const std::string program_;
  const verbs::Instant began_;
  std::atomic<bool> forked_ = false;
  std::mutex mutex_;  ///< guards what follows
  recording::Writer writer_;
  bool ended_ = false;
  recording::Number own_ = 0;
  std::map<std::string, recording::Number> outsiders_;  ///< by address
  std::map<std::uint64_t, recording::Number> threads_;  ///< by their serial numbers
  std::uint64_t running_ = 0;                           ///< 1 + lane of who was told last
  std::optional<recording::Number> passing_;            ///< message
};

}  // namespace anyrdma::transport
