// Declares functions and types of libibverbs' versions 1.15 to 1.18 (rdma-core 59 to 65), which
// Debian 12's headers do not have. The functions are declared as in rdma-core 65's
// <infiniband/verbs.h>, with incomplete types, so that a build with newer headers repeats the same
// declarations. The structs with their layouts have names of anyrdma.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

struct ibv_buf;
struct ibv_comp_cntr;
struct ibv_comp_cntr_caps;
struct ibv_comp_cntr_init_attr;
struct ibv_dmah;
struct ibv_dmah_init_attr;
struct ibv_mr_init_attr;
struct ibv_qp_attach_comp_cntr_attr;

namespace anyrdma::c_api::newer {

/// ibv_mr_init_attr's comp_mask.
enum MrInitAttrMask : std::uint64_t {
  kMrIova = 1 << 0,
  kMrAddress = 1 << 1,
  kMrDescriptor = 1 << 2,
  kMrOffset = 1 << 3,
  kMrDmaHandle = 1 << 4,
  kMrBuffer = 1 << 5,
};

/// The layout of ibv_mr_init_attr of rdma-core 65. Up to rdma-core 63, `dmah` was the last member.
/// Therefore read a later member only if its bit in the mask is set.
struct MrInitAttr {
  std::size_t length;
  int access;
  std::uint64_t comp_mask;
  std::uint64_t iova;
  void* address;
  int descriptor;
  std::uint64_t offset;
  ibv_dmah* dmah;
  ibv_buf* buffer;
};

/// The layout of ibv_comp_cntr_caps of rdma-core 65.
struct CompCntrCaps {
  std::uint64_t max_value;
  std::uint32_t max_counters;
  std::uint32_t supported_qp_attach_ops;
};

/// The layout of ibv_comp_cntr_init_attr of rdma-core 65. `type` is 0 for requests, 1 for bytes.
struct CompCntrInitAttr {
  std::uint32_t comp_mask;
  std::uint32_t type;
  std::uint32_t flags;
};

/// The layout of ibv_qp_attach_comp_cntr_attr of rdma-core 65.
struct QpAttachCompCntrAttr {
  std::uint32_t comp_mask;
  std::uint32_t op_mask;
};

}  // namespace anyrdma::c_api::newer

extern "C" {

ibv_dmah* ibv_alloc_dmah(ibv_context* context, ibv_dmah_init_attr* attr);
int ibv_dealloc_dmah(ibv_dmah* dmah);
ibv_mr* ibv_reg_mr_ex(ibv_pd* pd, ibv_mr_init_attr* mr_init_attr);

int ibv_dm_export_dmabuf_fd(ibv_dm* dm);
int ibv_query_port_speed(ibv_context* context, std::uint32_t port_num, std::uint64_t* port_speed);

void* ibv_alloc_buf(ibv_pd* pd, std::size_t size, ibv_buf** buf);
void ibv_free_buf(ibv_buf* buf);
ibv_mr* ibv_reg_buf_mr(ibv_pd* pd, ibv_buf* buf, void* addr, std::size_t length, int access);
int ibv_export_buf_dmabuf_fd(ibv_buf* buf);

int _ibv_query_comp_cntr_caps(  // NOLINT(bugprone-reserved-identifier)
    ibv_context* context, ibv_comp_cntr_caps* caps, std::size_t caps_size);
ibv_comp_cntr* ibv_create_comp_cntr(ibv_context* context, ibv_comp_cntr_init_attr* cc_attr);
int ibv_destroy_comp_cntr(ibv_comp_cntr* comp_cntr);
int ibv_set_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t value);
int ibv_set_err_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t value);
int ibv_inc_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t amount);
int ibv_inc_err_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t amount);
int ibv_read_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t* value);
int ibv_read_err_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t* value);
int ibv_qp_attach_comp_cntr(ibv_qp* qp, ibv_comp_cntr* comp_cntr,
                            ibv_qp_attach_comp_cntr_attr* attr);

const char* ibv_wr_opcode_str(ibv_wr_opcode opcode);

}  // extern "C"
