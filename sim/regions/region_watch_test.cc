#include "sim/regions/region_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <vector>

namespace anyrdma::sim {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using verbs::LostMemory;
using verbs::MemoryCall;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kAt = 0x100000;
constexpr std::uint64_t kRegion = 7;

class RegionWatchTest : public testing::Test {
 protected:
  void lose(std::uint64_t begin, std::uint64_t end, const std::vector<Mapping>& before,
            MemoryCall call = MemoryCall::kMunmap) {
    watch.lose({.begin = begin, .end = end, .call = call}, before, writer);
  }

  RegionWatch watch;
  std::map<std::uint64_t, LostMemory> lost;
  const RegionWatch::OnChange writer = [this](std::uint64_t id, const LostMemory& now) {
    lost[id] = now;
  };
};

TEST_F(RegionWatchTest, OnlyWhatIsInTheRegionIsLost) {
  watch.watch(kRegion, kAt + 100, kAt + 2 * kPage);

  lose(kAt, kAt + kPage, {{.begin = kAt, .end = kAt + kPage}});

  ASSERT_EQ(lost[kRegion].count, 1u);
  EXPECT_EQ(lost[kRegion].find(kAt, kAt + 100), nullptr);
  EXPECT_NE(lost[kRegion].find(kAt + 100, kAt + 101), nullptr);
  EXPECT_EQ(lost[kRegion].find(kAt + kPage, kAt + 2 * kPage), nullptr);
}

TEST_F(RegionWatchTest, MemoryThatIsDeregisteredIsNotWatched) {
  watch.watch(kRegion, kAt, kAt + kPage);
  watch.forget(kRegion);

  lose(kAt, kAt + kPage, {{.begin = kAt, .end = kAt + kPage}});

  EXPECT_THAT(lost, IsEmpty());
  EXPECT_FALSE(watch.touches(kAt, kAt + kPage));
}

TEST_F(RegionWatchTest, HolesAreNotLost) {
  watch.watch(kRegion, kAt, kAt + 4 * kPage);

  lose(kAt, kAt + 4 * kPage, {{.begin = kAt + kPage, .end = kAt + 2 * kPage}});

  EXPECT_EQ(lost[kRegion].find(kAt, kAt + kPage), nullptr);
  EXPECT_NE(lost[kRegion].find(kAt + kPage, kAt + 2 * kPage), nullptr);
}

TEST_F(RegionWatchTest, PagesOfAFileAreBackWhenTheyAreMappedAgain) {
  watch.watch(kRegion, kAt, kAt + kPage);
  const Mapping shared{.begin = kAt, .end = kAt + kPage, .file = "00:01 5", .offset = 2 * kPage};
  lose(kAt, kAt + kPage, {shared});
  EXPECT_TRUE(watch.may_regain());

  Mapping other = shared;
  other.offset = 0;
  watch.regain({other}, writer);
  EXPECT_EQ(lost[kRegion].count, 1u) << "other pages of the file";
  other = shared;
  other.file = "00:01 6";
  watch.regain({other}, writer);
  EXPECT_EQ(lost[kRegion].count, 1u) << "another file";
  // The mapping begins before the region.
  watch.regain({{.begin = kAt - kPage, .end = kAt + kPage, .file = "00:01 5", .offset = kPage}},
               writer);
  EXPECT_EQ(lost[kRegion].count, 0u);
}

TEST_F(RegionWatchTest, PrivatePagesDoNotComeBack) {
  watch.watch(kRegion, kAt, kAt + kPage);
  lose(kAt, kAt + kPage, {{.begin = kAt, .end = kAt + kPage}});

  EXPECT_FALSE(watch.may_regain());
  watch.regain({{.begin = kAt, .end = kAt + kPage}}, writer);

  EXPECT_EQ(lost[kRegion].count, 1u);
}

TEST_F(RegionWatchTest, MorePartsThanItKeepsAreNoHarm) {
  watch.watch(kRegion, kAt, kAt + 100 * kPage);

  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::uint64_t at = kAt + 2 * i * kPage;
    lose(at, at + kPage, {{.begin = at, .end = at + kPage}});
  }

  EXPECT_EQ(lost[kRegion].count, LostMemory::kPartsMost);
}

TEST_F(RegionWatchTest, ALossOfTheSamePagesCountsOnce) {
  watch.watch(kRegion, kAt, kAt + kPage);

  lose(kAt, kAt + kPage, {{.begin = kAt, .end = kAt + kPage}}, MemoryCall::kMremap);
  lose(kAt, kAt + kPage, {{.begin = kAt, .end = kAt + kPage}});

  ASSERT_EQ(lost[kRegion].count, 1u);
  EXPECT_EQ(lost[kRegion].parts[0].call, MemoryCall::kMremap);
}

TEST(MappingsOfAProcess, AreThoseOfTheKernel) {
  const int file = ::memfd_create("pages", 0);
  ASSERT_EQ(::ftruncate(file, 3 * kPage), 0);
  void* const at = ::mmap(nullptr, 2 * kPage, PROT_READ, MAP_SHARED, file, kPage);
  ASSERT_NE(at, MAP_FAILED);
  const auto begin = reinterpret_cast<std::uint64_t>(at);

  const auto found = mappings_of(::getpid(), begin + kPage, begin + 2 * kPage);

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].begin, begin + kPage);
  EXPECT_EQ(found[0].end, begin + 2 * kPage);
  EXPECT_EQ(found[0].offset, 2 * kPage);
  EXPECT_FALSE(found[0].file.empty());
  EXPECT_THAT(mappings_of(-1, 0, ~0ull), IsEmpty());
  ::munmap(at, 2 * kPage);
  ::close(file);
}

}  // namespace
}  // namespace anyrdma::sim
