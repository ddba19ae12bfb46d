// The destination of a recording. The writer of the recording fills one window (block of memory)
// after the other. The window of a file is mapped, so written bytes survive the death of the
// process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace anyrdma::recording {

/// The interface to the place of a recording. A sink belongs to one writer, and one thread at a
/// time uses it.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Returns the next window. It has at least kEntryBytesMax bytes, all zero. `used` is the number
  /// of bytes that were written to the last window. Empty: the sink is full.
  [[nodiscard]] virtual std::span<std::uint8_t> window(std::size_t used) = 0;
  /// Ends the recording. `used` is the number of bytes that were written to the last window.
  virtual void finish(std::size_t used) = 0;
};

/// Keeps the recording in memory, up to a limit. Later bytes are dropped.
class MemorySink final : public Sink {
 public:
  explicit MemorySink(std::size_t limit) : limit_(limit) {}
  [[nodiscard]] std::span<std::uint8_t> window(std::size_t used) override;
  void finish(std::size_t used) override;
  /// Returns the bytes of the recording. Call it after finish().
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }

 private:
  std::size_t limit_;
  std::size_t size_ = 0;
  std::vector<std::uint8_t> bytes_;
};

/// Writes a file.
class FileSink final : public Sink {
 public:
  /// Creates or truncates a file. Null on error, with errno.
  [[nodiscard]] static std::unique_ptr<FileSink> create(const std::string& path);
  /// Creates a sink that writes to an empty file, which is open for reading and writing. The sink
  /// closes the file at the end.
  [[nodiscard]] static std::unique_ptr<FileSink> of(int file);
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  [[nodiscard]] std::span<std::uint8_t> window(std::size_t used) override;
  void finish(std::size_t used) override;
  /// Returns 0, or the errno because of which later bytes were not written.
  [[nodiscard]] int error() const { return error_; }

 private:
  explicit FileSink(int file) : file_(file) {}
  void unmap();

  int file_;
  int error_ = 0;
  std::size_t size_ = 0;            ///< of what is in use
  std::uint8_t* mapped_ = nullptr;  ///< null: nothing is
  std::size_t mapped_bytes_ = 0;
};

}  // namespace anyrdma::recording
