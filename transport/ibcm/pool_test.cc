#include "transport/ibcm/pool.h"

#include <gtest/gtest.h>

namespace anyrdma::ibcm {
namespace {

TEST(Pool, GivesOutWhatCameBackBeforeAnythingNew) {
  Pool<int> pool;
  int& first = pool.take();
  int& second = pool.take();
  EXPECT_NE(&first, &second);

  pool.give_back(first);

  EXPECT_EQ(pool.in_use(), 1u);
  EXPECT_EQ(&pool.take(), &first);
  EXPECT_EQ(pool.in_use(), 2u);
}

TEST(Pool, KeepsObjectsInPlaceWhileItGrows) {
  Pool<int> pool;
  int& first = pool.take();
  first = 7;

  for (int i = 0; i < 1000; ++i) pool.take() = i;

  EXPECT_EQ(first, 7);
}

}  // namespace
}  // namespace anyrdma::ibcm
