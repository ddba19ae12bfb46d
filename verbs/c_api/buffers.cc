// Memory that libibverbs allocates for a program, and the registration that knows of it.
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/dmabuf.h"
#include "verbs/c_api/newer_functions.h"
#include "verbs/provider.h"

/// Programs have only a pointer to it.
struct ibv_buf {
  ibv_pd* pd;
  void* address;
  std::size_t size;
};

namespace anyrdma::c_api {
namespace {

using newer::MrInitAttr;
using verbs::provider_of;

Result<ibv_buf*> allocate(ibv_pd* pd, std::size_t size) {
  auto buffer = std::make_unique<ibv_buf>(ibv_buf{pd, nullptr, size});
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const int error = ::posix_memalign(&buffer->address, page, size);
  if (error != 0) return errno_code(error);
  return buffer.release();
}

bool lies_inside(const ibv_buf& buffer, const void* address, std::size_t length) {
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer.address);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at < begin || at - begin > buffer.size) return false;
  return length <= buffer.size - (at - begin);
}

/// EINVAL: not registered as a part of its buffer.
Result<void> check_buffer(const ibv_pd* pd, const MrInitAttr& attr) {
  const bool elsewhere = (attr.comp_mask & (newer::kMrDescriptor | newer::kMrOffset)) != 0;
  const bool addressed = (attr.comp_mask & newer::kMrAddress) != 0;
  if (attr.buffer == nullptr || attr.buffer->pd != pd || !addressed || elsewhere ||
      !lies_inside(*attr.buffer, attr.address, attr.length)) {
    return errno_code(EINVAL);
  }
  return {};
}

// What rdma-core's library makes of it where the driver, as rxe's, knows only the older calls.
Result<ibv_mr*> register_memory(ibv_pd* pd, const MrInitAttr& attr) {
  std::uint64_t mask = attr.comp_mask;
  if ((mask & newer::kMrBuffer) != 0) {
    if (Result<void> inside = check_buffer(pd, attr); !inside) return inside.error();
    mask &= ~std::uint64_t{newer::kMrBuffer};
  }
  constexpr std::uint64_t kKnown =
      newer::kMrIova | newer::kMrAddress | newer::kMrDescriptor | newer::kMrOffset;
  if ((mask & ~kKnown) != 0) return errno_code(EOPNOTSUPP);
  const bool addressed = (mask & newer::kMrAddress) != 0;
  if ((mask & newer::kMrDescriptor) != 0) {  // a dma-buf, as ibv_reg_dmabuf_mr
    const bool whole = (mask & newer::kMrOffset) != 0 && (mask & newer::kMrIova) != 0;
    if (addressed || !whole) return errno_code(EINVAL);
    return register_dmabuf(pd,
                           {.descriptor = attr.descriptor,
                            .offset = attr.offset,
                            .length = attr.length,
                            .iova = attr.iova},
                           attr.access);
  }
  if (!addressed || (mask & newer::kMrOffset) != 0) return errno_code(EINVAL);
  const bool moved = (mask & newer::kMrIova) != 0;
  const std::uint64_t iova = moved ? attr.iova : reinterpret_cast<std::uintptr_t>(attr.address);
  return provider_of(pd->context)
      .reg_mr(pd, attr.address, attr.length, iova, static_cast<unsigned>(attr.access));
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;

extern "C" {

void* ibv_alloc_buf(ibv_pd* pd, std::size_t size, ibv_buf** buf) {
  if (pd == nullptr || buf == nullptr) {
    errno = EINVAL;
    return nullptr;
  }
  ibv_buf* made = null_on_error([&] { return allocate(pd, size); });
  if (made == nullptr) return nullptr;
  *buf = made;
  return made->address;
}

void ibv_free_buf(ibv_buf* buf) {
  if (buf == nullptr) return;
  std::free(buf->address);
  delete buf;
}

/// No buffer of ours is a dma-buf.
int ibv_export_buf_dmabuf_fd(ibv_buf* buf) {
  return fail(buf == nullptr ? EINVAL : ENODATA);
}

ibv_mr* ibv_reg_mr_ex(ibv_pd* pd, ibv_mr_init_attr* mr_init_attr) {
  return null_on_error([&]() -> Result<ibv_mr*> {
    if (pd == nullptr || mr_init_attr == nullptr) return errno_code(EINVAL);
    return register_memory(pd, *reinterpret_cast<const MrInitAttr*>(mr_init_attr));
  });
}

ibv_mr* ibv_reg_buf_mr(ibv_pd* pd, ibv_buf* buf, void* addr, std::size_t length, int access) {
  MrInitAttr attr{};
  attr.length = length;
  attr.access = access;
  attr.comp_mask = newer::kMrBuffer | newer::kMrAddress;
  attr.address = addr;
  attr.buffer = buf;
  return ibv_reg_mr_ex(pd, reinterpret_cast<ibv_mr_init_attr*>(&attr));
}

}  // extern "C"
