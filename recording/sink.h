// Destination of a recording. The writer fills a window. A file's window is mapped, so written data
// survives the death of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace anyrdma::recording {

/// Belongs to one writer. Used by one thread at a time.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Returns the next window, of at least kEntryBytesMax zeros, after `used` bytes of the last
  /// window have been written. Empty: the sink is full.
  [[nodiscard]] virtual std::span<std::uint8_t> window(std::size_t used) = 0;
  /// Ends the recording after `used` bytes of the last window.
  virtual void finish(std::size_t used) = 0;
};

/// Keeps the recording in memory, up to a limit; the rest is cut off.
class MemorySink final : public Sink {
 public:
  explicit MemorySink(std::size_t limit) : limit_(limit) {}
  [[nodiscard]] std::span<std::uint8_t> window(std::size_t used) override;
  void finish(std::size_t used) override;
  /// The recording, after finish().
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
  /// Writes an empty file that is open for reading and writing, and closes it at the end.
  [[nodiscard]] static std::unique_ptr<FileSink> of(int file);
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  [[nodiscard]] std::span<std::uint8_t> window(std::size_t used) override;
  void finish(std::size_t used) override;
  /// 0, or the errno because of which the rest was not written.
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
