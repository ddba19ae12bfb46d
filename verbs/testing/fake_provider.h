// A provider for tests of what stands on verbs: objects exist, QPs have a state, nothing moves.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "verbs/provider.h"
#include "verbs/runtime.h"

namespace anyrdma::verbs::testing {

/// One device with one context. Enters the runtime's critical section in every call, as providers
/// may, so that a caller who is inside already is found out. Counts its objects: all gone is a
/// property tests can ask for.
class FakeProvider : public Provider {
 public:
  explicit FakeProvider(Runtime& runtime);
  ~FakeProvider() override;

  [[nodiscard]] ibv_device* device() { return &device_; }
  [[nodiscard]] ibv_context* context() { return &provided_.vctx.context; }

  // --- for tests --------------------------------------------------------------------------------
  struct Live {
    std::size_t pds = 0;
    std::size_t channels = 0;
    std::size_t cqs = 0;
    std::size_t qps = 0;
    std::size_t ahs = 0;
    std::size_t srqs = 0;
    bool operator==(const Live&) const = default;
  };
  Live live;
  ibv_device_attr attributes{};  ///< what query_device answers
  /// The states modify_qp was asked for, in order, with depths as given.
  struct Move {
    ibv_qp_state state;
    std::uint8_t max_dest_rd_atomic;
    std::uint8_t max_rd_atomic;
  };
  std::vector<Move> moves;
  [[nodiscard]] std::vector<ibv_qp_state> states_moved_to() const;
  /// The multicast groups that QPs are attached to now, in order of attaching. A QP with one cannot
  /// be destroyed (EBUSY), as in the kernel.
  struct Attachment {
    ibv_qp* qp;
    ibv_gid gid;
    std::uint16_t lid;
  };
  std::vector<Attachment> attached;
  /// The paths of the address handles created so far, in order.
  std::vector<ibv_ah_attr> ah_paths;
  /// What query_ece answers for every QP; nullopt: this device knows no ECE (EOPNOTSUPP).
  std::optional<ibv_ece> ece;
  /// What set_ece was called with, in order.
  std::vector<ibv_ece> eces_set;
  /// modify_qp to this state fails with EINVAL.
  std::optional<ibv_qp_state> refused_state;
  /// The call fails with this errno while set.
  int alloc_pd_error = 0;
  int create_cq_error = 0;
  int create_qp_error = 0;
  int create_ah_error = 0;
  int create_srq_error = 0;
  int attach_mcast_error = 0;
  int set_ece_error = 0;

  // --- Provider ---------------------------------------------------------------------------------
  std::span<ibv_device* const> devices() override { return device_list_; }
  Result<ibv_context*> open_device(ibv_device*) override { return context(); }
  Result<void> close_device(ibv_context*) override { return {}; }
  __be64 device_guid(ibv_device*) override { return 0; }
  Result<void> query_device(ibv_context*, ibv_device_attr* attr) override;
  Result<void> query_port(ibv_context*, std::uint8_t, ibv_port_attr*) override;
  Result<ibv_gid_entry> query_gid(ibv_context*, std::uint8_t, std::uint32_t) override;
  Result<__be16> query_pkey(ibv_context*, std::uint8_t, int) override;
  Result<ibv_pd*> alloc_pd(ibv_context*) override;
  Result<void> dealloc_pd(ibv_pd*) override;
  Result<ibv_mr*> reg_mr(ibv_pd*, void*, std::size_t, std::uint64_t, unsigned) override;
  Result<void> dereg_mr(ibv_mr*) override;
  Result<ibv_comp_channel*> create_comp_channel(ibv_context*) override;
  Result<void> destroy_comp_channel(ibv_comp_channel*) override;
  Result<ibv_cq*> create_cq(ibv_context*, int cqe, void* cq_context, ibv_comp_channel*,
                            int) override;
  Result<void> destroy_cq(ibv_cq*) override;
  Result<ibv_cq*> get_cq_event(ibv_comp_channel*) override;
  void ack_cq_events(ibv_cq*, unsigned) override {}
  Result<ibv_qp*> create_qp(ibv_pd*, ibv_qp_init_attr* attr) override;
  Result<void> modify_qp(ibv_qp*, ibv_qp_attr* attr, int mask) override;
  Result<void> query_qp(ibv_qp*, ibv_qp_attr* attr, int, ibv_qp_init_attr*) override;
  Result<void> destroy_qp(ibv_qp*) override;
  Result<ibv_ah*> create_ah(ibv_pd* pd, const ibv_ah_attr& attr) override;
  Result<void> destroy_ah(ibv_ah* ah) override;
  Result<void> attach_mcast(ibv_qp* qp, const ibv_gid& gid, std::uint16_t lid) override;
  Result<void> detach_mcast(ibv_qp* qp, const ibv_gid& gid, std::uint16_t lid) override;
  Result<ibv_srq*> create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) override;
  Result<void> modify_srq(ibv_srq* srq, const ibv_srq_attr& attr, int mask) override;
  Result<void> query_srq(ibv_srq* srq, ibv_srq_attr* attr) override;
  Result<void> destroy_srq(ibv_srq* srq) override;
  Result<void> set_ece(ibv_qp* qp, const ibv_ece& ece) override;
  Result<ibv_ece> query_ece(ibv_qp* qp) override;
  Result<ibv_async_event> get_async_event(ibv_context*) override;
  void ack_async_event(const ibv_async_event&) override {}

 private:
  Runtime& runtime_;
  ibv_device device_{};
  std::array<ibv_device*, 1> device_list_{&device_};
  ProvidedContext provided_{};
  struct Srq;
  [[nodiscard]] std::vector<Attachment>::iterator find_attachment(const ibv_qp* qp,
                                                                  const ibv_gid& gid);
  std::uint32_t next_qpn_ = 0x11;
};

}  // namespace anyrdma::verbs::testing
