// Writing into buffers that the peer has mapped: riomap, riounmap, riowrite.
#include <sys/mman.h>

#include <cerrno>

#include "cm/rsocket/stream.h"

namespace anyrdma::rsocket {

bool Stream::knows_peer() const {
  return connection_ != nullptr && connection_->flow().has_begun();
}

Result<::off_t> Stream::map(void* memory, std::size_t length, int protection, int flags,
                            ::off_t offset) {
  const Lock lock(mutex_);
  if (flags != 0 || (protection & ~(PROT_WRITE | PROT_NONE)) != 0) return errno_code(EINVAL);
  if (length == 0 || length > UINT32_MAX || offset < -1) return errno_code(EINVAL);
  if (!knows_peer()) return errno_code(ENOTCONN);
  return connection_->mappings().add(memory, length, (protection & PROT_WRITE) != 0, offset);
}

Result<void> Stream::unmap(void* memory, std::size_t length) {
  const Lock lock(mutex_);
  if (!knows_peer()) return errno_code(ENOTCONN);
  return connection_->mappings().remove(memory, length);
}

Result<std::size_t> Stream::write_mapped(std::span<const std::byte> data, ::off_t offset,
                                         int flags) {
  Lock lock(mutex_);
  if (const auto open = wait_until_open(lock, flags); !open) return open.error();
  std::size_t written = 0;
  while (written < data.size()) {
    const auto go =
        wait_to_post(lock, flags, written, [this] { return connection_->flow().can_write(); });
    if (!go) return go.error();
    if (*go == Go::kNoMore) break;
    const auto target = connection_->mappings().find(static_cast<std::uint64_t>(offset) + written);
    if (!target && written == 0) return errno_code(EINVAL);
    if (!target) break;
    written += connection_->write(data.subspan(written), *target);
  }
  return written;
}

}  // namespace anyrdma::rsocket
