// The regions that there are and were, by key: the use of a key after its region's end differs from
// the use of a key that never was.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "verbs/lost_memory.h"
#include "verbs/runtime.h"

namespace anyrdma::verbs::soft {

struct PastRegion {
  std::uint32_t key = 0;
  std::size_t length = 0;
  Runtime::Mark began{};
  Runtime::Mark ended{};
  std::string_view call{};  ///< that ended it
};

/// A region that is registered.
struct LiveRegion {
  PastRegion about{};
  LostMemory lost{};  ///< see OwnershipSink::watch_memory
  bool watched = false;
  bool told = false;  ///< a finding has said what the program has done with the memory
};

/// Remembers the last 1,024 that have ended.
class RegionHistory {
 public:
  static constexpr std::size_t kMost = 1024;

  /// The result is valid until the region ends.
  LiveRegion& on_opened(std::uint32_t key, std::size_t length, const Runtime::Mark& mark);
  /// Null: there is no such region.
  [[nodiscard]] LiveRegion* find_live(std::uint32_t key);
  /// Calls `look` with each region that is registered.
  void for_each_live(const std::function<void(LiveRegion&)>& look);
  /// `call` lives for ever.
  void on_ended(std::uint32_t key, std::string_view call, const Runtime::Mark& mark);
  /// The region that had this key last. Null: it has not ended, or is not remembered.
  [[nodiscard]] const PastRegion* find_ended(std::uint32_t key) const;

 private:
  std::unordered_map<std::uint32_t, LiveRegion> live_;
  std::deque<PastRegion> ended_;
};

}  // namespace anyrdma::verbs::soft
