// What rdma-core's drivers ask of libibverbs. Programs that use a driver's extensions (perftest,
// UCX) are linked against libmlx5.so.1 and libefa.so.1, which do not load unless each of these
// names is there. No device here is theirs: a driver may register, as its constructor does at once,
// and is never called; whatever it asks of the kernel is not supported.
#include <cerrno>

namespace {

int refuse() {
  errno = EOPNOTSUPP;
  return errno;
}

void* refuse_pointer() {
  refuse();
  return nullptr;
}

}  // namespace

// Nobody but a driver knows what these take, and nothing here looks at it.
// NOLINTBEGIN(bugprone-reserved-identifier)
#define ANYRDMA_REFUSED(name) \
  int name(...) {             \
    return refuse();          \
  }

extern "C" {

/// Whether a driver may free what belongs to a device that is gone; each sets it for itself.
bool verbs_allow_disassociate_destroy = false;

void verbs_register_driver_34(...) {}
void verbs_set_ops(...) {}
void verbs_init_cq(...) {}
void verbs_uninit_context(...) {}
void __verbs_log(...) {}

void* _verbs_init_and_alloc_context(...) {
  return refuse_pointer();
}

// How many attributes a driver's command to the kernel takes: none is ever sent.
unsigned __ioctl_final_num_attrs(unsigned count, ...) {
  return count;
}

// No device here has a folder in /sys.
int ibv_read_ibdev_sysfs_file(...) {
  errno = ENOENT;
  return -1;
}

void* verbs_open_device(...) {
  return refuse_pointer();
}

ANYRDMA_REFUSED(execute_ioctl)
ANYRDMA_REFUSED(ibv_cmd_advise_mr)
ANYRDMA_REFUSED(ibv_cmd_alloc_dm)
ANYRDMA_REFUSED(ibv_cmd_alloc_mw)
ANYRDMA_REFUSED(ibv_cmd_alloc_pd)
ANYRDMA_REFUSED(ibv_cmd_attach_mcast)
ANYRDMA_REFUSED(ibv_cmd_close_xrcd)
ANYRDMA_REFUSED(ibv_cmd_create_ah)
ANYRDMA_REFUSED(ibv_cmd_create_counters)
ANYRDMA_REFUSED(ibv_cmd_create_cq)
ANYRDMA_REFUSED(ibv_cmd_create_cq_ex)
ANYRDMA_REFUSED(ibv_cmd_create_cq_ex2)
ANYRDMA_REFUSED(ibv_cmd_create_flow)
ANYRDMA_REFUSED(ibv_cmd_create_flow_action_esp)
ANYRDMA_REFUSED(ibv_cmd_create_qp)
ANYRDMA_REFUSED(ibv_cmd_create_qp_ex)
ANYRDMA_REFUSED(ibv_cmd_create_qp_ex2)
ANYRDMA_REFUSED(ibv_cmd_create_rwq_ind_table)
ANYRDMA_REFUSED(ibv_cmd_create_srq)
ANYRDMA_REFUSED(ibv_cmd_create_srq_ex)
ANYRDMA_REFUSED(ibv_cmd_create_wq)
ANYRDMA_REFUSED(ibv_cmd_dealloc_mw)
ANYRDMA_REFUSED(ibv_cmd_dealloc_pd)
ANYRDMA_REFUSED(ibv_cmd_dereg_mr)
ANYRDMA_REFUSED(ibv_cmd_destroy_ah)
ANYRDMA_REFUSED(ibv_cmd_destroy_counters)
ANYRDMA_REFUSED(ibv_cmd_destroy_cq)
ANYRDMA_REFUSED(ibv_cmd_destroy_flow)
ANYRDMA_REFUSED(ibv_cmd_destroy_flow_action)
ANYRDMA_REFUSED(ibv_cmd_destroy_qp)
ANYRDMA_REFUSED(ibv_cmd_destroy_rwq_ind_table)
ANYRDMA_REFUSED(ibv_cmd_destroy_srq)
ANYRDMA_REFUSED(ibv_cmd_destroy_wq)
ANYRDMA_REFUSED(ibv_cmd_detach_mcast)
ANYRDMA_REFUSED(ibv_cmd_free_dm)
ANYRDMA_REFUSED(ibv_cmd_get_context)
ANYRDMA_REFUSED(ibv_cmd_modify_cq)
ANYRDMA_REFUSED(ibv_cmd_modify_flow_action_esp)
ANYRDMA_REFUSED(ibv_cmd_modify_qp)
ANYRDMA_REFUSED(ibv_cmd_modify_qp_ex)
ANYRDMA_REFUSED(ibv_cmd_modify_srq)
ANYRDMA_REFUSED(ibv_cmd_modify_wq)
ANYRDMA_REFUSED(ibv_cmd_open_qp)
ANYRDMA_REFUSED(ibv_cmd_open_xrcd)
ANYRDMA_REFUSED(ibv_cmd_poll_cq)
ANYRDMA_REFUSED(ibv_cmd_post_recv)
ANYRDMA_REFUSED(ibv_cmd_post_send)
ANYRDMA_REFUSED(ibv_cmd_post_srq_recv)
ANYRDMA_REFUSED(ibv_cmd_query_context)
ANYRDMA_REFUSED(ibv_cmd_query_device_any)
ANYRDMA_REFUSED(ibv_cmd_query_mr)
ANYRDMA_REFUSED(ibv_cmd_query_port)
ANYRDMA_REFUSED(ibv_cmd_query_qp)
ANYRDMA_REFUSED(ibv_cmd_query_srq)
ANYRDMA_REFUSED(ibv_cmd_read_counters)
ANYRDMA_REFUSED(ibv_cmd_reg_dm_mr)
ANYRDMA_REFUSED(ibv_cmd_reg_dmabuf_mr)
ANYRDMA_REFUSED(ibv_cmd_reg_mr)
ANYRDMA_REFUSED(ibv_cmd_req_notify_cq)
ANYRDMA_REFUSED(ibv_cmd_rereg_mr)
ANYRDMA_REFUSED(ibv_cmd_resize_cq)

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
