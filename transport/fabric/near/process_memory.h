// The memory of a process as a file, /proc/PID/mem: one open file description, which its process
// gives to another one, and whose position both can move (near_segment.h says what for).
#pragma once

#include <sys/stat.h>
#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <span>

#include "transport/realtime/descriptor.h"

namespace anyrdma::transport::fabric {

/// Not thread-safe. Every use first makes sure that the descriptor is still what it was: a program
/// may have closed descriptors that it does not know, and a file of its own may have the number.
class ProcessMemory {
 public:
  /// No processor has addresses like these, from here on.
  static constexpr std::uint64_t kNowhere = std::uint64_t{1} << 62;

  /// A new description of this process's memory, at that position. nullopt: the system does not
  /// let us (no /proc, no descriptors left, a process that may not be looked into).
  [[nodiscard]] static std::optional<ProcessMemory> open_own(std::uint64_t position);
  /// Takes a descriptor of another process. nullopt: it is not a process's memory.
  [[nodiscard]] static std::optional<ProcessMemory> adopt(realtime::Descriptor fd);

  ~ProcessMemory();
  ProcessMemory(ProcessMemory&& other) noexcept = default;
  ProcessMemory& operator=(ProcessMemory&&) = delete;

  /// To be given away.
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::uint64_t position() const;
  /// Waits until a write() that is under way in any process has ended. False: the descriptor is
  /// lost.
  [[nodiscard]] bool move_to(std::uint64_t position);
  /// At the position, one part after the other, in that order. False: not all could be written, or
  /// read from here; a beginning may have been.
  [[nodiscard]] bool write(std::span<const iovec> parts) const;
  /// From an address, wherever the position is.
  [[nodiscard]] bool read(std::span<const iovec> parts, std::uint64_t address);
  /// In a forked child: closes what the parent goes on using.
  void abandon() { fd_.reset(); }

 private:
  explicit ProcessMemory(realtime::Descriptor fd, const struct stat& status);
  [[nodiscard]] bool is_itself();

  realtime::Descriptor fd_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace anyrdma::transport::fabric
