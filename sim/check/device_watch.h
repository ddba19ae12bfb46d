// Follows the work of one device for the checkers that are about queue pairs.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sim/check/afterlife.h"
#include "sim/check/announcements.h"
#include "sim/check/atomics.h"
#include "sim/check/keys.h"
#include "sim/check/leaks.h"
#include "sim/check/payload.h"
#include "sim/check/violations.h"
#include "sim/check/work.h"
#include "verbs/soft/hca.h"

namespace anyrdma::sim::check {

class DeviceWatch final : public verbs::soft::HcaObserver {
 public:
  /// The checkers of what goes on between devices.
  struct Shared {
    Payload& payload;
    Atomics& atomics;
    Keys& keys;
    Afterlife& afterlife;
  };
  DeviceWatch(Violations& violations, const Shared& shared, std::string name, verbs::soft::Hca& hca)
      : name_(std::move(name)),
        hca_(hca),
        between_(shared),
        work_(violations, name_),
        announcements_(violations, name_),
        leaks_(violations) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] verbs::soft::Hca& hca() const { return hca_; }
  /// Null: no QP has this number now.
  [[nodiscard]] const ibv_qp* find(std::uint32_t number) const;
  void on_rest();
  void on_end();
  /// Its user ended without cleanup: no claims are checked any more.
  void abandon() { over_ = true; }
  [[nodiscard]] bool abandoned() const { return over_; }

 private:
  struct Receive {
    std::uint64_t wr_id;
    std::vector<ibv_sge> list;
  };
  /// A request that names a key.
  struct Access {
    std::uint64_t wr_id = 0;
    bool signaled = false;
    std::uint32_t remote_key = 0;  ///< 0: none
    Keys::Closing closing = 0;     ///< of it, when it was posted
    std::uint32_t ended_key = 0;   ///< of our own, which it invalidates; 0: none
    std::uint32_t bound_key = 0;   ///< of our own, which it binds a window to; 0: none
  };
  struct Pair {
    const ibv_qp* qp = nullptr;
    ibv_gid peer{};
    std::deque<Access> accesses;  ///< of a reliable connection: all sends that are not completed
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
  void on_closing(const ibv_srq& srq) override;
  void on_limit_set(const ibv_srq& srq, std::uint32_t limit) override;
  void on_raised(const ibv_async_event& event) override;
  void on_atomic_done(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) override;
  void on_atomic_answer(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) override;
  void on_key_opened(std::uint32_t key) override { between_.keys.on_opened(name_, key); }
  void on_key_closed(std::uint32_t key) override { between_.keys.on_closed(name_, key); }
  void audit();
  void on_message(const Pair& pair, const ibv_send_wr& request);
  void on_received(Pair& pair, const ibv_cq& cq, const ibv_wc& completion);
  void note_access(Pair& pair, const ibv_send_wr& request, bool signaled);
  void on_sent(Pair& pair, const ibv_cq& cq, const ibv_wc& completion);
  void on_success(const Pair& pair, const Access& access);
  [[nodiscard]] bool is_bound(std::uint32_t key) const;
  [[nodiscard]] static std::vector<ibv_sge> take_receive(std::deque<Receive>& queue,
                                                         std::uint64_t wr_id);
  [[nodiscard]] const ibv_srq* queue_of(const Pair& pair, const ibv_cq& cq,
                                        std::uint64_t wr_id) const;
  void name_streams(Pair& pair) const;

  std::string name_;
  verbs::soft::Hca& hca_;
  Shared between_;
  Work work_;
  Announcements announcements_;
  Leaks leaks_;
  std::map<std::uint32_t, Pair> pairs_;
  std::map<const ibv_srq*, std::deque<Receive>> shared_;
  bool lost_track_ = false;  ///< of which receive belongs to which shared receive queue
  bool over_ = false;
};

}  // namespace anyrdma::sim::check
