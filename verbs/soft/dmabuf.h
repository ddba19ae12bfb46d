// Memory regions in memory of another device (dma-buf), which its exporter may revoke.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "verbs/result.h"

namespace anyrdma::verbs::soft {

/// A mapped part of a dma-buf.
struct MappedDmabuf {
  std::shared_ptr<void> memory;  ///< first byte; unmapped when the last owner goes
  std::size_t length = 0;        ///< in bytes
  std::uint64_t offset = 0;      ///< in the dma-buf; becomes ibv_mr::addr, as with rdma-core
  std::uint64_t iova = 0;        ///< address of the first byte in requests
};

/// Registers a part of a dma-buf. ibv_rereg_mr refuses the region, and `memory` lives as long as
/// the region. Errors: those of ibv_reg_mr; EOPNOTSUPP: the device is no software HCA. May be
/// called from any thread.
[[nodiscard]] Result<ibv_mr*> register_dmabuf(ibv_pd* pd, const MappedDmabuf& part,
                                              unsigned access);
/// Ends all access through the keys of such a region and of windows that are bound to it, as when
/// the exporter of the dma-buf revokes it. The region still has to be deregistered. EINVAL: the
/// region is in the application's own memory; EOPNOTSUPP: as above. May be called from any thread.
[[nodiscard]] Result<void> revoke_dmabuf(ibv_mr* region);

}  // namespace anyrdma::verbs::soft
