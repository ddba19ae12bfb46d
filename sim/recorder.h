// Turns what happens in a world into a stream of entries, for a recording (docs/recording.md) and
// for readers such as checkers. The recorder only observes: no behaviour depends on it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/entry.h"
#include "recording/work/ids.h"
#include "recording/writer.h"
#include "sim/schedule/fiber.h"
#include "sim/schedule/schedule.h"
#include "sim/trace/trace.h"
#include "transport/fault/plan/fault.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

class Host;
class Scheduler;

/// Records the events of one world, which owns the recorder and calls it. Other code may call only
/// the first group of functions.
class Recorder final : public WaitObserver {
 public:
  /// `sink` null: there are only readers.
  Recorder(const Scheduler& scheduler, std::shared_ptr<recording::Sink> sink);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // --- for the creator of the run ----------------------------------------------------------------

  /// Records a fact about the run as a whole, such as its seed. docs/recording.md lists the keys.
  void about(std::string_view key, std::string_view value) {
    if (writer_) writer_->about(key, value);
  }
  /// Records a finding (a problem that a checker has found). `stack`: lines; may be empty.
  void finding(std::string_view text, std::string_view stack = {});
  /// Records that the run hangs: no thread that waits will ever continue.
  void hang(std::string_view why);
  /// Records that a signal has ended a program now. `stack`: lines; may be empty.
  void crash(std::string_view program, std::string_view how, std::string_view stack = {});
  /// Whether a hang, a crash or a finding was recorded.
  [[nodiscard]] bool found() const { return !verdict_.empty(); }
  /// Sets the verdict of the run, which replaces the verdict from hangs and findings.
  void set_verdict(std::string_view verdict) { verdict_ = verdict; }

  /// Adds a reader, which gets all later entries except messages, notes, waits and findings. The
  /// reader must outlive the recorder.
  void add_reader(recording::EntryReader& reader) { readers_.push_back(&reader); }
  /// Whether there is a recording.
  [[nodiscard]] bool records() const { return writer_.has_value(); }

  // --- for the world ----------------------------------------------------------------------------
  void add_host(HostIndex host, std::string_view name);
  /// Ends the recording of programs: actions of programs while the world is destroyed are no longer
  /// recorded.
  void close();
  [[nodiscard]] bool closed() const { return closed_; }
  void end(std::uint64_t hash);

  // Records a packet that was sent, and gives it a mark: the number that identifies its message in
  // the recording. A copy of the packet (copied()) gets a mark too.
  void sent(HostIndex from, HostIndex to, verbs::soft::Packet& packet,
            const recording::FieldWriter& fields);
  void copied(const verbs::soft::Packet& packet, verbs::soft::Packet& copy, HostIndex to);
  void launched(const verbs::soft::Packet& packet, Instant arrival);
  /// The packet of that mark.
  void lost(std::uint64_t mark, std::string_view why, HostIndex at);
  void ignored(HostIndex host, std::string_view why, std::uint16_t attribute);
  void fault(std::string_view line, const fault::FaultAction& action);
  /// By the last fault.
  void struck(const verbs::soft::Packet& packet);
  void note(HostIndex host, std::string_view text);
  /// Records a line of output of a program. `error`: the line went to stderr.
  void output(std::string_view program, bool error, std::string_view line);
  /// A program has ended: "ended with status 1".
  void ended(std::string_view program, std::string_view how);
  /// Records a scheduling choice that did not take the first candidate. `fiber`: the chosen fiber;
  /// null: a network event was chosen.
  void chosen(const Deviation& choice, const Fiber* fiber);
  /// Returns the observer to which a host's CM reports the events and calls of its ids.
  [[nodiscard]] recording::IdObserver& ids(HostIndex host);
  /// Its power was cut.
  void crashed(HostIndex host);
  /// A process of a host does something. `rail`: the interface whose device does it; empty: the
  /// process itself, or its only device.
  void hear(HostIndex host, std::string_view process, std::string_view rail,
            const recording::Entry& entry);
  /// Records that a process has opened a device. The numbers of its objects begin anew.
  void opened(HostIndex host, std::string_view process);
  /// A process has ended.
  void gone(HostIndex host, std::string_view process);
  /// Returns an observer of a device's work requests and completions. Call when the device is
  /// plugged in, before it is used.
  [[nodiscard]] verbs::soft::HcaObserver* watch(HostIndex host, std::string_view device);
  /// Records that a program of the host has created an event channel (1) or destroyed one (-1).
  void channels(HostIndex host, int change) { channels_[host] += change; }
  /// Records a mistake (an invalid use of the API) of a program on the host. `text`: which mistake,
  /// when and where.
  void mistake(HostIndex host, std::string_view text);
  /// Records that a CM message between two hosts, in either direction, was lost or not accepted.
  /// `peer` is kNoHost if no host has the destination address.
  void unheard(HostIndex at, HostIndex peer);
  /// Records that packets may be reordered or duplicated from now on.
  void disorder();
  /// Records that nothing more can happen. `waiting`: the number of programs that will wait for
  /// ever.
  void rest(std::uint64_t waiting);
  /// Records, when all programs have ended, how many objects they have not destroyed.
  void count_left();

 private:
  class Place;
  class Device;
  /// Into the recording alone.
  template <recording::EntryKind kKind, class... Fields>
  void write(const Fields&... fields);
  /// To all.
  template <recording::EntryKind kKind, class... Fields>
  void tell(const Fields&... fields) {
    recording::Entry entry = recording::entry_of<kKind>(fields...);
    give(entry);
  }
  void give(recording::Entry& entry);
  /// Fills in the lane.
  void put(recording::Number lane, const recording::Entry& entry);
  [[nodiscard]] recording::Number add_lane(std::string_view of, std::string_view name,
                                           recording::Number in_or_none);
  [[nodiscard]] recording::Number lane_of(HostIndex host) const {
    return hosts_[static_cast<std::size_t>(host)];
  }
  /// Returns the lane (the timeline of a host, process or thread in the recording) of a host, in
  /// the format of an optional lane: 0 for none, else the lane's number plus one.
  [[nodiscard]] recording::Number lane_or_none(HostIndex host) const {
    return host == kNoHost ? 0 : lane_of(host) + 1;
  }
  [[nodiscard]] recording::Number process_lane(HostIndex host, std::string_view process);
  /// The lane of a device of a process with several. `of_process`: the lane of the process.
  [[nodiscard]] recording::Number rail_lane(std::string_view process, std::string_view rail,
                                            recording::Number of_process);
  [[nodiscard]] recording::Number thread_lane(std::string_view name);
  /// Sets the thread to which the following records belong.
  void tell_thread();
  [[nodiscard]] recording::Number thread_lane(const Fiber& fiber);
  void on_waited(const Fiber& fiber) override;
  void wait(const Fiber& fiber, bool ended);

  const Scheduler& scheduler_;
  std::optional<recording::Writer> writer_;
  std::vector<recording::EntryReader*> readers_;
  recording::Number lanes_ = 0;
  bool closed_ = false;
  bool hangs_ = false;  ///< who waits has been told
  std::string verdict_;
  std::vector<std::string> host_names_;
  std::vector<recording::Number> hosts_;
  std::vector<std::unique_ptr<Place>> places_;  ///< of hosts
  std::map<std::string, recording::Number, std::less<>> processes_;
  std::map<std::string, recording::Number, std::less<>> threads_;
  /// the lane of each fiber plus 1, by the fiber's number; 0: no lane yet
  std::vector<recording::Number> by_fiber_;
  recording::Number running_ = 0;  ///< the lane, plus 1, of the last thread that was recorded
  std::vector<std::unique_ptr<Device>> devices_;
  std::map<HostIndex, int> channels_;
  bool disorder_ = false;
};

}  // namespace anyrdma::sim
