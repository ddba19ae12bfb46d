// The functions of the system's libibverbs that the pass-through provider
// (verbs/ibv/pass_through.h) calls.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <variant>

#include "verbs/ibv/system_libraries.h"

namespace anyrdma::verbs::ibv {

/// Pointers to functions of the system's libibverbs; none is null. Each member has the name of its
/// function without "ibv_".
struct VerbsFunctions {
  int* (*errno_location)();

  ibv_device** (*get_device_list)(int*);
  void (*free_device_list)(ibv_device**);
  __be64 (*get_device_guid)(ibv_device*);
  ibv_context* (*open_device)(ibv_device*);
  int (*close_device)(ibv_context*);
  int (*query_device)(ibv_context*, ibv_device_attr*);
  int (*query_gid_ex)(ibv_context*, std::uint32_t port, std::uint32_t index, ibv_gid_entry*,
                      std::uint32_t flags, std::size_t entry_size);
  int (*query_pkey)(ibv_context*, std::uint8_t port, int index, __be16*);

  ibv_pd* (*alloc_pd)(ibv_context*);
  int (*dealloc_pd)(ibv_pd*);
  ibv_mr* (*reg_mr_iova2)(ibv_pd*, void*, std::size_t, std::uint64_t iova, unsigned access);
  int (*dereg_mr)(ibv_mr*);
  int (*rereg_mr)(ibv_mr*, int flags, ibv_pd*, void*, std::size_t, int access);

  ibv_comp_channel* (*create_comp_channel)(ibv_context*);
  int (*destroy_comp_channel)(ibv_comp_channel*);
  ibv_cq* (*create_cq)(ibv_context*, int cqe, void*, ibv_comp_channel*, int comp_vector);
  int (*destroy_cq)(ibv_cq*);
  int (*get_cq_event)(ibv_comp_channel*, ibv_cq**, void**);
  void (*ack_cq_events)(ibv_cq*, unsigned);
  int (*resize_cq)(ibv_cq*, int cqe);

  ibv_qp* (*create_qp)(ibv_pd*, ibv_qp_init_attr*);
  int (*modify_qp)(ibv_qp*, ibv_qp_attr*, int);
  int (*query_qp)(ibv_qp*, ibv_qp_attr*, int, ibv_qp_init_attr*);
  int (*destroy_qp)(ibv_qp*);
  ibv_qp_ex* (*qp_to_qp_ex)(ibv_qp*);

  ibv_ah* (*create_ah)(ibv_pd*, ibv_ah_attr*);
  int (*destroy_ah)(ibv_ah*);
  int (*attach_mcast)(ibv_qp*, const ibv_gid*, std::uint16_t);
  int (*detach_mcast)(ibv_qp*, const ibv_gid*, std::uint16_t);

  ibv_srq* (*create_srq)(ibv_pd*, ibv_srq_init_attr*);
  int (*modify_srq)(ibv_srq*, ibv_srq_attr*, int);
  int (*query_srq)(ibv_srq*, ibv_srq_attr*);
  int (*destroy_srq)(ibv_srq*);

  int (*set_ece)(ibv_qp*, ibv_ece*);
  int (*query_ece)(ibv_qp*, ibv_ece*);

  int (*get_async_event)(ibv_context*, ibv_async_event*);
  void (*ack_async_event)(ibv_async_event*);
};

/// Loads the functions from the system's libibverbs, each in the symbol version of the headers of
/// this build.
[[nodiscard]] std::variant<VerbsFunctions, LoadFault> read_verbs_functions(
    const SystemLibraries& libraries);

}  // namespace anyrdma::verbs::ibv
