// The names that rdma-core's libraries share among themselves have a new version whenever their
// meaning changes: 34 from rdma-core 34 to 56 (libibverbs.map has it), then 57, 59, 64 and 65. To
// those who ask, the drivers and tools of a release, we answer the same in each.
#include <cerrno>
#include <cstdint>

#include "verbs/c_api/driver_commands.h"
#include "verbs/c_api/newer_functions.h"

extern "C" {

int ibv_query_gid_type(ibv_context* context, std::uint8_t port_num, unsigned index, int* type);

// Of drivers.cc, once more, because a name can have another version only where it is defined.
bool newer_allow_disassociate_destroy = false;
void newer_ignore(...);
int newer_refuse(...);
void* newer_refuse_pointer(...);
unsigned newer_count(unsigned count, ...);
int newer_read_sysfs_file(...);
const char* newer_opcode_name(ibv_wr_opcode opcode);
int newer_gid_type(ibv_context* context, std::uint8_t port_num, unsigned index, int* type);

void newer_ignore(...) {}

int newer_refuse(...) {
  errno = EOPNOTSUPP;
  return errno;
}

void* newer_refuse_pointer(...) {
  errno = EOPNOTSUPP;
  return nullptr;
}

unsigned newer_count(unsigned count, ...) {
  return count;
}

int newer_read_sysfs_file(...) {
  errno = ENOENT;
  return -1;
}

const char* newer_opcode_name(ibv_wr_opcode opcode) {
  return ibv_wr_opcode_str(opcode);
}

int newer_gid_type(ibv_context* context, std::uint8_t port_num, unsigned index, int* type) {
  return ibv_query_gid_type(context, port_num, index, type);
}

}  // extern "C"

#define ANYRDMA_IN(version, ours, name) \
  __asm__(".symver " #ours ", " #name "@IBVERBS_PRIVATE_" #version);
#define ANYRDMA_IN_ALL(ours, name) \
  ANYRDMA_IN(57, ours, name)       \
  ANYRDMA_IN(59, ours, name)       \
  ANYRDMA_IN(64, ours, name)       \
  ANYRDMA_IN(65, ours, name)
#define ANYRDMA_REFUSED(name) ANYRDMA_IN_ALL(newer_refuse, name)

ANYRDMA_IN(57, newer_ignore, verbs_register_driver_57)
ANYRDMA_IN(59, newer_ignore, verbs_register_driver_59)
ANYRDMA_IN(64, newer_ignore, verbs_register_driver_64)
ANYRDMA_IN(65, newer_ignore, verbs_register_driver_65)

ANYRDMA_IN_ALL(newer_allow_disassociate_destroy, verbs_allow_disassociate_destroy)
ANYRDMA_IN_ALL(newer_count, __ioctl_final_num_attrs)
ANYRDMA_IN_ALL(newer_gid_type, ibv_query_gid_type)
ANYRDMA_IN_ALL(newer_ignore, __verbs_log)
ANYRDMA_IN_ALL(newer_ignore, ibv_dmabuf_heap_destroy)
ANYRDMA_IN_ALL(newer_ignore, ibv_dmabuf_heap_free)
ANYRDMA_IN_ALL(newer_ignore, verbs_init_cq)
ANYRDMA_IN_ALL(newer_ignore, verbs_set_ops)
ANYRDMA_IN_ALL(newer_ignore, verbs_uninit_context)
ANYRDMA_IN_ALL(newer_opcode_name, ibv_wr_opcode_str)
ANYRDMA_IN_ALL(newer_read_sysfs_file, ibv_read_ibdev_sysfs_file)
ANYRDMA_IN_ALL(newer_refuse_pointer, _verbs_init_and_alloc_context)
ANYRDMA_IN_ALL(newer_refuse_pointer, ibv_dmabuf_heap_alloc)
ANYRDMA_IN_ALL(newer_refuse_pointer, ibv_dmabuf_heap_cc_shared_init)
ANYRDMA_IN_ALL(newer_refuse_pointer, verbs_open_device)

ANYRDMA_DRIVER_COMMANDS(ANYRDMA_REFUSED)

// What 34 never had.
ANYRDMA_REFUSED(ibv_cmd_alloc_dmah)
ANYRDMA_REFUSED(ibv_cmd_create_comp_cntr)
ANYRDMA_REFUSED(ibv_cmd_destroy_comp_cntr)
ANYRDMA_REFUSED(ibv_cmd_export_dmabuf_fd)
ANYRDMA_REFUSED(ibv_cmd_free_dmah)
ANYRDMA_REFUSED(ibv_cmd_inc_comp_cntr)
ANYRDMA_REFUSED(ibv_cmd_inc_err_comp_cntr)
ANYRDMA_REFUSED(ibv_cmd_qp_attach_comp_cntr)
ANYRDMA_REFUSED(ibv_cmd_query_comp_cntr_caps)
ANYRDMA_REFUSED(ibv_cmd_query_port_speed)
ANYRDMA_REFUSED(ibv_cmd_read_comp_cntr)
ANYRDMA_REFUSED(ibv_cmd_read_err_comp_cntr)
ANYRDMA_REFUSED(ibv_cmd_reg_mr_ex)
ANYRDMA_REFUSED(ibv_cmd_set_comp_cntr)
ANYRDMA_REFUSED(ibv_cmd_set_err_comp_cntr)
