// The interface of providers, each of which implements the ibv_context of a kind of device. Calls
// that <infiniband/verbs.h> dispatches through context->ops (post, poll, request notification ...)
// are not part of this interface. They reach the provider through those pointers, from C++ and C at
// the same cost.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "verbs/result.h"

namespace anyrdma::verbs {

/// A kind of device: the software HCA, or the pass-through to the system's libibverbs. Objects are
/// the C structs; a provider embeds them in its own. Arguments are valid non-null pointers to
/// existing objects of this provider: the C API and the RAII classes check for null. Errors are the
/// errno values that the manual page of the C function names. Threads, as with rdma-core: every
/// function may be called from any thread for distinct objects.
class Provider {
 public:
  virtual ~Provider() = default;

  /// Returns the devices that exist now, as ibv_get_device_list does. The pointers stay valid as
  /// long as the provider exists.
  virtual std::span<ibv_device* const> devices() = 0;
  [[nodiscard]] virtual Result<ibv_context*> open_device(ibv_device* device) = 0;
  /// Closes the device, and destroys the objects that were made with the context.
  [[nodiscard]] virtual Result<void> close_device(ibv_context* context) = 0;
  /// Returns the device's GUID in network byte order, as ibv_get_device_guid does.
  virtual __be64 device_guid(ibv_device* device) = 0;

  [[nodiscard]] virtual Result<void> query_device(ibv_context*, ibv_device_attr* attr) = 0;
  [[nodiscard]] virtual Result<void> query_port(ibv_context*, std::uint8_t port,
                                                ibv_port_attr* attr) = 0;
  /// Returns an entry of the port's GID table. EINVAL: no such port; ENODATA: the entry at `index`
  /// is empty.
  [[nodiscard]] virtual Result<ibv_gid_entry> query_gid(ibv_context*, std::uint8_t port,
                                                        std::uint32_t index) = 0;
  [[nodiscard]] virtual Result<__be16> query_pkey(ibv_context*, std::uint8_t port, int index) = 0;

  [[nodiscard]] virtual Result<ibv_pd*> alloc_pd(ibv_context*) = 0;
  /// Frees a protection domain. EBUSY: memory regions, QPs or AHs use it.
  [[nodiscard]] virtual Result<void> dealloc_pd(ibv_pd*) = 0;
  [[nodiscard]] virtual Result<ibv_mr*> reg_mr(ibv_pd*, void* address, std::size_t length,
                                               std::uint64_t iova, unsigned access) = 0;
  [[nodiscard]] virtual Result<void> dereg_mr(ibv_mr*) = 0;
  /// Changes the properties of a memory region that `flags` selects, as ibv_rereg_mr(3) does. After
  /// an error the region is unchanged.
  [[nodiscard]] virtual Result<void> rereg_mr(ibv_mr*, int /*flags*/, ibv_pd*, void* /*address*/,
                                              std::size_t /*length*/, int /*access*/) {
    return errno_code(EOPNOTSUPP);
  }

  [[nodiscard]] virtual Result<ibv_comp_channel*> create_comp_channel(ibv_context*) = 0;
  [[nodiscard]] virtual Result<void> destroy_comp_channel(ibv_comp_channel*) = 0;
  [[nodiscard]] virtual Result<ibv_cq*> create_cq(ibv_context*, int cqe, void* cq_context,
                                                  ibv_comp_channel*, int comp_vector) = 0;
  /// Destroys a completion queue, after waiting until its completion events are acknowledged.
  /// EBUSY: a QP uses the queue.
  [[nodiscard]] virtual Result<void> destroy_cq(ibv_cq*) = 0;
  /// Waits for the next completion event of the channel, and returns its completion queue. Errors:
  /// see Semaphore::wait.
  [[nodiscard]] virtual Result<ibv_cq*> get_cq_event(ibv_comp_channel*) = 0;
  virtual void ack_cq_events(ibv_cq*, unsigned count) = 0;
  /// Changes the number of entries of a completion queue. EINVAL: the number is 0, above the
  /// device's limit, or less than the number of unpolled completions.
  [[nodiscard]] virtual Result<void> resize_cq(ibv_cq*, int /*cqe*/) {
    return errno_code(EOPNOTSUPP);
  }

  /// Creates a queue pair, and writes the granted capabilities to attr->cap.
  [[nodiscard]] virtual Result<ibv_qp*> create_qp(ibv_pd*, ibv_qp_init_attr* attr) = 0;
  [[nodiscard]] virtual Result<void> modify_qp(ibv_qp*, ibv_qp_attr* attr, int mask) = 0;
  [[nodiscard]] virtual Result<void> query_qp(ibv_qp*, ibv_qp_attr* attr, int mask,
                                              ibv_qp_init_attr* init) = 0;
  [[nodiscard]] virtual Result<void> destroy_qp(ibv_qp*) = 0;
  /// Returns the queue pair with its ibv_wr_* functions; null if it was created without them.
  [[nodiscard]] virtual ibv_qp_ex* qp_to_qp_ex(ibv_qp*) { return nullptr; }

  /// Creates an address handle. EINVAL: wrong port or GID index, or no GRH on an Ethernet port.
  [[nodiscard]] virtual Result<ibv_ah*> create_ah(ibv_pd*, const ibv_ah_attr& attr) = 0;
  [[nodiscard]] virtual Result<void> destroy_ah(ibv_ah*) = 0;
  /// Attaches a UD QP to a multicast group, so that the QP receives the group's datagrams.
  /// Attaching twice succeeds. EINVAL: not a UD QP, or not a multicast GID; ENOMEM: too many
  /// groups, or too many QPs in the group.
  [[nodiscard]] virtual Result<void> attach_mcast(ibv_qp*, const ibv_gid& gid,
                                                  std::uint16_t lid) = 0;
  /// Detaches a QP from a multicast group. EINVAL: the QP is not attached.
  [[nodiscard]] virtual Result<void> detach_mcast(ibv_qp*, const ibv_gid& gid,
                                                  std::uint16_t lid) = 0;

  /// Creates a shared receive queue, and writes the granted capabilities to attr->attr. Receives
  /// are posted through context->ops.
  [[nodiscard]] virtual Result<ibv_srq*> create_srq(ibv_pd*, ibv_srq_init_attr* attr) = 0;
  [[nodiscard]] virtual Result<void> modify_srq(ibv_srq*, const ibv_srq_attr& attr, int mask) = 0;
  [[nodiscard]] virtual Result<void> query_srq(ibv_srq*, ibv_srq_attr* attr) = 0;
  /// Destroys a shared receive queue. EBUSY: a QP uses it.
  [[nodiscard]] virtual Result<void> destroy_srq(ibv_srq*) = 0;

  /// Sets the options of a queue pair for enhanced connection establishment (ECE). EOPNOTSUPP: the
  /// device does not support ECE.
  [[nodiscard]] virtual Result<void> set_ece(ibv_qp*, const ibv_ece& ece) = 0;
  [[nodiscard]] virtual Result<ibv_ece> query_ece(ibv_qp*) = 0;

  [[nodiscard]] virtual Result<ibv_async_event> get_async_event(ibv_context*) = 0;
  virtual void ack_async_event(const ibv_async_event&) = 0;
};

/// Returns the provider of a context. For contexts of the system's libibverbs, that is the provider
/// that speak_for_system_contexts() has set. The function asserts that there is one. Constant time,
/// no lock.
[[nodiscard]] Provider& provider_of(const ibv_context* context);

/// Sets the provider of all contexts of the system's libibverbs; null removes it. The provider must
/// outlive these contexts. Call this function before another thread uses such a context.
void speak_for_system_contexts(Provider* provider);

/// Connects an ibv_context with its provider. Providers embed this struct in their own contexts.
/// `vctx` must be the LAST member: verbs_context ends with the ibv_context that the application
/// sees, and verbs_get_ctx_op expects this order.
struct ProvidedContext {
  /// Marks the context as one of anyrdma's, by a value in verbs_context.priv. In other contexts,
  /// the system's libibverbs keeps a pointer of its own there.
  ProvidedContext();

  Provider* provider = nullptr;
  verbs_context vctx{};

  /// Returns the ProvidedContext of which `context` is a part.
  [[nodiscard]] static ProvidedContext& from(const ibv_context* context);
};

}  // namespace anyrdma::verbs
