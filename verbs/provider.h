// The provider interface of verbs: the implementation of an ibv_context. Calls that
// <infiniband/verbs.h> dispatches through context->ops (post, poll, request notification ...) are
// not part of it: they reach the provider through those pointers, from C++ and C at the same cost.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "verbs/result.h"

namespace anyrdma::verbs {

/// Implemented by the software HCA and by the pass-through to the system's libibverbs. Objects are
/// the C structs; a provider embeds them in its own. Arguments are valid non-null pointers to live
/// objects of this provider: the C API and the RAII classes check for null.
/// Errors are the errno values that the manual page of the C function names.
/// Threads: as rdma-core: every function may be called from any thread for distinct objects.
class Provider {
 public:
  virtual ~Provider() = default;

  /// The devices that exist now. Pointers stay valid for the provider's life (ibv_get_device_list).
  virtual std::span<ibv_device* const> devices() = 0;
  [[nodiscard]] virtual Result<ibv_context*> open_device(ibv_device* device) = 0;
  /// Objects that were made of it and still exist end with it.
  [[nodiscard]] virtual Result<void> close_device(ibv_context* context) = 0;
  /// Network byte order, as ibv_get_device_guid returns it.
  virtual __be64 device_guid(ibv_device* device) = 0;

  [[nodiscard]] virtual Result<void> query_device(ibv_context*, ibv_device_attr* attr) = 0;
  [[nodiscard]] virtual Result<void> query_port(ibv_context*, std::uint8_t port,
                                                ibv_port_attr* attr) = 0;
  /// EINVAL for a wrong port, ENODATA for an empty index.
  [[nodiscard]] virtual Result<ibv_gid_entry> query_gid(ibv_context*, std::uint8_t port,
                                                        std::uint32_t index) = 0;
  [[nodiscard]] virtual Result<__be16> query_pkey(ibv_context*, std::uint8_t port, int index) = 0;

  [[nodiscard]] virtual Result<ibv_pd*> alloc_pd(ibv_context*) = 0;
  /// EBUSY while memory regions, QPs or AHs use it.
  [[nodiscard]] virtual Result<void> dealloc_pd(ibv_pd*) = 0;
  [[nodiscard]] virtual Result<ibv_mr*> reg_mr(ibv_pd*, void* address, std::size_t length,
                                               std::uint64_t iova, unsigned access) = 0;
  [[nodiscard]] virtual Result<void> dereg_mr(ibv_mr*) = 0;
  /// Changes what ibv_rereg_mr(3)'s flags say, in place; upon an error the region is as it was.
  [[nodiscard]] virtual Result<void> rereg_mr(ibv_mr*, int /*flags*/, ibv_pd*, void* /*address*/,
                                              std::size_t /*length*/, int /*access*/) {
    return errno_code(EOPNOTSUPP);
  }

  [[nodiscard]] virtual Result<ibv_comp_channel*> create_comp_channel(ibv_context*) = 0;
  [[nodiscard]] virtual Result<void> destroy_comp_channel(ibv_comp_channel*) = 0;
  [[nodiscard]] virtual Result<ibv_cq*> create_cq(ibv_context*, int cqe, void* cq_context,
                                                  ibv_comp_channel*, int comp_vector) = 0;
  /// EBUSY while a QP uses it; waits until its completion events are acknowledged.
  [[nodiscard]] virtual Result<void> destroy_cq(ibv_cq*) = 0;
  /// Waits for the next completion event of the channel (see Semaphore::wait for its errors).
  [[nodiscard]] virtual Result<ibv_cq*> get_cq_event(ibv_comp_channel*) = 0;
  virtual void ack_cq_events(ibv_cq*, unsigned count) = 0;
  /// EINVAL: no size, more than the device has, or less than what waits to be polled.
  [[nodiscard]] virtual Result<void> resize_cq(ibv_cq*, int /*cqe*/) {
    return errno_code(EOPNOTSUPP);
  }

  /// Writes the granted capabilities back to attr->cap.
  [[nodiscard]] virtual Result<ibv_qp*> create_qp(ibv_pd*, ibv_qp_init_attr* attr) = 0;
  [[nodiscard]] virtual Result<void> modify_qp(ibv_qp*, ibv_qp_attr* attr, int mask) = 0;
  [[nodiscard]] virtual Result<void> query_qp(ibv_qp*, ibv_qp_attr* attr, int mask,
                                              ibv_qp_init_attr* init) = 0;
  [[nodiscard]] virtual Result<void> destroy_qp(ibv_qp*) = 0;
  /// The queue pair with its ibv_wr_* functions; null: it was made without.
  [[nodiscard]] virtual ibv_qp_ex* qp_to_qp_ex(ibv_qp*) { return nullptr; }

  /// EINVAL: port, GID index, or no GRH on an Ethernet port.
  [[nodiscard]] virtual Result<ibv_ah*> create_ah(ibv_pd*, const ibv_ah_attr& attr) = 0;
  [[nodiscard]] virtual Result<void> destroy_ah(ibv_ah*) = 0;
  /// Makes a UD QP receive what is sent to a multicast group; attaching twice is fine. EINVAL: not
  /// UD, not a multicast GID; ENOMEM.
  [[nodiscard]] virtual Result<void> attach_mcast(ibv_qp*, const ibv_gid& gid,
                                                  std::uint16_t lid) = 0;
  /// EINVAL: not attached.
  [[nodiscard]] virtual Result<void> detach_mcast(ibv_qp*, const ibv_gid& gid,
                                                  std::uint16_t lid) = 0;

  /// Writes the granted capabilities back to attr->attr. Posting goes through context->ops.
  [[nodiscard]] virtual Result<ibv_srq*> create_srq(ibv_pd*, ibv_srq_init_attr* attr) = 0;
  [[nodiscard]] virtual Result<void> modify_srq(ibv_srq*, const ibv_srq_attr& attr, int mask) = 0;
  [[nodiscard]] virtual Result<void> query_srq(ibv_srq*, ibv_srq_attr* attr) = 0;
  /// EBUSY while a QP uses it.
  [[nodiscard]] virtual Result<void> destroy_srq(ibv_srq*) = 0;

  /// Enhanced connection establishment. EOPNOTSUPP: the device has no options to agree upon.
  [[nodiscard]] virtual Result<void> set_ece(ibv_qp*, const ibv_ece& ece) = 0;
  [[nodiscard]] virtual Result<ibv_ece> query_ece(ibv_qp*) = 0;

  [[nodiscard]] virtual Result<ibv_async_event> get_async_event(ibv_context*) = 0;
  virtual void ack_async_event(const ibv_async_event&) = 0;
};

/// The provider behind a context: its own, or for a context of the system's libibverbs the one that
/// speaks for the system. Asserts that there is one. Constant time, no lock.
[[nodiscard]] Provider& provider_of(const ibv_context* context);

/// Makes `provider` the provider of all contexts that are not a ProvidedContext; null: none. It
/// must outlive them. Threads: call it before any other thread uses such a context.
void speak_for_system_contexts(Provider* provider);

/// How a provider's context carries its provider: embed this with `vctx` LAST in the allocation
/// order that verbs_get_ctx_op expects (verbs_context ends with the ibv_context the application
/// sees).
struct ProvidedContext {
  /// Marks the context as one of ours, in verbs_context.priv: a word that the system's libibverbs
  /// keeps a pointer of its own in.
  ProvidedContext();

  Provider* provider = nullptr;
  verbs_context vctx{};

  /// From the application's pointer back to us.
  [[nodiscard]] static ProvidedContext& from(const ibv_context* context);
};

}  // namespace anyrdma::verbs
