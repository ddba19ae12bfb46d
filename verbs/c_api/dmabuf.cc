#include "verbs/c_api/dmabuf.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "verbs/soft/dmabuf.h"

namespace anyrdma::c_api {
namespace {

constexpr std::uint64_t kPage = 4096;
// Those that the kernel accepts for a dma-buf (uverbs_std_types_mr.c).
constexpr unsigned kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
                             IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |
                             IBV_ACCESS_RELAXED_ORDERING;

/// EBADF: no descriptor; EINVAL: neither a dma-buf nor a file of memfd_create(2).
Result<void> check_descriptor(int descriptor) {
  if (::fcntl(descriptor, F_GETFD) < 0) return errno_code(EBADF);
  if (::fcntl(descriptor, F_GET_SEALS) >= 0) return {};
  std::array<char, 32> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = ::readlink(link.c_str(), name.data(), name.size());
  constexpr std::string_view kDmaBuf = "/dmabuf:";
  const std::string_view target(name.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  if (!target.starts_with(kDmaBuf)) return errno_code(EINVAL);
  return {};
}

/// Maps [offset, offset + length) of the buffer. The result unmaps it when it is destroyed, and
/// points to the byte at `offset`.
Result<std::shared_ptr<void>> map_buffer(int descriptor, std::uint64_t offset, std::size_t length,
                                         bool writable) {
  const ::off_t size = ::lseek(descriptor, 0, SEEK_END);
  if (size < 0) return errno_code(EINVAL);
  const auto bytes = static_cast<std::uint64_t>(size);
  if (length == 0 || offset > bytes || length > bytes - offset) return errno_code(EINVAL);
  const std::uint64_t begin = offset & ~(kPage - 1);
  const std::size_t mapped = length + (offset - begin);
  const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
  void* const at =
      ::mmap(nullptr, mapped, protection, MAP_SHARED, descriptor, static_cast<::off_t>(begin));
  if (at == MAP_FAILED) return errno_code(errno == ENOMEM ? ENOMEM : EINVAL);
  const std::shared_ptr<void> whole(at, [mapped](void* all) { ::munmap(all, mapped); });
  return std::shared_ptr<void>(whole, static_cast<char*>(at) + (offset - begin));
}

}  // namespace

Result<ibv_mr*> register_dmabuf(ibv_pd* pd, const DmabufRange& range, int access) {
  const auto wanted = static_cast<unsigned>(access);
  if (pd == nullptr || (wanted & ~kAccess) != 0) return errno_code(EINVAL);
  if (range.offset % kPage != range.iova % kPage) return errno_code(EINVAL);
  if (auto known = check_descriptor(range.descriptor); !known) return known.error();
  const bool writable = (wanted & IBV_ACCESS_LOCAL_WRITE) != 0;
  auto mapping = map_buffer(range.descriptor, range.offset, range.length, writable);
  if (!mapping) return mapping.error();
  return verbs::soft::register_dmabuf(pd,
                                      {.memory = std::move(*mapping),
                                       .length = range.length,
                                       .offset = range.offset,
                                       .iova = range.iova},
                                      wanted);
}

}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;

extern "C" ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length,
                                     std::uint64_t iova, int fd, int access) {
  return null_on_error([&] {
    return register_dmabuf(pd, {.descriptor = fd, .offset = offset, .length = length, .iova = iova},
                           access);
  });
}
