// Memory that two processes share, and that neither of them can shrink.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "transport/realtime/descriptor.h"
#include "verbs/result.h"

namespace anyrdma::transport::realtime {

/// Owns a mapping of shared memory, and unmaps it in the destructor.
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  /// Creates shared memory of that size, filled with zeros. The memory can never shrink: a process
  /// that reads truncated memory would get SIGBUS. `fd` becomes its descriptor, which is needed
  /// only to pass the memory to another process. Errors: EMFILE, ENFILE, ENOMEM ...
  [[nodiscard]] static verbs::Result<SharedMemory> create(std::size_t size, Descriptor& fd);
  /// Maps shared memory that another process has created. EINVAL: the memory has another size, or
  /// could shrink; also ENOMEM ...
  [[nodiscard]] static verbs::Result<SharedMemory> map(int fd, std::size_t size);

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  /// Returns the memory, and gives up its ownership: it stays mapped until the process ends.
  [[nodiscard]] std::span<std::byte> release() { return std::exchange(bytes_, {}); }

 private:
  explicit SharedMemory(std::span<std::byte> bytes) : bytes_(bytes) {}

  std::span<std::byte> bytes_;
};

}  // namespace anyrdma::transport::realtime
