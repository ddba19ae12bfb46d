// Follows the work of one device for the checkers that are about queue pairs.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sim/check/afterlife.h"
#include "sim/check/leaks.h"
#include "sim/check/payload.h"
#include "sim/check/violations.h"
#include "sim/check/work.h"
#include "verbs/soft/hca.h"

namespace anyrdma::sim::check {

class DeviceWatch final : public verbs::soft::HcaObserver {
 public:
  DeviceWatch(Violations& violations, Payload& payload, Afterlife& afterlife, std::string name,
              verbs::soft::Hca& hca)
      : name_(std::move(name)),
        hca_(hca),
        payload_(payload),
        afterlife_(afterlife),
        work_(violations, name_),
        leaks_(violations) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] verbs::soft::Hca& hca() const { return hca_; }
  /// Null: no QP has this number now.
  [[nodiscard]] const ibv_qp* find(std::uint32_t number) const;
  void on_rest();
  void on_end();
  /// Whoever used it is gone without a word: nothing is asked of it any more.
  void abandon() { over_ = true; }
  [[nodiscard]] bool abandoned() const { return over_; }

 private:
  struct Receive {
    std::uint64_t wr_id;
    std::vector<ibv_sge> list;
  };
  struct Pair {
    const ibv_qp* qp = nullptr;
    std::deque<Receive> receives;
    std::string out;  ///< the stream that it sends; empty: not known yet
    std::string in;
  };

  void on_opened(const ibv_qp& qp) override;
  void on_posted(const ibv_qp& qp, const ibv_send_wr& request, bool signaled) override;
  void on_posted(const ibv_qp& qp, const ibv_recv_wr& request) override;
  void on_posted(const ibv_srq& srq, const ibv_recv_wr& request) override;
  void on_polled(const ibv_cq& cq, const ibv_wc& completion) override;
  void on_discarding(const ibv_qp& qp, bool destroyed) override;
  void audit();
  [[nodiscard]] std::vector<ibv_sge> take_receive(Pair& pair, std::uint64_t wr_id);
  void name_streams(Pair& pair) const;

  std::string name_;
  verbs::soft::Hca& hca_;
  Payload& payload_;
  Afterlife& afterlife_;
  Work work_;
  Leaks leaks_;
  std::map<std::uint32_t, Pair> pairs_;
  std::map<const ibv_srq*, std::deque<Receive>> shared_;
  bool over_ = false;
};

}  // namespace anyrdma::sim::check
