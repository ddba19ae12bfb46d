// The functions of the system's librdmacm that the transport calls.
#pragma once

#include <rdma/rdma_cma.h>

#include <variant>

#include "verbs/ibv/system_libraries.h"
#include "verbs/result.h"

namespace anyrdma::transport::ucma {

/// Pointers to functions of librdmacm, none null. Each member is named like its function without
/// "rdma_".
struct CmFunctions {
  int* (*errno_location)();

  rdma_event_channel* (*create_event_channel)();
  void (*destroy_event_channel)(rdma_event_channel*);
  int (*get_cm_event)(rdma_event_channel*, rdma_cm_event**);
  int (*ack_cm_event)(rdma_cm_event*);

  int (*create_id)(rdma_event_channel*, rdma_cm_id**, void* context, rdma_port_space);
  int (*destroy_id)(rdma_cm_id*);
  int (*bind_addr)(rdma_cm_id*, sockaddr*);
  int (*resolve_addr)(rdma_cm_id*, sockaddr* source, sockaddr* destination, int timeout_ms);
  int (*resolve_route)(rdma_cm_id*, int timeout_ms);
  int (*listen)(rdma_cm_id*, int backlog);
  int (*connect)(rdma_cm_id*, rdma_conn_param*);
  int (*accept)(rdma_cm_id*, rdma_conn_param*);
  int (*establish)(rdma_cm_id*);
  int (*reject)(rdma_cm_id*, const void* data, std::uint8_t length);
  int (*reject_ece)(rdma_cm_id*, const void* data, std::uint8_t length);
  int (*disconnect)(rdma_cm_id*);
  int (*notify)(rdma_cm_id*, ibv_event_type);
  int (*init_qp_attr)(rdma_cm_id*, ibv_qp_attr*, int* mask);
  int (*set_option)(rdma_cm_id*, int level, int option, void* value, std::size_t length);
  int (*join_multicast_ex)(rdma_cm_id*, rdma_cm_join_mc_attr_ex*, void* context);
  int (*leave_multicast)(rdma_cm_id*, sockaddr*);
  int (*set_local_ece)(rdma_cm_id*, ibv_ece*);
  int (*get_remote_ece)(rdma_cm_id*, ibv_ece*);

  ibv_context** (*get_devices)(int* count);
  void (*free_devices)(ibv_context**);

  /// Converts the result of a call: 0 is success, -1 the error in errno.
  [[nodiscard]] verbs::Result<void> done(int returned) const;
  /// Returns errno after a failed call, as the C library of librdmacm sees it. Never 0.
  [[nodiscard]] int last_error() const;
};

/// Loads the functions from the system's librdmacm, each in the symbol version that the headers of
/// this build have.
[[nodiscard]] std::variant<CmFunctions, verbs::ibv::LoadFault> read_cm_functions(
    const verbs::ibv::SystemLibraries& libraries);

}  // namespace anyrdma::transport::ucma
