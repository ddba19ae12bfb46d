// The memory of a process as a file, /proc/PID/mem. The process passes the open file description to
// another process, and both can move its file offset. near_segment.h explains why.
#pragma once

#include <sys/stat.h>
#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <span>

#include "transport/realtime/descriptor.h"

namespace anyrdma::transport::fabric {

/// A descriptor for a process's memory. Not thread-safe. Each use first checks that the descriptor
/// still refers to that memory: a program may have closed descriptors that it did not open, and may
/// have opened another file under the same number.
class ProcessMemory {
 public:
  /// A file offset at which no process on any processor has mapped memory.
  static constexpr std::uint64_t kNowhere = std::uint64_t{1} << 62;

  /// Opens a new file description of this process's memory, at the offset `position`. nullopt: the
  /// system does not permit it (no /proc, no free descriptor, or a process that may not be traced).
  [[nodiscard]] static std::optional<ProcessMemory> open_own(std::uint64_t position);
  /// Takes a descriptor that another process has sent. nullopt: the descriptor does not refer to
  /// the memory of a process.
  [[nodiscard]] static std::optional<ProcessMemory> adopt(realtime::Descriptor fd);

  ~ProcessMemory();
  ProcessMemory(ProcessMemory&& other) noexcept = default;
  ProcessMemory& operator=(ProcessMemory&&) = delete;

  /// Returns the descriptor, to be sent to another process.
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::uint64_t position() const;
  /// Moves the file offset. If another process is in write(), waits until that is complete. False:
  /// the descriptor was closed.
  [[nodiscard]] bool move_to(std::uint64_t position);
  /// Writes the parts at the file offset, one after the other. False: not all parts could be
  /// written, or could be read from this process. Some bytes may have been written.
  [[nodiscard]] bool write(std::span<const iovec> parts) const;
  /// Reads the memory at `address`. The file offset does not matter.
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
