#include "verbs/soft/digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "verbs/soft/handle_table.h"

namespace anyrdma::verbs::soft {
namespace {

class DigestTest : public ::testing::Test {
 protected:
  explicit DigestTest(std::size_t size = 200'000) : bytes_(size) {
    region_ = memory_.add(&pd_, bytes_.data(), bytes_.size(),
                          reinterpret_cast<std::uintptr_t>(bytes_.data()), 0, 10);
  }
  [[nodiscard]] ibv_sge piece(std::size_t at, std::uint32_t length) const {
    return {reinterpret_cast<std::uintptr_t>(bytes_.data()) + at, length, region_->lkey};
  }
  [[nodiscard]] std::optional<std::uint64_t> digest(std::vector<ibv_sge> list) const {
    std::uint64_t length = 0;
    for (const ibv_sge& each : list) length += each.length;
    return digest_of(memory_, &pd_, list, length);
  }

  HandleTable handles_;
  MemoryTable memory_{&handles_};
  ibv_pd pd_{};
  std::vector<std::uint8_t> bytes_;
  SoftMr* region_;
};

TEST_F(DigestTest, EachByteCounts) {
  const std::vector<ibv_sge> list{piece(0, 100), piece(300, 77)};
  const auto before = digest(list);
  for (const std::size_t at : {0u, 31u, 64u, 99u, 300u, 376u}) {
    bytes_[at] ^= 0x40;
    EXPECT_NE(digest(list), before) << at;
    bytes_[at] ^= 0x40;
  }
  EXPECT_EQ(digest(list), before);
}

TEST_F(DigestTest, BytesBesideTheListDoNot) {
  const std::vector<ibv_sge> list{piece(10, 100)};
  const auto before = digest(list);
  bytes_[9] = bytes_[110] = 1;
  EXPECT_EQ(digest(list), before);
}

TEST_F(DigestTest, OfALongMessageTheFirstAndTheLastBytesCount) {
  const std::vector<ibv_sge> list{piece(0, 150'000)};
  const auto before = digest(list);
  for (const std::size_t at : {0u, 1023u, 149'999u}) {
    bytes_[at] ^= 1;
    EXPECT_NE(digest(list), before) << at;
    bytes_[at] ^= 1;
  }
}

TEST_F(DigestTest, AListOfAKeyThatIsOverHasNone) {
  const std::vector<ibv_sge> list{piece(0, 8)};
  memory_.remove(region_);
  EXPECT_EQ(digest(list), std::nullopt);
}

TEST_F(DigestTest, MemoryThatIsNotMappedHasNone) {
  memory_.set_guard([](void (*)(void*), void*) { return false; });
  EXPECT_EQ(digest({piece(0, 8)}), std::nullopt);
}

TEST_F(DigestTest, AMessageWithoutBytesHasOne) {
  EXPECT_NE(digest({}), std::nullopt);
  EXPECT_NE(digest({piece(0, 0)}), std::nullopt);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
