// The checkers of one device. Their input is the entries (recording/entry.h) of its work.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "check/afterlife.h"
#include "check/announcements.h"
#include "check/atomics.h"
#include "check/keys.h"
#include "check/leaks.h"
#include "check/payload.h"
#include "check/violations.h"
#include "check/work.h"
#include "recording/entry.h"

namespace anyrdma::check {

/// The device of a simulated host, or that of one process.
class Device {
 public:
  /// The checkers that compare several devices.
  struct Shared {
    Payload& payload;
    Atomics& atomics;
    Keys& keys;
    Afterlife& afterlife;
    /// The device of each queue pair that has been connected, by its GID and number.
    std::map<std::pair<std::string, std::uint32_t>, std::string>& ends;
    /// Whether all devices of an address are observed if one of its queue pairs is.
    bool whole_hosts;
  };
  /// `of_process`: the device belongs to a process, whose threads report a request a moment after
  /// they posted it.
  Device(Violations& violations, const Shared& shared, std::string name, bool of_process);

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Whether a queue pair has this number now.
  [[nodiscard]] bool has(std::uint32_t qp) const;
  /// Returns the census of a queue pair. Precondition: has(qp).
  [[nodiscard]] const QpCensus& census_of(std::uint32_t qp) const;
  /// Processes an entry of the device's lane (timeline row). `thread`: the thread that runs; 0:
  /// unknown.
  void on_entry(const recording::Entry& entry, std::uint64_t thread);
  void on_rest();
  void finish() { work_.finish(); }

 private:
  /// A request that names a key.
  struct Access {
    std::uint64_t wr_id = 0;
    bool signaled = false;
    std::string remote{};          ///< the device that the key is of
    std::uint32_t remote_key = 0;  ///< 0: none
    Keys::Closing closing = 0;     ///< of it, when it was posted
    std::uint32_t ended_key = 0;   ///< of our own, which it invalidates; 0: none
    std::uint32_t bound_key = 0;   ///< of our own, which it binds a window to; 0: none
  };
  struct Pair {
    ibv_qp_type type{};
    std::uint64_t srq = 0;
    QpCensus census{};
    std::deque<Access> accesses{};  ///< of a reliable connection: sends that are not completed
    std::string out{};              ///< the stream that it sends; empty: not known yet
    std::string in{};
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
  void on_held(const recording::Entry& entry);
  void on_queue(const recording::Entry& entry);
  void on_atomic(const recording::Entry& entry);
  [[nodiscard]] bool is_bound(std::uint32_t key) const;
  [[nodiscard]] std::string device_of_peer(const Pair& pair) const;
  [[nodiscard]] bool is_peer_observed(const Pair& pair) const;

  std::string name_;
  const bool of_process_;
  Shared between_;
  Work work_;
  Announcements announcements_;
  Leaks leaks_;
  std::map<std::uint32_t, Pair> pairs_;
  std::set<std::uint64_t> threads_;  ///< that post and poll
  bool lost_track_ = false;          ///< of which receive belongs to which shared receive queue
};

}  // namespace anyrdma::check
