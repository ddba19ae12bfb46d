#include "transport/realtime/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "transport/realtime/file_limit.h"

namespace anyrdma::transport::realtime {

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

verbs::Result<SharedMemory> SharedMemory::create(std::size_t size, Descriptor& fd) {
  if (!may_be_so_long(size)) return verbs::errno_code(EFBIG);
  Descriptor made(::memfd_create("anyrdma", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made) return verbs::errno_code(errno);
  if (::ftruncate(made.get(), static_cast<off_t>(size)) != 0) return verbs::errno_code(errno);
  if (::fcntl(made.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return verbs::errno_code(errno);
  verbs::Result<SharedMemory> mapped = map(made.get(), size);
  if (mapped) fd = std::move(made);
  return mapped;
}

verbs::Result<SharedMemory> SharedMemory::map(int fd, std::size_t size) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return verbs::errno_code(EINVAL);
  struct stat status {};
  if (::fstat(fd, &status) != 0) return verbs::errno_code(errno);
  if (status.st_size != static_cast<off_t>(size)) return verbs::errno_code(EINVAL);
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return verbs::errno_code(errno);
  return SharedMemory(std::span(static_cast<std::byte*>(at), size));
}

}  // namespace anyrdma::transport::realtime
