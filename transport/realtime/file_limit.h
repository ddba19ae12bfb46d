// Checks the limit of file sizes (RLIMIT_FSIZE, ulimit -f), which also applies to shared memory.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace anyrdma::transport::realtime {

/// Whether the limit of file sizes allows a file of this length, in bytes. Call it before a file
/// grows: a file that exceeds the limit raises SIGXFSZ, which ends a program without a handler.
[[nodiscard]] inline bool may_be_so_long(std::uint64_t size) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || size <= limit.rlim_cur;
}

}  // namespace anyrdma::transport::realtime
