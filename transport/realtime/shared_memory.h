// Memory that two processes share, and that neither can take away from the other.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "transport/realtime/descriptor.h"
#include "verbs/result.h"

namespace anyrdma::transport::realtime {

/// A mapping; unmapped at the end.
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  /// Creates zeroed memory of that size, which can never shrink (a process that reads truncated
  /// memory gets SIGBUS); `fd` becomes its descriptor, needed only to give it away. EMFILE, ENFILE,
  /// ENOMEM ...
  [[nodiscard]] static verbs::Result<SharedMemory> create(std::size_t size, Descriptor& fd);
  /// Maps what a peer has made. EINVAL: it has another size, or could shrink; ENOMEM ...
  [[nodiscard]] static verbs::Result<SharedMemory> map(int fd, std::size_t size);

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  /// Stays mapped as long as the process lives.
  [[nodiscard]] std::span<std::byte> release() { return std::exchange(bytes_, {}); }

 private:
  explicit SharedMemory(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
};

}  // namespace anyrdma::transport::realtime
