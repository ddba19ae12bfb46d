// The interface by which checkers observe a software HCA: requests that are posted and completed,
// and counts of its objects. Without an observer the device uses other functions for its
// operations, which have no extra cost.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace anyrdma::verbs::soft {

class Hca;

/// Observes the work of one device. The functions must not call the device, except for a census
/// (Hca::census_of) or a digest (Hca::digest).
class HcaObserver {
 public:
  virtual ~HcaObserver() = default;
  /// Called when this object becomes the device's observer.
  virtual void on_device(const Hca& /*hca*/) {}
  /// Called when a queue pair was created, in the state RESET.
  virtual void on_opened(const ibv_qp& qp) = 0;
  /// Called when a queue pair was moved to a state, perhaps to the state that it had. Inside the
  /// runtime's critical section.
  virtual void on_state(const ibv_qp& /*qp*/, ibv_qp_state /*state*/) {}
  /// Called when a request was posted successfully. `signaled`: the request will have a completion
  /// even if it succeeds, by its flag or by the QP's sq_sig_all.
  virtual void on_posted(const ibv_qp& qp, const ibv_send_wr& request, bool signaled) = 0;
  virtual void on_posted(const ibv_qp& qp, const ibv_recv_wr& request) = 0;
  virtual void on_posted(const ibv_srq& srq, const ibv_recv_wr& request) = 0;
  /// Called when the application has polled a completion.
  virtual void on_polled(const ibv_cq& cq, const ibv_wc& completion) = 0;
  /// Called before the outstanding work and the unpolled completions of a QP are discarded, because
  /// the QP goes to RESET or is destroyed.
  virtual void on_discarding(const ibv_qp& qp, bool destroyed) = 0;
  /// A shared receive queue is about to be destroyed.
  virtual void on_closing(const ibv_srq& srq) = 0;
  /// Called when the application has set the limit (srq_limit) of a shared receive queue; 0: no
  /// limit.
  virtual void on_limit_set(const ibv_srq& srq, std::uint32_t limit) = 0;
  /// An asynchronous event was put into its queue.
  virtual void on_raised(const ibv_async_event& event) = 0;
  /// Called when a compare-and-swap or fetch-and-add that the QP's peer requested was executed.
  /// `original`: the value in memory before.
  virtual void on_atomic_done(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) = 0;
  /// Called when the QP has received the response to an atomic operation that it requested.
  /// `original`: the value in the peer's memory before.
  virtual void on_atomic_answer(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) = 0;
  /// Called when a memory region or window with this key was created; on_key_closed() when it is
  /// about to be destroyed.
  virtual void on_key_opened(std::uint32_t key) = 0;
  virtual void on_key_closed(std::uint32_t key) = 0;
};

/// The state and outstanding work of one QP.
struct QpCensus {
  ibv_qp_state state{};
  ibv_qp_type type{};
  ibv_qp_attr attr{};  ///< the attributes as last set
  ibv_gid gid{};       ///< the QP's own GID, from its path; zero if it has none
  std::size_t sends = 0;
  std::size_t signaled_sends = 0;  ///< of `sends`, those that are signaled
  std::size_t receives = 0;
  std::size_t sent = 0;      ///< unpolled completions of sends
  std::size_t received = 0;  ///< unpolled completions of receives

  /// Whether one of the QP's completion queues has overrun, or has dropped completions.
  bool overrun = false;
  std::size_t timers = 0;  ///< armed timers
};

/// The state of one shared receive queue.
struct SrqCensus {
  std::size_t receives = 0;
  /// The completion queue of an SRQ for extended connections (XRC); null for other SRQs.
  const ibv_cq* completions = nullptr;
  std::uint32_t number = 0;  ///< the number that XRC peers use for it; 0: none
};

/// Counts of the objects of a device.
struct Census {
  std::size_t queue_pairs = 0;
  std::size_t completion_queues = 0;
  std::size_t completion_channels = 0;
  std::size_t memory_regions = 0;
  std::size_t memory_windows = 0;
  std::size_t device_memories = 0;
  std::size_t protection_domains = 0;
  std::size_t address_handles = 0;
  std::size_t shared_receive_queues = 0;
  std::size_t extended_domains = 0;
  std::size_t thread_domains = 0;
  std::size_t opened_queue_pairs = 0;  ///< with ibv_open_qp
  std::size_t timers = 0;              ///< armed
  std::size_t queue_timers = 0;        ///< of them, those of completion queues

  bool operator==(const Census&) const = default;
};

}  // namespace anyrdma::verbs::soft
