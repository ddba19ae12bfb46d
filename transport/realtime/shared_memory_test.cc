#include "transport/realtime/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace anyrdma::transport::realtime {
namespace {

constexpr std::size_t kBytes = 65536;

TEST(SharedMemoryTest, WhatCouldShrinkOrHasAnotherSizeIsNotMapped) {
  Descriptor good;
  ASSERT_TRUE(SharedMemory::create(kBytes, good));
  EXPECT_EQ(SharedMemory::map(good.get(), 2 * kBytes).error().value(), EINVAL);
  EXPECT_NE(::ftruncate(good.get(), 0), 0);

  const Descriptor unsealed(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unsealed.get(), kBytes), 0);
  EXPECT_EQ(SharedMemory::map(unsealed.get(), kBytes).error().value(), EINVAL);

  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const Descriptor in(pipe[0]);
  const Descriptor out(pipe[1]);
  EXPECT_EQ(SharedMemory::map(in.get(), kBytes).error().value(), EINVAL);
  EXPECT_EQ(SharedMemory::map(-1, kBytes).error().value(), EINVAL);
}

}  // namespace
}  // namespace anyrdma::transport::realtime
