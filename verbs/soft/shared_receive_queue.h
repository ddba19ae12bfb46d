// Shared receive queues: several queue pairs take receives from one queue, in the order in which
// their messages arrive.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/runtime.h"
#include "verbs/soft/completion_queue.h"
#include "verbs/soft/work_queue.h"

namespace anyrdma::verbs::soft {

struct SoftPd;
struct SoftXrcd;

/// The object behind the application's ibv_srq. Used inside the critical section.
class SoftSrq : public ibv_srq, public LiveHook {
 public:
  static constexpr ObjectKind kKind = ObjectKind::kSharedReceiveQueue;

  /// Precondition: `attr` was checked against the device.
  SoftSrq(SoftPd& pd, void* user, const ibv_srq_attr& attr);
  ~SoftSrq();
  SoftSrq(const SoftSrq&) = delete;
  SoftSrq& operator=(const SoftSrq&) = delete;

  /// Posts a receive. Returns the errno of ibv_post_srq_recv, 0 for success.
  [[nodiscard]] int post(const ibv_recv_wr& request);
  /// Makes the receive that was posted last fail with this status when a message arrives (see
  /// soft::spoil).
  void spoil_last(ibv_wc_status status) { spoil(queue_[queue_.tail() - 1], status); }
  /// Moves the oldest receive to the end of a queue pair's queue. If fewer receives than the limit
  /// are left then, raises IBV_EVENT_SRQ_LIMIT_REACHED, once. Returns what polling the receive's
  /// completion frees. Precondition: the shared queue is not empty.
  [[nodiscard]] FreedPlaces move_front_to(WorkQueue<ReceiveWork>& queue);

  /// Changes the capacity. Returns EINVAL if the new capacity is smaller than the number of
  /// occupied places or than the limit.
  [[nodiscard]] int resize(std::uint32_t max_wr);
  /// Sets the limit for IBV_EVENT_SRQ_LIMIT_REACHED; 0 disables the event. Returns EINVAL if the
  /// limit is larger than the queue's capacity.
  [[nodiscard]] int set_limit(std::uint32_t limit);
  [[nodiscard]] const ibv_srq_attr& attr() const { return attr_; }
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  /// Returns the size in bytes of a receive's scatter list, which follows the ReceiveWork in its
  /// slot.
  [[nodiscard]] std::size_t list_bytes() const {
    return std::size_t{attr_.max_sge} * sizeof(ibv_sge);
  }

  /// Makes the queue part of an extended connection (XRC) domain. Completions then go to
  /// `completions`, and peers select the queue by `number`.
  void join(SoftXrcd& xrcd, SoftCq& completions, std::uint32_t number);
  /// Returns the extended connection (XRC) domain; null: none.
  [[nodiscard]] SoftXrcd* xrcd() const { return xrcd_; }
  [[nodiscard]] SoftCq* completions() const { return completions_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }

  Registration registration;
  unsigned users = 0;      ///< QPs that refer to it
  std::uint64_t made = 0;  ///< the queue's number among those created on its host
  std::uint32_t async_taken = 0;
  std::uint32_t async_acknowledged = 0;
  Runtime::Mark taker;             ///< the thread that fetched the last of these events
  Semaphore* destroyer = nullptr;  ///< posted on acknowledgement while destruction waits

 private:
  ibv_srq_attr attr_;
  WorkQueue<ReceiveWork> queue_;
  SoftXrcd* xrcd_ = nullptr;
  SoftCq* completions_ = nullptr;
  std::uint32_t number_ = 0;  // 0: none
};

}  // namespace anyrdma::verbs::soft
