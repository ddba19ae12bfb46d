#include "transport/fabric/write_hold.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace anyrdma::transport::fabric {
namespace {

constexpr std::uint64_t kPage = 4096;

// Privileged, the kernel's own writes for a system call wait, too.
realtime::Descriptor open_faults() {
  for (const int flags : {O_CLOEXEC, O_CLOEXEC | UFFD_USER_MODE_ONLY}) {
    realtime::Descriptor fd(static_cast<int>(::syscall(SYS_userfaultfd, flags)));
    if (!fd) continue;
    uffdio_api api{.api = UFFD_API,
                   .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM,
                   .ioctls = 0};
    if (::ioctl(fd.get(), UFFDIO_API, &api) == 0) return fd;
  }
  return {};
}

}  // namespace

WriteHold::WriteHold(std::uint64_t begin, std::uint64_t size) : fd_(open_faults()) {
  if (!fd_) return;
  uffdio_register range{
      .range = {.start = begin, .len = size}, .mode = UFFDIO_REGISTER_MODE_WP, .ioctls = 0};
  if (::ioctl(fd_.get(), UFFDIO_REGISTER, &range) != 0) {
    fd_.reset();
    return;
  }
  // Only pages that are there can be protected.
  for (std::uint64_t at = begin; at < begin + size; at += kPage)
    (void)*reinterpret_cast<const volatile std::byte*>(at);
  uffdio_writeprotect protect{.range = {.start = begin, .len = size},
                              .mode = UFFDIO_WRITEPROTECT_MODE_WP};
  if (::ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &protect) != 0) fd_.reset();
}

}  // namespace anyrdma::transport::fabric
