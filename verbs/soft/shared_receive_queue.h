// Shared receive queues: receives that several queue pairs draw from, first come first served.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/runtime.h"
#include "verbs/soft/completion_queue.h"
#include "verbs/soft/work_queue.h"

namespace anyrdma::verbs::soft {

struct SoftPd;
struct SoftXrcd;

/// The application's ibv_srq. Used inside the critical section.
class SoftSrq : public ibv_srq, public LiveHook {
 public:
  static constexpr ObjectKind kKind = ObjectKind::kSharedReceiveQueue;

  /// Precondition: `attr` was checked against the device.
  SoftSrq(SoftPd& pd, void* user, const ibv_srq_attr& attr);
  ~SoftSrq();
  SoftSrq(const SoftSrq&) = delete;
  SoftSrq& operator=(const SoftSrq&) = delete;

  /// Errno as ibv_post_srq_recv returns it, 0 for success.
  [[nodiscard]] int post(const ibv_recv_wr& request);
  /// The receive posted last cannot take a message in: see soft::spoil.
  void spoil_last(ibv_wc_status status) { spoil(queue_[queue_.tail() - 1], status); }
  /// Moves the oldest receive to the end of a queue pair's; raises IBV_EVENT_SRQ_LIMIT_REACHED,
  /// once, when fewer than the limit are left. False: there is none.
  [[nodiscard]] bool move_front_to(WorkQueue<ReceiveWork>& queue);

  /// EINVAL: smaller than the number of posted receives, or than the limit in force.
  [[nodiscard]] int resize(std::uint32_t max_wr);
  /// Arms the event; 0 disarms it. EINVAL: more than the queue holds.
  [[nodiscard]] int set_limit(std::uint32_t limit);
  [[nodiscard]] const ibv_srq_attr& attr() const { return attr_; }
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  /// The size of a receive's scatter list after its ReceiveWork.
  [[nodiscard]] std::size_t list_bytes() const {
    return std::size_t{attr_.max_sge} * sizeof(ibv_sge);
  }

  /// Makes it one of an extended connection domain: its completions go to a queue of its own, and
  /// peers name it by its number.
  void join(SoftXrcd& xrcd, SoftCq& completions, std::uint32_t number);
  /// Null: it belongs to no such domain.
  [[nodiscard]] SoftXrcd* xrcd() const { return xrcd_; }
  [[nodiscard]] SoftCq* completions() const { return completions_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }

  Registration registration;
  unsigned users = 0;      ///< QPs that refer to it
  std::uint64_t made = 0;  ///< on its host: this is the n-th
  std::uint32_t async_taken = 0;
  std::uint32_t async_acknowledged = 0;
  Runtime::Mark taker;             ///< who took the last of these events
  Semaphore* destroyer = nullptr;  ///< posted on acknowledgement while destruction waits

 private:
  ibv_srq_attr attr_;
  WorkQueue<ReceiveWork> queue_;
  SoftXrcd* xrcd_ = nullptr;
  SoftCq* completions_ = nullptr;
  std::uint32_t number_ = 0;  // 0: none
};

}  // namespace anyrdma::verbs::soft
