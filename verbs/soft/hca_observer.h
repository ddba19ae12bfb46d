// The view of checkers on a software HCA: requests that are posted and completed, and counts of its
// objects. A device without an observer has no cost: the operations of its contexts differ.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace anyrdma::verbs::soft {

class Hca;

/// Observes the work of one device. Must not call back, except for a census or a digest.
class HcaObserver {
 public:
  virtual ~HcaObserver() = default;
  /// It is this device's observer from now on.
  virtual void on_device(const Hca& /*hca*/) {}
  /// A fresh QP, in RESET.
  virtual void on_opened(const ibv_qp& qp) = 0;
  /// The queue pair was moved to another state, or to the same one. Inside the critical section.
  virtual void on_state(const ibv_qp& /*qp*/, ibv_qp_state /*state*/) {}
  /// A request that was taken. `signaled`: by its flag or by the QP's sq_sig_all.
  virtual void on_posted(const ibv_qp& qp, const ibv_send_wr& request, bool signaled) = 0;
  virtual void on_posted(const ibv_qp& qp, const ibv_recv_wr& request) = 0;
  virtual void on_posted(const ibv_srq& srq, const ibv_recv_wr& request) = 0;
  /// A completion that the application took.
  virtual void on_polled(const ibv_cq& cq, const ibv_wc& completion) = 0;
  /// The QP's outstanding work and unpolled completions are about to be discarded: it is destroyed,
  /// or goes to RESET.
  virtual void on_discarding(const ibv_qp& qp, bool destroyed) = 0;
  /// A shared receive queue is about to be destroyed.
  virtual void on_closing(const ibv_srq& srq) = 0;
  /// The application has set the limit of a shared receive queue; 0: none.
  virtual void on_limit_set(const ibv_srq& srq, std::uint32_t limit) = 0;
  /// An asynchronous event has been queued.
  virtual void on_raised(const ibv_async_event& event) = 0;
  /// A compare-and-swap or fetch-and-add of the QP's peer was executed, with the original value.
  virtual void on_atomic_done(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) = 0;
  /// The QP has had the answer to one of its own.
  virtual void on_atomic_answer(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) = 0;
  /// A region or a window was made that this key names, or is destroyed.
  virtual void on_key_opened(std::uint32_t key) = 0;
  virtual void on_key_closed(std::uint32_t key) = 0;
};

/// One QP with its outstanding work.
struct QpCensus {
  ibv_qp_state state{};
  ibv_qp_type type{};
  ibv_qp_attr attr{};  ///< as last set
  ibv_gid gid{};       ///< its own, from the path it was given; zero without one
  std::size_t sends = 0;
  std::size_t signaled_sends = 0;  ///< of them
  std::size_t receives = 0;
  std::size_t sent = 0;      ///< unpolled completions of sends
  std::size_t received = 0;  ///< ... of receives
  bool overrun = false;      ///< one of its completion queues is lost, or has lost some
  std::size_t timers = 0;    ///< armed
};

/// One shared receive queue.
struct SrqCensus {
  std::size_t receives = 0;
  const ibv_cq* completions = nullptr;  ///< its own, of an extended connection's; else null
  std::uint32_t number = 0;             ///< by which peers name it; 0: none does
};

/// The objects of a device.
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
