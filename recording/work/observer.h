// Translates a device's work into records: one translation for devices of simulated hosts, of
// processes on such hosts, and of processes in real time.
#pragma once

#include "recording/work/work.h"
#include "verbs/soft/hca_observer.h"

namespace anyrdma::recording {

/// Reports to a sink, and then to another observer. Threads: as the device calls it.
class WorkObserver final : public verbs::soft::HcaObserver {
 public:
  /// Both must outlive it. `next` may be null.
  explicit WorkObserver(WorkSink& sink, verbs::soft::HcaObserver* next = nullptr)
      : sink_(sink), next_(next) {}

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
  WorkSink& sink_;
  verbs::soft::HcaObserver* next_;
};

}  // namespace anyrdma::recording
