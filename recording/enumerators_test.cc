#include "recording/enumerators.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <utility>

namespace anyrdma::recording {
namespace {

Entry with(EntryKind kind, std::size_t field, std::uint64_t number) {
  Entry entry{.kind = kind};
  entry.numbers[field] = number;
  return entry;
}

struct Limit {
  EntryKind kind;
  std::size_t field;
  std::uint64_t last;
};
constexpr Limit kLimits[] = {{EntryKind::kQueued, 3, RDMA_CM_EVENT_TIMEWAIT_EXIT},
                             {EntryKind::kFetched, 2, RDMA_CM_EVENT_TIMEWAIT_EXIT},
                             {EntryKind::kOpened, 2, IBV_QPT_DRIVER},
                             {EntryKind::kPath, 5, IBV_MTU_4096},
                             {EntryKind::kCompleted, 4, IBV_WC_TM_RNDV_INCOMPLETE}};

TEST(Enumerators, AreKnownUpToTheLastOne) {
  for (const auto& [kind, field, last] : kLimits) {
    EXPECT_TRUE(has_known_enumerators(with(kind, field, 0)));
    EXPECT_TRUE(has_known_enumerators(with(kind, field, last)));
    EXPECT_FALSE(has_known_enumerators(with(kind, field, last + 1)));
    EXPECT_FALSE(
        has_known_enumerators(with(kind, field, std::numeric_limits<std::uint64_t>::max())));
  }
}

TEST(Enumerators, OtherNumbersMayBeAny) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [kind, field, last] : kLimits)
    EXPECT_TRUE(has_known_enumerators(with(kind, 1, kMost)));
  EXPECT_TRUE(has_known_enumerators(with(EntryKind::kKey, 2, kMost)));
}

}  // namespace
}  // namespace anyrdma::recording
