// Pages of this process that others map: those of registered memory, moved into a memfd where they
// stand. The application notices nothing, except a fork's child, for whom copy_for_child() makes
// them private again.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "transport/fabric/near_segment.h"

namespace anyrdma::transport::fabric {

/// Not thread-safe. Nobody else uses the memory that a call is about, except threads of this
/// process, which it may hold up.
class SharedPages {
 public:
  /// Pages of `fd`, which outlives it, from `first` on: the file's size. Where the system has no
  /// WriteHold, pages are exchanged only while the process has no threads but the caller's and one
  /// for each instance, its station's.
  SharedPages(int fd, std::uint64_t first);
  ~SharedPages();
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  /// Shares what can be of [begin, end): whole pages of private anonymous memory that can be read
  /// and written. Ascending; no more than kNearRanges. Each is to be released once.
  [[nodiscard]] std::vector<NearRange> share(std::uint64_t begin, std::uint64_t end);
  /// Makes pages private again that no range is left for.
  void release(const std::vector<NearRange>& ranges);
  /// Whether any page may be shared.
  [[nodiscard]] bool any() const { return !extents_.empty(); }
  /// In a forked child: what is mapped here, from anybody's sharing, becomes the child's own.
  void copy_for_child() const;

 private:
  /// Pages that were moved together, by their place in the file.
  struct Extent {
    std::uint64_t size = 0;
    std::uint32_t users = 0;
  };

  [[nodiscard]] bool is_ours(const struct Mapping& mapping) const;
  [[nodiscard]] std::uint64_t move_in(std::uint64_t begin, std::uint64_t end, NearRange& range);
  [[nodiscard]] bool move_out(std::uint64_t at, std::uint64_t size) const;
  void use(const NearRange& range, int change);
  void sweep();
  [[nodiscard]] std::uint64_t allocate(std::uint64_t size);
  void free(std::uint64_t at, std::uint64_t size);

  int fd_;
  std::uint64_t inode_ = 0;
  dev_t device_ = 0;
  std::uint64_t file_size_;
  std::uint64_t end_;                            ///< of what was ever allocated
  std::map<std::uint64_t, Extent> extents_;      ///< by place
  std::map<std::uint64_t, std::uint64_t> free_;  ///< size by place
};

}  // namespace anyrdma::transport::fabric
