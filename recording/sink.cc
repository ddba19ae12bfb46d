#include "recording/sink.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "recording/format.h"

namespace anyrdma::recording {
namespace {

constexpr std::size_t kMemoryStep = 2 * kEntryBytesMax;
constexpr std::size_t kFileStep = std::size_t{1} << 20;

}  // namespace

// --- memory -------------------------------------------------------------------------------------

std::span<std::uint8_t> MemorySink::window(std::size_t used) {
  size_ += used;
  if (size_ + kMemoryStep > limit_) return {};
  // The vector doubles by itself; one window follows the other without a gap.
  bytes_.resize(size_ + kMemoryStep);
  return {bytes_.data() + size_, kMemoryStep};
}

void MemorySink::finish(std::size_t used) {
  size_ += used;
}

// --- file ---------------------------------------------------------------------------------------

std::unique_ptr<FileSink> FileSink::create(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return nullptr;
  return of(file);
}

std::unique_ptr<FileSink> FileSink::of(int file) {
  return std::unique_ptr<FileSink>(new FileSink(file));
}

FileSink::~FileSink() {
  unmap();
  ::close(file_);
}

void FileSink::unmap() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
  mapped_ = nullptr;
}

std::span<std::uint8_t> FileSink::window(std::size_t used) {
  size_ += used;
  unmap();
  if (error_ != 0) return {};
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = size_ / page * page;
  mapped_bytes_ = kFileStep + page;
  // With blocks behind it: writing to a mapped hole of a full disk would be SIGBUS.
  error_ = ::posix_fallocate(file_, static_cast<off_t>(begin), static_cast<off_t>(mapped_bytes_));
  if (error_ != 0) return {};
  void* const mapped = ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                              static_cast<off_t>(begin));
  if (mapped == MAP_FAILED) {
    error_ = errno;
    return {};
  }
  mapped_ = static_cast<std::uint8_t*>(mapped);
  return {mapped_ + (size_ - begin), kFileStep};
}

void FileSink::finish(std::size_t used) {
  size_ += used;
  unmap();
  if (::ftruncate(file_, static_cast<off_t>(size_)) != 0 && error_ == 0) error_ = errno;
}

}  // namespace anyrdma::recording
