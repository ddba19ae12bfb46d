// Converts the work of a device to entries of a recording. Simulated hosts, processes on simulated
// hosts and processes in real time all use this class.
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

/// Writes entries to a sink, which must outlive the observer. Threads: any, also at the same time.
class WorkObserver final : public verbs::soft::HcaObserver {
 public:
  /// Which messages get a digest of their bytes in the entries: none, or messages up to a fixed
  /// length.
  enum class Digests : std::uint8_t { kNone, kShort };
  explicit WorkObserver(EntrySink& sink, Digests digests = Digests::kNone)
      : sink_(sink), digests_(digests) {}

  /// Writes entries with the counts of what all queues of the device hold now. Call it inside the
  /// device's critical section (verbs::Runtime::enter), or while no program runs.
  void count();
  /// Writes the same entries as count(), and entries with the numbers of objects that were never
  /// destroyed.
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
  /// A receive that was posted and whose completion was not polled yet.
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
  std::mutex mutex_;  ///< guards the members that follow
  std::map<std::uint32_t, Pair> pairs_;
  std::map<const ibv_srq*, Queue> queues_;
  std::uint64_t queues_made_ = 0;
};

}  // namespace anyrdma::recording
