#include "transport/fault/plan/legal.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "transport/fault/plan/scalars.h"

namespace anyrdma::fault {
namespace {

constexpr auto kErrnos = std::to_array<LegalErrno>({
    {"create_event_channel", ENOMEM, "L rdma_create_event_channel: malloc"},
    {"create_event_channel", EMFILE, "open(2) of /dev/infiniband/rdma_cm: the process's limit"},
    {"create_event_channel", ENFILE, "open(2): the system's limit"},
    {"create_event_channel", EACCES, "open(2): no permission"},
    {"create_event_channel", ENODEV, "L ucma_init: no device"},
    {"create_id", ENOMEM, "K/ucma.c ucma_create_id, K/cma.c __rdma_create_id: kzalloc"},
    {"create_id", ENODEV, "L ucma_init: no device"},
    {"bind_addr", ENOMEM, "K/cma.c cma_alloc_port: kzalloc"},
    {"bind_addr", EADDRINUSE, "K/cma.c cma_check_port"},
    {"bind_addr", EADDRNOTAVAIL, "K/cma.c rdma_bind_addr_dst, cma_alloc_any_port"},
    {"bind_addr", EACCES, "K/cma.c cma_use_port: a privileged port"},
    {"bind_addr", ENODEV, "K/cma.c cma_acquire_dev_by_src_ip"},
    {"resolve_addr", ENOMEM, "K/addr.c rdma_resolve_ip: kzalloc"},
    {"resolve_addr", ENODEV, "K/cma.c cma_resolve_loopback, K/addr.c rdma_translate_ip"},
    {"resolve_addr", EADDRNOTAVAIL, "K/cma.c cma_bind_addr: the source is not ours"},
    {"resolve_addr", EADDRINUSE, "K/cma.c cma_bind_addr: no port is left"},
    {"resolve_addr", ENETUNREACH, "K/addr.c addr4_resolve: no route"},
    {"resolve_addr", EHOSTUNREACH, "K/addr.c addr4_resolve: an unreachable route"},
    {"resolve_route", ENOMEM, "K/cma.c cma_resolve_iboe_route: kzalloc"},
    {"resolve_route", ENODEV, "K/cma.c cma_resolve_iboe_route: the interface went away"},
    {"listen", ENOMEM, "K/cm.c ib_create_cm_id: kzalloc"},
    {"listen", EADDRINUSE, "K/cma.c cma_bind_listen"},
    {"connect", ENOMEM, "K/cma.c cma_connect_ib: kzalloc; K/cm.c cm_alloc_msg"},
    {"connect", EINVAL, "K/cm.c cm_init_av_by_path: the GID has gone"},
    {"establish", ENOMEM, "K/cm.c ib_send_cm_rtu: cm_alloc_msg"},
    {"establish", EINVAL, "K/cm.c ib_send_cm_rtu: REP is no longer valid"},
    {"accept", ENOMEM, "K/cm.c ib_send_cm_rep: cm_alloc_msg"},
    {"accept", EINVAL, "K/cm.c ib_send_cm_rep: the request has gone"},
    {"reject", ENOMEM, "K/cm.c ib_send_cm_rej: cm_alloc_msg"},
    {"reject", EINVAL, "K/cm.c ib_send_cm_rej: the request has gone"},
    {"disconnect", EINVAL, "K/cma.c rdma_disconnect: no CM id; a lost DREQ is no error"},
    {"notify", ENOMEM, "K/cm.c cm_establish: kmalloc"},
    {"notify", EISCONN, "K/cm.c cm_establish"},
    {"notify", EINVAL, "K/cm.c cm_establish"},
    {"join_multicast", ENOMEM, "K/cma.c rdma_join_multicast: kzalloc"},
    {"join_multicast", ENODEV, "K/cma.c cma_iboe_join_multicast: the interface went away"},
    {"join_multicast", EINVAL, "K/cma.c cma_iboe_join_multicast"},
    {"leave_multicast", EADDRNOTAVAIL, "L rdma_leave_multicast"},
    {"open_device", ENOMEM, "ibv_open_device: calloc; K/uverbs_main.c ib_uverbs_open"},
    {"open_device", EMFILE, "open(2) of /dev/infiniband/uverbsN"},
    {"open_device", ENXIO, "K/uverbs_main.c ib_uverbs_open: the device went away"},
    {"alloc_pd", ENOMEM, "K/uverbs_cmd.c ib_uverbs_alloc_pd"},
    {"alloc_td", ENOMEM, "libmlx5 mlx5_alloc_td: calloc"},
    {"alloc_td", EOPNOTSUPP, "libibverbs dummy_ops.c; rxe has none"},
    {"alloc_parent_domain", ENOMEM, "libmlx5 mlx5_alloc_parent_domain: calloc"},
    {"alloc_parent_domain", EOPNOTSUPP, "libibverbs dummy_ops.c; rxe has none"},
    {"reg_mr", ENOMEM, "K/umem.c ib_umem_get: RLIMIT_MEMLOCK; nccl-tests #206"},
    {"reg_mr", EFAULT, "K/umem.c ib_umem_get: pin_user_pages_fast"},
    {"reg_mr", EINVAL, "K/uverbs_cmd.c ib_uverbs_reg_mr, ib_umem_get"},
    {"rereg_mr", ENOMEM, "K/umem.c ib_umem_get: RLIMIT_MEMLOCK"},
    {"rereg_mr", EFAULT, "K/umem.c ib_umem_get: pin_user_pages_fast"},
    {"rereg_mr", EINVAL, "K/uverbs_cmd.c ib_uverbs_rereg_mr"},
    {"rereg_mr", EOPNOTSUPP, "libibverbs dummy_ops.c; rxe of Linux 6.1 has none"},
    {"alloc_null_mr", ENOMEM, "libmlx5 mlx5_alloc_null_mr: calloc"},
    {"alloc_null_mr", EOPNOTSUPP, "libmlx5 mlx5_alloc_null_mr: the device has no such key"},
    {"alloc_mw", ENOMEM, "K/uverbs_cmd.c ib_uverbs_alloc_mw: rdma_zalloc_drv_obj"},
    {"alloc_mw", EINVAL, "K/uverbs_cmd.c ib_uverbs_alloc_mw: the type; rxe_alloc_mw: max_mw"},
    {"alloc_mw", EOPNOTSUPP, "libibverbs dummy_ops.c: the device has none"},
    {"alloc_dm", ENOMEM, "mlx5 dm.c mlx5_cmd_alloc_memic: no room is left"},
    {"alloc_dm", EINVAL, "mlx5 dm.c mlx5_cmd_alloc_memic: the length"},
    {"alloc_dm", EOPNOTSUPP, "K/uverbs_std_types_dm.c: the device has none"},
    {"create_comp_channel", ENOMEM, "K/uverbs_cmd.c ib_uverbs_create_comp_channel"},
    {"create_comp_channel", EMFILE, "K/rdma_core.c alloc_begin_fd_uobject: get_unused_fd_flags"},
    {"create_cq", ENOMEM, "K/uverbs_std_types_cq.c; UCX #8229"},
    {"create_cq", EINVAL, "rxe_cq_chkattr: more than the device's max_cqe"},
    {"resize_cq", ENOMEM, "rxe_queue_resize: vmalloc_user"},
    {"resize_cq", EINVAL,
     "rxe_cq_chk_attr: the new size is above max_cqe, or below the number of queued completions"},
    {"resize_cq", EOPNOTSUPP, "libibverbs dummy_ops.c"},
    {"modify_cq", EINVAL, "libmlx5 mlx5_modify_cq; mlx5 mlx5_ib_modify_cq"},
    {"modify_cq", EOPNOTSUPP, "K/verbs.c rdma_set_cq_moderation; rxe has none"},
    {"create_qp", ENOMEM, "K/uverbs_std_types_qp.c; ibv_create_qp(3): the device's max_qp"},
    {"create_qp", EINVAL, "rxe_qp_chk_init"},
    {"create_qp", EOPNOTSUPP, "rxe_create_qp: a type that the device does not have"},
    {"open_qp", ENOMEM, "K/verbs.c __ib_open_qp: kzalloc"},
    {"open_qp", EINVAL, "K/verbs.c ib_open_qp: no such number in the domain"},
    {"modify_qp", ENOMEM, "K/uverbs_cmd.c modify_qp: kzalloc"},
    {"modify_qp", EINVAL, "K/verbs.c ib_modify_qp_is_ok"},
    {"modify_qp", ETIMEDOUT,
     "K/verbs.c ib_resolve_eth_dmac: no ARP answer; NCCL #2013, Mooncake #204"},
    {"modify_qp", ENETUNREACH, "K/verbs.c ib_resolve_eth_dmac: no route"},
    {"modify_qp", EHOSTUNREACH, "K/verbs.c ib_resolve_eth_dmac: an unreachable route"},
    {"create_srq", ENOMEM, "K/uverbs_std_types_srq.c; ibv_create_srq(3)"},
    {"create_srq", EINVAL, "rxe_srq_chk_init"},
    {"create_srq", EOPNOTSUPP, "K/verbs.c ib_create_srq_user: the device has none"},
    {"modify_srq", ENOMEM, "rxe_queue_resize: vmalloc_user"},
    {"modify_srq", EINVAL, "rxe_srq_chk_attr"},
    {"open_xrcd", ENOMEM, "K/uverbs_cmd.c xrcd_table_insert; mlx5 mlx5_cmd_xrcd_alloc"},
    {"open_xrcd", EBADF, "K/uverbs_cmd.c ib_uverbs_open_xrcd: the descriptor"},
    {"open_xrcd", EAGAIN, "K/uverbs_cmd.c ib_uverbs_open_xrcd: none, and no O_CREAT"},
    {"open_xrcd", EINVAL, "K/uverbs_cmd.c ib_uverbs_open_xrcd: there is one, and O_EXCL"},
    {"open_xrcd", EOPNOTSUPP, "libibverbs dummy_ops.c: the device has none"},
    {"create_ah", ENOMEM, "K/verbs.c _rdma_create_ah: rdma_zalloc_drv_obj"},
    {"create_ah", EINVAL, "K/verbs.c rdma_check_ah_attr"},
    {"create_ah", ETIMEDOUT, "K/verbs.c ib_resolve_unicast_gid_dmac: no ARP answer"},
    {"attach_mcast", ENOMEM, "rxe_attach_mcast: max_mcast_grp, kzalloc"},
    {"attach_mcast", EINVAL, "K/verbs.c ib_attach_mcast"},
    {"post_send", ENOMEM, "ibv_post_send(3): the queue is full"},
    {"post_send", EINVAL, "ibv_post_send(3)"},
    {"post_send", EFAULT, "ibv_post_send(3): an invalid pointer"},
    {"post_recv", ENOMEM, "ibv_post_recv(3): the queue is full"},
    {"post_recv", EINVAL, "ibv_post_recv(3)"},
    {"post_recv", EFAULT, "ibv_post_recv(3): an invalid pointer"},
    {"post_srq_recv", ENOMEM, "ibv_post_srq_recv(3): the queue is full"},
    {"post_srq_recv", EINVAL, "ibv_post_srq_recv(3)"},
    {"post_srq_recv", EFAULT, "ibv_post_srq_recv(3): an invalid pointer"},
    {kAnyAllocation, ENOMEM, "no memory for the n-th object that programs create, of any kind"},
});

constexpr auto kLegalStatuses = std::to_array<LegalStatus>({
    {IBV_WC_SEND, IBV_WC_LOC_LEN_ERR, true, Needs::kNothing,
     "IBTA 11.6.2: longer than the port sends"},
    {IBV_WC_SEND, IBV_WC_LOC_QP_OP_ERR, true, Needs::kNothing,
     "IBTA 11.6.2: an error within the queue pair"},
    {IBV_WC_SEND, IBV_WC_LOC_PROT_ERR, true, Needs::kPayload,
     "IBTA 11.6.2: memory that is not registered"},
    {IBV_WC_SEND, IBV_WC_RETRY_EXC_ERR, false, Needs::kNothing,
     "IBTA 9.9.2: no acknowledgement; SPDK #2436"},
    {IBV_WC_SEND, IBV_WC_RNR_RETRY_EXC_ERR, false, Needs::kNothing,
     "IBTA 9.7.5.2.8: no receive in time; SPDK #2429"},
    {IBV_WC_SEND, IBV_WC_GENERAL_ERR, true, Needs::kNothing,
     "libmlx5 cq.c: any error that has no other status"},
    {IBV_WC_RDMA_WRITE, IBV_WC_LOC_LEN_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_RDMA_WRITE, IBV_WC_LOC_QP_OP_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_RDMA_WRITE, IBV_WC_LOC_PROT_ERR, false, Needs::kPayload, "IBTA 11.6.2"},
    {IBV_WC_RDMA_WRITE, IBV_WC_RETRY_EXC_ERR, false, Needs::kNothing, "IBTA 9.9.2"},
    {IBV_WC_RDMA_WRITE, IBV_WC_RNR_RETRY_EXC_ERR, false, Needs::kNothing,
     "IBTA 9.7.5.2.8; mlx5 odp.c"},
    {IBV_WC_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR, false, Needs::kPayload,
     "IBTA 9.9.3.1.3: rkey violation; libfabric #4283"},
    {IBV_WC_RDMA_WRITE, IBV_WC_GENERAL_ERR, false, Needs::kNothing, "libmlx5 cq.c"},
    {IBV_WC_RDMA_READ, IBV_WC_LOC_LEN_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_RDMA_READ, IBV_WC_LOC_QP_OP_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_RDMA_READ, IBV_WC_LOC_PROT_ERR, false, Needs::kPayload, "IBTA 11.6.2"},
    {IBV_WC_RDMA_READ, IBV_WC_BAD_RESP_ERR, false, Needs::kNothing,
     "IBTA 9.9.2: wrong length or opcode"},
    {IBV_WC_RDMA_READ, IBV_WC_RETRY_EXC_ERR, false, Needs::kNothing, "IBTA 9.9.2"},
    {IBV_WC_RDMA_READ, IBV_WC_RNR_RETRY_EXC_ERR, false, Needs::kNothing,
     "IBTA 9.7.5.2.8; mlx5 odp.c"},
    {IBV_WC_RDMA_READ, IBV_WC_REM_ACCESS_ERR, false, Needs::kPayload,
     "IBTA 9.9.3.1.3: rkey violation"},
    {IBV_WC_RDMA_READ, IBV_WC_GENERAL_ERR, false, Needs::kNothing, "libmlx5 cq.c"},
    {IBV_WC_COMP_SWAP, IBV_WC_LOC_LEN_ERR, false, Needs::kNothing,
     "IBTA 11.6.2: no room for the eight bytes"},
    {IBV_WC_COMP_SWAP, IBV_WC_LOC_QP_OP_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_COMP_SWAP, IBV_WC_LOC_PROT_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_COMP_SWAP, IBV_WC_RETRY_EXC_ERR, false, Needs::kNothing, "IBTA 9.9.2"},
    {IBV_WC_COMP_SWAP, IBV_WC_RNR_RETRY_EXC_ERR, false, Needs::kNothing,
     "IBTA 9.7.5.2.8; mlx5 odp.c"},
    {IBV_WC_COMP_SWAP, IBV_WC_REM_ACCESS_ERR, false, Needs::kNothing,
     "IBTA 9.9.3.1.3: rkey violation"},
    {IBV_WC_COMP_SWAP, IBV_WC_BAD_RESP_ERR, false, Needs::kNothing,
     "IBTA 9.9.2: wrong length or opcode"},
    {IBV_WC_COMP_SWAP, IBV_WC_GENERAL_ERR, false, Needs::kNothing, "libmlx5 cq.c"},
    {IBV_WC_FETCH_ADD, IBV_WC_LOC_LEN_ERR, false, Needs::kNothing,
     "IBTA 11.6.2: no room for the eight bytes"},
    {IBV_WC_FETCH_ADD, IBV_WC_LOC_QP_OP_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_FETCH_ADD, IBV_WC_LOC_PROT_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_FETCH_ADD, IBV_WC_RETRY_EXC_ERR, false, Needs::kNothing, "IBTA 9.9.2"},
    {IBV_WC_FETCH_ADD, IBV_WC_RNR_RETRY_EXC_ERR, false, Needs::kNothing,
     "IBTA 9.7.5.2.8; mlx5 odp.c"},
    {IBV_WC_FETCH_ADD, IBV_WC_REM_ACCESS_ERR, false, Needs::kNothing,
     "IBTA 9.9.3.1.3: rkey violation"},
    {IBV_WC_FETCH_ADD, IBV_WC_BAD_RESP_ERR, false, Needs::kNothing,
     "IBTA 9.9.2: wrong length or opcode"},
    {IBV_WC_FETCH_ADD, IBV_WC_GENERAL_ERR, false, Needs::kNothing, "libmlx5 cq.c"},
    {IBV_WC_ATOMIC_WRITE, IBV_WC_LOC_QP_OP_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_ATOMIC_WRITE, IBV_WC_LOC_PROT_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_ATOMIC_WRITE, IBV_WC_RETRY_EXC_ERR, false, Needs::kNothing, "IBTA 9.9.2"},
    {IBV_WC_ATOMIC_WRITE, IBV_WC_REM_ACCESS_ERR, false, Needs::kNothing,
     "IBTA 9.9.3.1.3: rkey violation"},
    {IBV_WC_ATOMIC_WRITE, IBV_WC_RNR_RETRY_EXC_ERR, false, Needs::kNothing, "IBTA 9.7.5.2.8"},
    {IBV_WC_ATOMIC_WRITE, IBV_WC_GENERAL_ERR, false, Needs::kNothing, "libmlx5 cq.c"},
    {IBV_WC_BIND_MW, IBV_WC_MW_BIND_ERR, false, Needs::kNothing,
     "IBTA 11.6.2: a region that does not allow it"},
    {IBV_WC_BIND_MW, IBV_WC_LOC_QP_OP_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_BIND_MW, IBV_WC_GENERAL_ERR, false, Needs::kNothing, "libmlx5 cq.c"},
    {IBV_WC_LOCAL_INV, IBV_WC_MW_BIND_ERR, false, Needs::kNothing,
     "IBTA 10.6.5: a key that cannot be made invalid"},
    {IBV_WC_LOCAL_INV, IBV_WC_LOC_QP_OP_ERR, false, Needs::kNothing, "IBTA 11.6.2"},
    {IBV_WC_LOCAL_INV, IBV_WC_GENERAL_ERR, false, Needs::kNothing, "libmlx5 cq.c"},
    {IBV_WC_RECV, IBV_WC_LOC_LEN_ERR, true, Needs::kNothing,
     "IBTA 11.6.2: the message is too long"},
    {IBV_WC_RECV, IBV_WC_LOC_PROT_ERR, true, Needs::kPayload,
     "IBTA 11.6.2: memory that is not registered"},
});

constexpr std::string_view kMaking[]{"create_event_channel",
                                     "create_id",
                                     "open_device",
                                     "alloc_pd",
                                     "reg_mr",
                                     "create_comp_channel",
                                     "create_cq",
                                     "create_qp",
                                     "create_srq",
                                     "create_ah",
                                     "alloc_td",
                                     "alloc_parent_domain",
                                     "alloc_null_mr",
                                     "alloc_mw",
                                     "alloc_dm",
                                     "open_xrcd",
                                     "open_qp"};
constexpr std::string_view kOnIds[]{
    "bind_addr", "resolve_addr",   "resolve_route",  "listen",     "connect",
    "establish", "accept",         "reject",         "disconnect", "notify",
    "destroy",   "join_multicast", "leave_multicast"};

bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// --- problems -----------------------------------------------------------------------------------

std::string errnos_of(std::string_view call) {
  std::string text;
  for (const LegalErrno& row : kErrnos) {
    if (row.call == call) text += (text.empty() ? "" : ", ") + word_of(Errno{row.error});
  }
  return text;
}

std::string call_problem(const OnCall& on, const FaultAction& action) {
  if (on.id != 0 && !is_call_on_id(on.call)) return in_quotes(on.call) + " is a call on no id";
  const auto* fail = std::get_if<FailCall>(&action);
  if (fail == nullptr) return "";
  const bool legal = std::any_of(kErrnos.begin(), kErrnos.end(), [&](const LegalErrno& row) {
    return row.call == on.call && row.error == fail->error.value;
  });
  if (legal) return "";
  const std::string all = errnos_of(on.call);
  return in_quotes(on.call) + " never fails" +
         (all.empty() ? "" : " with " + word_of(fail->error) + ", only with " + all);
}

// Its cause is an error of the peer's receive, which a plan can have.
std::string_view advice(ibv_wc_status status) {
  switch (static_cast<int>(status)) {
    case IBV_WC_REM_INV_REQ_ERR:
      return ": let the peer's RECV complete with LOC_LEN_ERR";
    case IBV_WC_REM_OP_ERR:
      return ": let the peer's RECV complete with LOC_PROT_ERR";
    case IBV_WC_WR_FLUSH_ERR:
      return ": it follows a qp-error";
  }
  return "";
}

std::string work_problem(const OnCompletion& on, const CompleteWork& complete) {
  if (find_legal(on.opcode, complete.status) != nullptr) return "";
  return in_quotes(word_of(on.opcode)) + " cannot be made to complete with " +
         word_of(complete.status) + std::string(advice(complete.status));
}

}  // namespace

std::span<const LegalErrno> legal_errnos() {
  return kErrnos;
}

bool makes_object(std::string_view call) {
  return is_one_of(kMaking, call);
}

bool is_call_on_id(std::string_view call) {
  return is_one_of(kOnIds, call);
}

std::span<const LegalStatus> legal_statuses() {
  return kLegalStatuses;
}

const LegalStatus* find_legal(ibv_wc_opcode opcode, ibv_wc_status status) {
  const auto found = std::find_if(
      kLegalStatuses.begin(), kLegalStatuses.end(),
      [&](const LegalStatus& row) { return row.opcode == opcode && row.status == status; });
  return found == kLegalStatuses.end() ? nullptr : &*found;
}

std::string api_problem(const Fault& fault) {
  if (const auto* on = std::get_if<OnCall>(&fault.trigger)) return call_problem(*on, fault.action);
  const auto* complete = std::get_if<CompleteWork>(&fault.action);
  if (complete == nullptr) return "";
  return work_problem(std::get<OnCompletion>(fault.trigger), *complete);
}

std::string errno_table() {
  std::string text = "| call | errno | where |\n| --- | --- | --- |\n";
  for (const LegalErrno& row : kErrnos) {
    text += "| `" + std::string(row.call) + "` | " + word_of(Errno{row.error}) + " | " +
            std::string(row.source) + " |\n";
  }
  return text;
}

std::string status_table() {
  std::string text = "| completion | status | on UD | where |\n| --- | --- | --- | --- |\n";
  for (const LegalStatus& row : kLegalStatuses) {
    text += "| " + word_of(row.opcode) + " | " + word_of(row.status) + " | " +
            (row.datagrams ? "yes" : "") + " | " + std::string(row.source) + " |\n";
  }
  return text;
}

}  // namespace anyrdma::fault
