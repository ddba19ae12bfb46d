// The regions that there are and were, by key: the use of a key after its region's end differs from
// the use of a key that never was.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "verbs/runtime.h"

namespace anyrdma::verbs::soft {

struct PastRegion {
  std::uint32_t key = 0;
  std::size_t length = 0;
  Runtime::Mark began{};
  Runtime::Mark ended{};
  std::string_view call{};  ///< that ended it
};

/// Remembers the last 1,024 that have ended.
class RegionHistory {
 public:
  static constexpr std::size_t kMost = 1024;

  void on_opened(std::uint32_t key, std::size_t length, const Runtime::Mark& mark);
  /// `call` lives for ever.
  void on_ended(std::uint32_t key, std::string_view call, const Runtime::Mark& mark);
  /// The region that had this key last. Null: it has not ended, or is not remembered.
  [[nodiscard]] const PastRegion* find_ended(std::uint32_t key) const;

 private:
  std::unordered_map<std::uint32_t, PastRegion> live_;
  std::deque<PastRegion> ended_;
};

}  // namespace anyrdma::verbs::soft
