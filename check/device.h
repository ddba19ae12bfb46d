// The checkers of one device. Their input is the entries of a recording (recording/entry.h) that
// report the device's work.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "check/afterlife.h"
#include "check/announcements.h"
#include "check/atomics.h"
#include "check/fifo.h"
#include "check/keys.h"
#include "check/leaks.h"
#include "check/payload.h"
#include "check/retried.h"
#include "check/stream.h"
#include "check/violations.h"
#include "check/work.h"
#include "recording/entry.h"

namespace anyrdma::check {

/// Runs the checkers for one device: that of a simulated host, or that of one process in real time.
class Device {
 public:
  /// The checkers that compare several devices, which all Device objects of a run share.
  struct Shared {
    Payload& payload;
    Atomics& atomics;
    Keys& keys;
    Afterlife& afterlife;
    Retried& retried;
    /// The name of the device of each queue pair that has been connected.
    std::map<EndKey, std::string>& ends;
    /// Whether the recordings cover all devices of an IP address as soon as they cover one of its
    /// queue pairs.
    bool whole_hosts;
  };
  /// `of_process`: the device belongs to one process. Threads of a process report a request a
  /// moment after they have posted it, so completions may be reported before it. `owner`: the
  /// process, or the host.
  Device(Violations& violations, const Shared& shared, std::string name, std::string owner,
         bool of_process);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Whether the device has a queue pair with this number now.
  [[nodiscard]] bool has(std::uint32_t qp) const;
  /// Returns the census of a queue pair. Precondition: has(qp).
  [[nodiscard]] const QpCensus& census_of(std::uint32_t qp) const;
  /// Processes one entry of the recording that belongs to this device. `thread` is the number of
  /// the thread that runs; 0: unknown.
  void on_entry(const recording::Entry& entry, std::uint64_t thread);
  void on_rest();
  /// The process of the device has ended.
  void on_gone();
  void finish() { work_.finish(); }

 private:
  /// A posted request that names a memory key.
  struct Access {
    std::uint64_t wr_id = 0;
    bool signaled = false;
    std::string remote{};          ///< name of the device to which the remote key belongs
    std::uint32_t remote_key = 0;  ///< 0: none
    Keys::Closing closing = 0;     ///< the latest closing of that key when the request was posted
    std::uint32_t ended_key = 0;   ///< key of this device that the request invalidates; 0: none

    /// Key of this device to which the request binds a memory window; 0: none.
    std::uint32_t bound_key = 0;
    Retried::Handle retried{};  ///< null: executing it twice does no harm
  };
  struct Pair {
    ibv_qp_type type{};
    std::uint64_t srq = 0;
    QpCensus census{};
    Fifo<Access> accesses{};  ///< for a reliable connection: sends that are not completed

    /// The stream (the messages in one direction of a connection) that the queue pair sends;
    /// nullopt: not known yet.
    std::optional<Stream> out{};
    std::optional<Stream> in{};
  };

  [[nodiscard]] Pair* find(std::uint64_t qp);
  void note_thread(std::uint64_t thread);
  void on_opened(const recording::Entry& entry);
  void on_path(const recording::Entry& entry);
  void on_state(const recording::Entry& entry);
  void on_posted(const recording::Entry& entry);
  void on_completed(const recording::Entry& entry);
  void on_received(Pair& pair, const recording::Entry& entry);
  void on_sent(Pair& pair, std::uint32_t qp, const ibv_wc& completion, bool dropped);
  void on_success(std::uint32_t qp, const Access& access);
  void note_access(Pair& pair, const recording::Entry& entry);
  [[nodiscard]] Retried::Handle note_retried(const Pair& pair, const recording::Entry& entry);
  void drop_accesses(Pair& pair);
  void on_held(const recording::Entry& entry);
  void on_queue(const recording::Entry& entry);
  void on_atomic(const recording::Entry& entry);
  [[nodiscard]] bool is_bound(std::uint32_t key) const;
  [[nodiscard]] std::string device_of_peer(const Pair& pair) const;
  [[nodiscard]] bool is_peer_observed(const Pair& pair) const;

  std::string name_;
  std::string owner_;
  const bool of_process_;
  Shared between_;
  Work work_;
  Announcements announcements_;
  Leaks leaks_;
  std::map<std::uint32_t, Pair> pairs_;
  std::set<std::uint64_t> threads_;  ///< numbers of the threads that post and poll

  /// True: it is unknown which receive belongs to which shared receive queue.
  bool lost_track_ = false;
};

}  // namespace anyrdma::check
