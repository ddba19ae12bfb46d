// Registers a dma-buf, for ibv_reg_dmabuf_mr and ibv_reg_mr_ex.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "verbs/c_api/c_result.h"

namespace anyrdma::c_api {

/// A part of a dma-buf.
struct DmabufRange {
  int descriptor;
  std::uint64_t offset;  ///< in bytes
  std::size_t length;
  std::uint64_t iova;  ///< address of the first byte in requests
};

/// Registers memory of a dma-buf that can be mapped, or of a file of memfd_create(2), which stands
/// for one. Errors: EBADF: no descriptor; EINVAL: another file, a range beyond its end, an access
/// right that the kernel refuses, or offsets in a page that differ; EOPNOTSUPP: the device is no
/// software HCA. Source: ibv_reg_dmabuf_mr(3), Linux's uverbs_std_types_mr.c. May be called from
/// any thread.
[[nodiscard]] Result<ibv_mr*> register_dmabuf(ibv_pd* pd, const DmabufRange& range, int access);

}  // namespace anyrdma::c_api
