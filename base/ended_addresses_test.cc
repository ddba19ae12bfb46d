#include "base/ended_addresses.h"

#include <gtest/gtest.h>

#include <array>

namespace anyrdma::base {
namespace {

TEST(EndedAddresses, HasWhatEndedUntilItIsAnObjectAgain) {
  EndedAddresses ended;
  const int object = 0;
  EXPECT_FALSE(ended.has(&object));
  ended.add(&object);
  ended.add(&object);
  EXPECT_TRUE(ended.has(&object));
  ended.remove(&object);
  EXPECT_FALSE(ended.has(&object));
}

TEST(EndedAddresses, ForgetsTheOldestOnes) {
  EndedAddresses ended;
  const std::array<char, 65> objects{};
  for (const char& each : objects) ended.add(&each);
  EXPECT_FALSE(ended.has(&objects.front()));
  EXPECT_TRUE(ended.has(&objects[1]));
  EXPECT_TRUE(ended.has(&objects.back()));
}

}  // namespace
}  // namespace anyrdma::base
