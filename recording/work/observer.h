// Converts the work of a device to entries of a recording, for simulated hosts, for processes on
// them, and for processes in real time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "recording/entry.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/hca_observer.h"

namespace anyrdma::recording {

/// Writes to a sink, which must outlive the observer. Threads: any, also at the same time.
class WorkObserver final : public verbs::soft::HcaObserver {
 public:
  /// The messages whose bytes are digested: none, or those up to a length.
  enum class Digests : std::uint8_t { kNone, kShort };
  explicit WorkObserver(EntrySink& sink, Digests digests = Digests::kNone)
      : sink_(sink), digests_(digests) {}

  /// Counts what all of the device's queues hold now. In the device's critical section, or while no
  /// program runs.
  void count();
  /// Like the function above, and also counts objects that were never destroyed.
  void count_left();

  void on_device(const verbs::soft::Hca& hca) override { hca_ = &hca; }
  void on_opened(const ibv_qp& qp) override;
  void on_state(const ibv_qp& qp, ibv_qp_state state) override;
  void on_posted(const ibv_qp& qp, const ibv_send_wr& request, bool signaled) override;
  void on_posted(const ibv_qp& qp, const ibv_recv_wr& request) override;
  void on_posted(const ibv_srq& srq, const ibv_recv_wr& request) override;
  void on_polled(const ibv_cq& cq, const ibv_wc& completion) override;
  void on_discarding(const ibv_qp& qp, bool destroyed) override;
  void on_closing(const ibv_srq& srq) override;
  void on_limit_set(const ibv_srq& srq, std::uint32_t limit) override;
  void on_raised(const ibv_async_event& event) override;
  void on_atomic_done(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) override;
  void on_atomic_answer(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) override;
  void on_key_opened(std::uint32_t key) override;
  void on_key_closed(std::uint32_t key) override;

 private:
  /// A receive that was posted and has not been seen to complete.
  struct Receive {
    std::uint64_t wr_id;
    std::vector<ibv_sge> list;
  };
  struct Pair {
    const ibv_qp* qp = nullptr;
    std::deque<Receive> receives;
  };
  struct Queue {
    std::uint64_t number = 0;
    std::deque<Receive> receives;
  };

  [[nodiscard]] std::uint64_t number_of(const ibv_srq& srq);
  [[nodiscard]] const ibv_srq* queue_of(const ibv_qp& qp, const ibv_cq& cq,
                                        std::uint64_t wr_id) const;
  [[nodiscard]] std::optional<std::uint64_t> digest_of_send(const ibv_qp& qp,
                                                            const ibv_send_wr& request,
                                                            std::uint64_t bytes) const;
  void tell_path(const ibv_qp& qp);
  void tell_held(const ibv_qp& qp, Held when);
  void tell_queue(const ibv_srq& srq, QueueStep step, std::uint64_t limit);

  EntrySink& sink_;
  const Digests digests_;
  const verbs::soft::Hca* hca_ = nullptr;
  std::mutex mutex_;  ///< guards what follows
  std::map<std::uint32_t, Pair> pairs_;
  std::map<const ibv_srq*, Queue> queues_;
  std::uint64_t queues_made_ = 0;
};

}  // namespace anyrdma::recording
