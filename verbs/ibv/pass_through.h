// The provider that passes every call on to the system's libibverbs. Contexts and all objects made
// with them are the system library's own. Posting and polling therefore go from the application
// through context->ops directly to the device's driver, without code of anyrdma in between.
#pragma once

#include <list>
#include <mutex>
#include <vector>

#include "verbs/ibv/functions.h"
#include "verbs/provider.h"

namespace anyrdma::verbs::ibv {

/// The provider for devices of the system's libibverbs. Errors are those of the system's functions.
/// get_cq_event and get_async_event wait in the system's call, which honours O_NONBLOCK. Threads:
/// any, as with libibverbs.
class PassThrough final : public Provider {
 public:
  explicit PassThrough(const VerbsFunctions& system) : system_(system) {}
  ~PassThrough() override;

  /// Returns the system's RDMA devices. Returns an empty list if there are none, or if the system's
  /// call fails.
  std::span<ibv_device* const> devices() override;
  [[nodiscard]] Result<ibv_context*> open_device(ibv_device* device) override;
  [[nodiscard]] Result<void> close_device(ibv_context* context) override;
  __be64 device_guid(ibv_device* device) override;
  [[nodiscard]] Result<void> query_device(ibv_context*, ibv_device_attr* attr) override;
  [[nodiscard]] Result<void> query_port(ibv_context*, std::uint8_t port,
                                        ibv_port_attr* attr) override;
  [[nodiscard]] Result<ibv_gid_entry> query_gid(ibv_context*, std::uint8_t port,
                                                std::uint32_t index) override;
  [[nodiscard]] Result<__be16> query_pkey(ibv_context*, std::uint8_t port, int index) override;
  [[nodiscard]] Result<ibv_pd*> alloc_pd(ibv_context*) override;
  [[nodiscard]] Result<void> dealloc_pd(ibv_pd*) override;
  [[nodiscard]] Result<ibv_mr*> reg_mr(ibv_pd*, void* address, std::size_t length,
                                       std::uint64_t iova, unsigned access) override;
  [[nodiscard]] Result<void> dereg_mr(ibv_mr*) override;
  [[nodiscard]] Result<void> rereg_mr(ibv_mr*, int flags, ibv_pd*, void* address,
                                      std::size_t length, int access) override;
  [[nodiscard]] Result<ibv_comp_channel*> create_comp_channel(ibv_context*) override;
  [[nodiscard]] Result<void> destroy_comp_channel(ibv_comp_channel*) override;
  [[nodiscard]] Result<ibv_cq*> create_cq(ibv_context*, int cqe, void* cq_context,
                                          ibv_comp_channel*, int comp_vector) override;
  [[nodiscard]] Result<void> destroy_cq(ibv_cq*) override;
  [[nodiscard]] Result<ibv_cq*> get_cq_event(ibv_comp_channel*) override;
  void ack_cq_events(ibv_cq*, unsigned count) override;
  [[nodiscard]] Result<void> resize_cq(ibv_cq*, int cqe) override;
  [[nodiscard]] Result<ibv_qp*> create_qp(ibv_pd*, ibv_qp_init_attr* attr) override;
  [[nodiscard]] Result<void> modify_qp(ibv_qp*, ibv_qp_attr* attr, int mask) override;
  [[nodiscard]] Result<void> query_qp(ibv_qp*, ibv_qp_attr* attr, int mask,
                                      ibv_qp_init_attr* init) override;
  [[nodiscard]] Result<void> destroy_qp(ibv_qp*) override;
  [[nodiscard]] ibv_qp_ex* qp_to_qp_ex(ibv_qp*) override;
  [[nodiscard]] Result<ibv_ah*> create_ah(ibv_pd*, const ibv_ah_attr& attr) override;
  [[nodiscard]] Result<void> destroy_ah(ibv_ah*) override;
  [[nodiscard]] Result<void> attach_mcast(ibv_qp*, const ibv_gid& gid, std::uint16_t lid) override;
  [[nodiscard]] Result<void> detach_mcast(ibv_qp*, const ibv_gid& gid, std::uint16_t lid) override;
  [[nodiscard]] Result<ibv_srq*> create_srq(ibv_pd*, ibv_srq_init_attr* attr) override;
  [[nodiscard]] Result<void> modify_srq(ibv_srq*, const ibv_srq_attr& attr, int mask) override;
  [[nodiscard]] Result<void> query_srq(ibv_srq*, ibv_srq_attr* attr) override;
  [[nodiscard]] Result<void> destroy_srq(ibv_srq*) override;
  [[nodiscard]] Result<void> set_ece(ibv_qp*, const ibv_ece& ece) override;
  [[nodiscard]] Result<ibv_ece> query_ece(ibv_qp*) override;
  [[nodiscard]] Result<ibv_async_event> get_async_event(ibv_context*) override;
  void ack_async_event(const ibv_async_event&) override;

 private:
  struct Generation {
    ibv_device** list;  ///< the library's list, which keeps the devices alive
    std::vector<ibv_device*> devices;
  };
  /// Returns errno of the system library's last failed call in this thread; never 0. The system
  /// library may have an errno of its own.
  [[nodiscard]] int last_error() const;
  [[nodiscard]] Result<void> done(int returned) const;
  template <class Object>
  [[nodiscard]] Result<Object*> made(Object* object) const;

  const VerbsFunctions system_;
  std::mutex mutex_;
  /// The device lists that devices() has returned, one for each change. Older lists remain, because
  /// the application may hold pointers to their devices.
  std::list<Generation> generations_;
};

}  // namespace anyrdma::verbs::ibv
