// The memory of a process as a file, /proc/PID/mem. The process passes the open file description to
// another process, and both can move its offset (near_segment.h says why).
#pragma once

#include <sys/stat.h>
#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <span>

#include "transport/realtime/descriptor.h"

namespace anyrdma::transport::fabric {

/// A descriptor for a process's memory. Not thread-safe. Each use first checks that the descriptor
/// still refers to that file: a program may have closed descriptors that it does not know, and
/// opened another file with the same number.
class ProcessMemory {
 public:
  /// An offset that no process has mapped, on any processor.
  static constexpr std::uint64_t kNowhere = std::uint64_t{1} << 62;

  /// Opens a new description of this process's memory at that offset. nullopt: the system does not
  /// permit it (no /proc, no free descriptor, a process that may not be traced).
  [[nodiscard]] static std::optional<ProcessMemory> open_own(std::uint64_t position);
  /// Takes a descriptor that another process sent. nullopt: it does not refer to a process's
  /// memory.
  [[nodiscard]] static std::optional<ProcessMemory> adopt(realtime::Descriptor fd);

  ~ProcessMemory();
  ProcessMemory(ProcessMemory&& other) noexcept = default;
  ProcessMemory& operator=(ProcessMemory&&) = delete;

  /// Returns the descriptor, to be sent to another process.
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::uint64_t position() const;
  /// Moves the offset. Waits until a write() that another process has begun is complete. False: the
  /// descriptor was closed.
  [[nodiscard]] bool move_to(std::uint64_t position);
  /// Writes the parts at the offset, one after the other. False: not all parts could be written, or
  /// read from this process; some bytes may have been written.
  [[nodiscard]] bool write(std::span<const iovec> parts) const;
  /// Reads from an address; the offset does not matter.
  [[nodiscard]] bool read(std::span<const iovec> parts, std::uint64_t address);
  /// Call in a forked child: closes the descriptor, which the parent continues to use.
  void abandon() { fd_.reset(); }

 private:
  explicit ProcessMemory(realtime::Descriptor fd, const struct stat& status);
  [[nodiscard]] bool is_itself();

  realtime::Descriptor fd_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace anyrdma::transport::fabric
