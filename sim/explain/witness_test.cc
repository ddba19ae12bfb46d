// What of a stack a report names.
#include "sim/explain/witness.h"

#include <gtest/gtest.h>

namespace anyrdma::sim::explain {
namespace {

Sight sight(std::vector<std::string> stack) {
  Sight sight{.name = "server/rping", .stack = std::move(stack)};
  summarize(sight);
  return sight;
}

TEST(Sight, NamesTheCallAndItsPlaceInTheProgram) {
  const Sight found = sight({"syscall+0x19 (libc.so.6)", "rdma_disconnect+0x12 (librdmacm.so.1)",
                             "finish+0x8 (rping) rping.c:81", "main+0x4 (rping) rping.c:99"});

  EXPECT_EQ(found.call, "rdma_disconnect");
  EXPECT_EQ(found.place, "finish+0x8 (rping) rping.c:81");
}

TEST(Sight, AnInlineFunctionIsACallOfTheFrameAroundIt) {
  const Sight found = sight({"anyrdma::verbs::soft::observed_poll_cq+0x3f (libanyrdma.so)",
                             "drain+0x12 (rping) verbs.h:2888", "drain+0x2e (rping) rping.c:34"});

  EXPECT_EQ(found.call, "ibv_poll_cq");
  EXPECT_EQ(found.place, "drain+0x2e (rping) rping.c:34");
}

TEST(Sight, AProgramWithoutDebugInformationHasAPlaceToo) {
  const Sight found = sight({"__write+0x4f (libc.so.6)", "__fprintf_chk+0x9f (libc.so.6)",
                             "0x350a (rping)", "0x891f5 (libc.so.6)"});

  EXPECT_EQ(found.call, "__fprintf_chk");
  EXPECT_EQ(found.place, "0x350a (rping)");
}

TEST(Sight, OfALibraryWithLinesThePlaceIsThere) {
  const Sight found =
      sight({"write+0x4 (libc.so.6)", "put+0x5 (libmine.so) mine.c:5", "0x350a (rping)"});

  EXPECT_EQ(found.call, "write");
  EXPECT_EQ(found.place, "put+0x5 (libmine.so) mine.c:5");
}

TEST(Sight, AThreadOfTheDeviceHasNoPlace) {
  const Sight found = sight({"epoll_wait+0x56 (libc.so.6)", "run+0x71 (libanyrdma.so) run.cc:7",
                             "0xd44a3 (libstdc++.so.6.0.30)", "no frame", ""});

  EXPECT_EQ(found.call, "");
  EXPECT_EQ(found.place, "");
}

}  // namespace
}  // namespace anyrdma::sim::explain
