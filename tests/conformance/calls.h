// The functions of <rdma/rdma_cma.h> and <infiniband/verbs.h> that scenarios call, as a table: one
// process may hold two implementations, one for each party. What verbs.h defines inline finds its
// implementation by itself, through the object.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cerrno>

/// X(name, version): rdma_NAME, and since when librdmacm has it.
#define CONFORMANCE_CM_CALLS(X)          \
  X(create_event_channel, "RDMACM_1.0")  \
  X(destroy_event_channel, "RDMACM_1.0") \
  X(get_cm_event, "RDMACM_1.0")          \
  X(ack_cm_event, "RDMACM_1.0")          \
  X(create_id, "RDMACM_1.0")             \
  X(destroy_id, "RDMACM_1.0")            \
  X(migrate_id, "RDMACM_1.0")            \
  X(set_option, "RDMACM_1.0")            \
  X(bind_addr, "RDMACM_1.0")             \
  X(resolve_addr, "RDMACM_1.0")          \
  X(resolve_route, "RDMACM_1.0")         \
  X(listen, "RDMACM_1.0")                \
  X(get_request, "RDMACM_1.0")           \
  X(connect, "RDMACM_1.0")               \
  X(accept, "RDMACM_1.0")                \
  X(establish, "RDMACM_1.2")             \
  X(reject, "RDMACM_1.0")                \
  X(reject_ece, "RDMACM_1.3")            \
  X(disconnect, "RDMACM_1.0")            \
  X(notify, "RDMACM_1.0")                \
  X(create_qp, "RDMACM_1.0")             \
  X(destroy_qp, "RDMACM_1.0")            \
  X(init_qp_attr, "RDMACM_1.2")          \
  X(create_srq, "RDMACM_1.0")            \
  X(destroy_srq, "RDMACM_1.0")           \
  X(join_multicast, "RDMACM_1.0")        \
  X(join_multicast_ex, "RDMACM_1.1")     \
  X(leave_multicast, "RDMACM_1.0")       \
  X(set_local_ece, "RDMACM_1.3")         \
  X(get_remote_ece, "RDMACM_1.3")        \
  X(getaddrinfo, "RDMACM_1.0")           \
  X(freeaddrinfo, "RDMACM_1.0")          \
  X(create_ep, "RDMACM_1.0")             \
  X(destroy_ep, "RDMACM_1.0")

/// X(name, version): ibv_NAME, and since when libibverbs has it as it is.
#define CONFORMANCE_VERBS_CALLS(X)       \
  X(query_device, "IBVERBS_1.1")         \
  X(get_async_event, "IBVERBS_1.1")      \
  X(ack_async_event, "IBVERBS_1.1")      \
  X(alloc_pd, "IBVERBS_1.1")             \
  X(dealloc_pd, "IBVERBS_1.1")           \
  X(reg_mr, "IBVERBS_1.1")               \
  X(rereg_mr, "IBVERBS_1.1")             \
  X(dereg_mr, "IBVERBS_1.1")             \
  X(create_comp_channel, "IBVERBS_1.0")  \
  X(destroy_comp_channel, "IBVERBS_1.0") \
  X(create_cq, "IBVERBS_1.1")            \
  X(destroy_cq, "IBVERBS_1.1")           \
  X(get_cq_event, "IBVERBS_1.1")         \
  X(ack_cq_events, "IBVERBS_1.1")        \
  X(create_qp, "IBVERBS_1.1")            \
  X(modify_qp, "IBVERBS_1.1")            \
  X(query_qp, "IBVERBS_1.1")             \
  X(destroy_qp, "IBVERBS_1.1")           \
  X(qp_to_qp_ex, "IBVERBS_1.6")          \
  X(create_srq, "IBVERBS_1.1")           \
  X(modify_srq, "IBVERBS_1.1")           \
  X(query_srq, "IBVERBS_1.1")            \
  X(destroy_srq, "IBVERBS_1.1")          \
  X(create_ah, "IBVERBS_1.1")            \
  X(destroy_ah, "IBVERBS_1.1")

namespace anyrdma::conformance {

struct Calls {
#define CONFORMANCE_MEMBER(NAME, VERSION) decltype(&::rdma_##NAME) NAME;
  struct Cm {
    CONFORMANCE_CM_CALLS(CONFORMANCE_MEMBER)
  };
#undef CONFORMANCE_MEMBER
#define CONFORMANCE_MEMBER(NAME, VERSION) decltype(&::ibv_##NAME) NAME;
  struct Verbs {
    CONFORMANCE_VERBS_CALLS(CONFORMANCE_MEMBER)
    decltype(&::_ibv_query_gid_ex) query_gid_ex;
  };
#undef CONFORMANCE_MEMBER

  Cm cm;
  Verbs verbs;
  /// Of the C library that the functions use: one loaded apart has one of its own.
  int* (*errno_location)();

  [[nodiscard]] int last_error() const {
    return *errno_location();
  }
  /// The error of a call that answers 0, -1 with errno set, or the error itself.
  [[nodiscard]] int error_of(int answer) const {
    return answer == -1 && last_error() != 0 ? last_error() : answer;
  }
};

}  // namespace anyrdma::conformance
