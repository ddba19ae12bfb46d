// Numbers of the machine's kernel, such as those of inodes and namespaces, as programs see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace anyrdma::sim::programs {

/// Replaces numbers that the machine's kernel gives, which differ from run to run, by numbers in
/// the order in which the programs of a run ask for them.
class Numbers {
 public:
  enum class Kind : std::uint8_t {
    kNamespace,
    kInode,  ///< of sockets, pipes and files that have no name
    kMount,
    kDevice,
    kCookie,  ///< of sockets (SO_COOKIE)
  };
  static constexpr std::size_t kKinds = 5;

  /// Returns the number that programs see in place of `number`: the same one each time.
  [[nodiscard]] std::uint64_t of(Kind kind, std::uint64_t number) {
    // Those of namespaces begin as in a kernel (PROC_DYNAMIC_FIRST).
    constexpr std::uint64_t kFirst[kKinds]{4'026'532'000, 1001, 21, 41, 1};
    const auto index = static_cast<std::size_t>(kind);
    const auto [place, is_new] = seen_.try_emplace({kind, number}, kFirst[index] + count_[index]);
    if (is_new) ++count_[index];
    return place->second;
  }

 private:
  std::map<std::pair<Kind, std::uint64_t>, std::uint64_t> seen_;
  std::uint64_t count_[kKinds]{};
};

}  // namespace anyrdma::sim::programs
