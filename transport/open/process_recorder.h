// Records what a process does in real time (docs/recording.md): its messages, the states and events
// of its ids and queue pairs, the calls of its threads, and the faults of its plan.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/entry.h"
#include "recording/writer.h"
#include "transport/fault/plan/arming.h"
#include "transport/fault/plan/fault_plan.h"
#include "transport/open/record_file.h"
#include "transport/realtime/fork_guard.h"
#include "transport/station/packet_watch.h"
#include "verbs/time.h"

namespace anyrdma::transport {

/// Writes the recording of a process. Threads: any, inside or outside the critical section
/// (verbs::Runtime::enter), which it never enters itself. In a child made by fork() it writes
/// nothing. It must not be destroyed there, because the file is the parent's.
class ProcessRecorder final : public recording::EntrySink,
                              public station::PacketWatch,
                              private realtime::ForkGuarded {
 public:
  /// Creates the recorder. `transport` is the name of the opened transport.
  ProcessRecorder(std::shared_ptr<recording::Sink> sink, const RecordingProcess& process,
                  std::string_view transport);
  ~ProcessRecorder() override;
  ProcessRecorder(const ProcessRecorder&) = delete;
  ProcessRecorder& operator=(const ProcessRecorder&) = delete;

  // --- EntrySink: ids and the device's work -----------------------------------------------------
  void put(const recording::Entry& entry) override { put_in(own_, entry); }
  [[nodiscard]] bool is_closed() const override { return forked_.load(std::memory_order_relaxed); }

  /// Returns a sink for the work of one of several devices, which has a lane (timeline row) of its
  /// own. It lives as long as the recorder. `device`: its name. Call it once for each device.
  [[nodiscard]] recording::EntrySink& sink_of_device(std::string_view device);

  // --- PacketWatch ------------------------------------------------------------------------------
  void on_leaving(const verbs::soft::Packet& packet, bool own) override;
  void on_arriving(const verbs::soft::Packet& packet) override;
  void on_passed() override;

  // --- faults -----------------------------------------------------------------------------------
  void planned(const fault::FaultPlan& plan);
  /// Call when a fault has happened. If it happened to the packet that is being sent or received,
  /// the recording says so.
  void fired(const fault::FaultStatus& status);

  /// Call when the process ends. `faults` has the final counts of the faults of its plan. Nothing
  /// is written afterwards.
  void end(const std::vector<fault::FaultStatus>& faults);

 private:
  class Turn;
  /// Writes entries into the lane of a device.
  class DeviceSink final : public recording::EntrySink {
   public:
    DeviceSink(ProcessRecorder& recorder, recording::Number lane)
        : recorder_(recorder), lane_(lane) {}
    void put(const recording::Entry& entry) override { recorder_.put_in(lane_, entry); }
    [[nodiscard]] bool is_closed() const override { return recorder_.is_closed(); }

   private:
    ProcessRecorder& recorder_;
    const recording::Number lane_;
  };

  void before_fork() override {}
  void after_fork_in_parent() override {}
  void after_fork_in_child() override { forked_.store(true, std::memory_order_relaxed); }

  void put_in(recording::Number lane, const recording::Entry& entry);
  [[nodiscard]] verbs::Instant now() const;
  [[nodiscard]] recording::Number lane_of(const ibv_gid& outsider);
  template <recording::EntryKind kKind, class... Fields>
  void write(const Fields&... fields) {
    writer_.write<kKind>(now(), fields...);
  }
  /// Writes to which thread the entries that follow belong.
  void tell_thread();
  void send(const verbs::soft::Packet& packet, recording::Number from, recording::Number to);

  const std::string name_;  ///< name of the process in the recording
  const std::string program_;
  const verbs::Instant began_;
  std::atomic<bool> forked_ = false;
  std::mutex mutex_;  ///< guards the members that follow
  recording::Writer writer_;
  bool ended_ = false;
  recording::Number own_ = 0;
  std::vector<std::unique_ptr<DeviceSink>> devices_;
  std::map<std::string, recording::Number> outsiders_;  ///< by address
  std::map<std::uint64_t, recording::Number> threads_;  ///< by their serial numbers

  /// 1 + lane of the thread that was written last.
  std::uint64_t running_ = 0;
  /// The message that is being sent or received.
  std::optional<recording::Number> passing_;
};

}  // namespace anyrdma::transport
