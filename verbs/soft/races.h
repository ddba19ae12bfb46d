// Races between the program and its device, for ThreadSanitizer. A work request's memory is the
// device's from its posting until its completion is polled. Accesses by a peer's requests are
// ordered before the next receive that completes on that connection.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "verbs/soft/thread_sanitizer.h"

namespace anyrdma::verbs::soft {

class SoftContext;
class SoftSrq;
struct Core;
struct SoftQp;

/// Of one device. Critical section.
class Races {
 public:
  using Access = thread_sanitizer::Access;

  explicit Races(const Core& core) : core_(core) {}

  void on_opened(const SoftQp& qp);
  /// A request is about to be posted.
  void on_posting(const SoftQp& qp, const ibv_send_wr& request, std::span<void* const> stack);
  void on_posting(const SoftQp& qp, const ibv_recv_wr& request, std::span<void* const> stack);
  void on_posting(const SoftSrq& srq, const ibv_recv_wr& request, std::span<void* const> stack);
  /// The last one was refused.
  void on_refused_send(const SoftQp& qp);
  void on_refused_receive(const ibv_qp* qp, const ibv_srq* srq);
  /// The calling thread has polled a completion.
  void on_polled(const ibv_wc& completion);
  /// A request of the peer accesses memory of the program.
  void on_remote(const SoftQp& qp, void* at, std::size_t bytes, Access access);
  /// The device lets go of all that it has, by a call of this thread: the queue pair goes to RESET,
  /// or is destroyed.
  void on_discarded(const SoftQp& qp, bool destroyed);
  void on_closed(const ibv_srq& srq);

 private:
  struct Work {
    std::uint64_t wr_id;
    bool signaled;
    std::unique_ptr<char> done;  ///< its address: the device has done it
  };
  struct Queue {
    explicit Queue(const std::string& name) : timeline(name) {}
    thread_sanitizer::Timeline timeline;
    std::deque<Work> work;
  };
  struct Pair {
    explicit Pair(const ibv_qp& qp);
    const ibv_qp* qp;
    Queue sends;
    Queue receives;
    thread_sanitizer::Timeline peer;
    char arrived = 0;  ///< its address: what the peer has done
  };

  using Ranges = std::vector<thread_sanitizer::Timeline::Range>;

  [[nodiscard]] Pair& pair_of(const ibv_qp& qp);
  [[nodiscard]] Queue& queue_of(const ibv_srq& srq);
  [[nodiscard]] Ranges ranges_of(const ibv_pd* pd, const ibv_sge* list, int count,
                                 Access access) const;
  static void post(Queue& queue, std::uint64_t wr_id, bool signaled, const Ranges& ranges,
                   std::span<void* const> stack);
  static void take_back(Queue& queue);

  const Core& core_;
  std::map<std::uint32_t, std::unique_ptr<Pair>> pairs_;
  std::map<const ibv_srq*, std::unique_ptr<Queue>> shared_;
};

/// Replaces operations by ones that report to Core::races and call the replaced ones
/// (race_ops.cc).
void install_race_operations(SoftContext& context);

}  // namespace anyrdma::verbs::soft
