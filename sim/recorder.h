// Records a world (docs/recording.md). It only observes: no behaviour depends on it.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recording/writer.h"
#include "sim/schedule/fiber.h"
#include "sim/schedule/schedule.h"
#include "sim/trace/trace.h"
#include "transport/fault/plan/question.h"
#include "transport/transport.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

class Host;
class Scheduler;

/// Owned by the World, which tells it; only the first group is for
/// others.
class Recorder final : public WaitObserver {
 public:
  Recorder(const Scheduler& scheduler, std::shared_ptr<recording::Sink> sink);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // --- for the creator of the run ----------------------------------------------------------------
  /// Of the run as a whole; keys in docs/recording.md.
  void about(std::string_view key, std::string_view value) { writer_.about(key, value); }
  /// Something is wrong, and where one looks for it: here, or at the last thing of a lane.
  void finding(std::string_view text, std::string_view stack = {});
  /// The run hangs: every thread that waits, waits for ever.
  void hang(std::string_view why);
  /// A program was ended by a signal, and this is the moment. `stack`: lines; may be empty.
  void crash(std::string_view program, std::string_view how, std::string_view stack = {});
  /// Whether a hang, a crash or a finding has been told.
  [[nodiscard]] bool found() const { return !verdict_.empty(); }
  /// How the run went, instead of what a hang or findings have said.
  void set_verdict(std::string_view verdict) { verdict_ = verdict; }

  // --- for the world ----------------------------------------------------------------------------
  void add_host(HostIndex host, std::string_view name);
  /// Later actions of hosts' programs, while the world ends, are not recorded as theirs.
  void close();
  [[nodiscard]] bool closed() const { return closed_; }
  void end(std::uint64_t hash);

  // Packets that have been sent or copied bear a mark, which says which message they are.
  void sent(HostIndex from, HostIndex to, verbs::soft::Packet& packet, const FieldWriter& fields);
  void copied(const verbs::soft::Packet& packet, verbs::soft::Packet& copy, HostIndex to);
  void launched(const verbs::soft::Packet& packet, Instant arrival);
  /// The packet of that mark.
  void lost(std::uint64_t mark, std::string_view why, HostIndex at);
  void ignored(HostIndex host, std::string_view why, std::uint16_t attribute);
  void fault(std::string_view line);
  /// By the last fault.
  void struck(const verbs::soft::Packet& packet);
  void note(HostIndex host, std::string_view text);
  /// A program of the run has written a line.
  void output(std::string_view program, bool error, std::string_view line);
  /// A program has ended: "ended with status 1".
  void ended(std::string_view program, std::string_view how);
  /// The schedule has not let the first go on that could: the fiber instead; null: the network.
  void chosen(const Deviation& choice, const Fiber* fiber);
  void event(HostIndex host, transport::EventObserver::Step step, std::uint64_t id,
             std::uint64_t listener, const rdma_cm_event& event);
  void acknowledged(HostIndex host, std::uint64_t id);
  void called(HostIndex host, std::uint64_t id, std::string_view call, int error);
  void given(HostIndex host, std::uint64_t id, std::uint32_t qp_num);
  void state(HostIndex host, std::uint64_t id, std::string_view state);
  /// Its power was cut.
  void crashed(HostIndex host);
  /// A process of a host says what its ids go through.
  void told(HostIndex host, std::string_view process, const fault::Question& what);
  /// Returns an observer of the device's work, which also calls `next` unless that is null.
  [[nodiscard]] verbs::soft::HcaObserver* watch(HostIndex host, std::string_view device,
                                                verbs::soft::HcaObserver* next);

 private:
  class Device;
  template <recording::EntryKind kKind, class... Fields>
  void write(const Fields&... fields);
  /// By the thread that runs.
  template <recording::EntryKind kKind, class... Fields>
  void write_deed(const Fields&... fields);
  [[nodiscard]] recording::Number lane_of(HostIndex host) const {
    return hosts_[static_cast<std::size_t>(host)];
  }
  /// As the format has a lane that need not be there.
  [[nodiscard]] recording::Number lane_or_none(HostIndex host) const {
    return host == kNoHost ? 0 : lane_of(host) + 1;
  }
  [[nodiscard]] recording::Number process_lane(HostIndex host, std::string_view process);
  [[nodiscard]] recording::Number thread_lane(std::string_view name);
  /// Says which thread it is that does what comes.
  void tell_thread();
  [[nodiscard]] recording::Number thread_lane(const Fiber& fiber);
  void on_waited(const Fiber& fiber) override;
  void wait(const Fiber& fiber, bool ended);

  const Scheduler& scheduler_;
  recording::Writer writer_;
  bool closed_ = false;
  bool hangs_ = false;  ///< who waits has been told
  std::string verdict_;
  std::vector<std::string> host_names_;
  std::vector<recording::Number> hosts_;
  std::map<std::string, recording::Number, std::less<>> processes_;
  std::map<std::string, recording::Number, std::less<>> threads_;
  std::vector<recording::Number> by_fiber_;  ///< by its number: 1 + lane; 0: it has none yet
  recording::Number running_ = 0;            ///< 1 + lane of the thread that was told last
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace anyrdma::sim
