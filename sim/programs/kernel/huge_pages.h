// Huge pages of simulated hosts: ordinary memory at aligned addresses. Source: mmap(2), shmget(2),
// memfd_create(2), Linux's Documentation/admin-guide/mm/hugetlbpage.rst.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim {
class Host;
}

namespace anyrdma::sim::programs {

/// The pools of huge pages of all hosts in a world. Each host has Options::pages pages
/// of 2 MiB. A request for more, or for pages of 1 GiB, fails with ENOMEM. Pages are counted when
/// they are mapped, and are free again when they are unmapped or their process has ended. Used
/// by the thread that runs the world.
class HugePages {
 public:
  static constexpr std::uint64_t kBytes = 2 << 20;  ///< of a page

  /// The pool of each host, and what follows it.
  struct Options {
    unsigned pages = 0;  ///< of each host
    /// Called when the number of free pages of a host may have changed. May be empty.
    std::function<void(const Host&, unsigned free)> on_change{};
  };

  HugePages(Supervisor& supervisor, Options options)
      : supervisor_(supervisor), options_(std::move(options)) {}

  [[nodiscard]] Outcome on_mmap(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_shmget(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_shmat(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_shmctl(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_memfd_create(Thread& thread, const Call& call);
  /// The last thread of a process has gone.
  void on_process_gone(const Process& process);
  /// Whether there are files that memfd_create(2) created with MFD_HUGETLB.
  [[nodiscard]] bool has_files() const { return !files_.empty(); }
  /// Whether it is such a file.
  [[nodiscard]] bool is_huge(const Descriptor& descriptor) const;

 private:
  struct Range {
    const Process* process = nullptr;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  [[nodiscard]] Outcome map(Thread& thread, const Call& call, Call plain, std::uint64_t bytes);
  [[nodiscard]] bool has_room(const Thread& thread, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t used_on(const Host& host);
  void tell(const Host& host);

  Supervisor& supervisor_;
  Options options_;
  std::vector<Range> ranges_;                                    ///< that were mapped
  std::map<std::pair<const Host*, int>, std::uint64_t> shared_;  ///< bytes, by System V id
  std::set<std::pair<dev_t, ino_t>> files_;                      ///< of memfd_create(2)
};

}  // namespace anyrdma::sim::programs
