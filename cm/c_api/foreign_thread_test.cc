// C programs on simulated hosts that start threads: the calls of those are refused, with a
// sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <string>
#include <thread>

#include "sim/world.h"

namespace anyrdma::c_api {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// What a call of another thread gives: 0 or errno.
template <class Call>
int elsewhere(Call&& call) {
  int error = 0;
  std::thread([&] {
    errno = 0;
    if (call()) return;
    error = errno;
  }).join();
  return error;
}

class ForeignThread : public ::testing::Test {
 protected:
  sim::World world{1};
  sim::Host& host = world.add_host("host", {"10.0.0.1"});
};

TEST_F(ForeignThread, ACallOnWhatAFiberHasIsRefusedAndChangesNothing) {
  ::testing::internal::CaptureStderr();
  host.spawn("main", [] {
    rdma_event_channel* channel = rdma_create_event_channel();
    rdma_cm_id* id = nullptr;
    ASSERT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
    rdma_cm_event* event = nullptr;
    rdma_cm_id* other = nullptr;

    EXPECT_EQ(elsewhere([&] { return rdma_get_cm_event(channel, &event) == 0; }), EPERM);
    EXPECT_EQ(elsewhere([&] { return rdma_create_id(channel, &other, nullptr, RDMA_PS_TCP) == 0; }),
              EPERM);
    EXPECT_EQ(elsewhere([&] { return rdma_listen(id, 1) == 0; }), EPERM);
    EXPECT_EQ(elsewhere([&] { return rdma_destroy_id(id) == 0; }), EPERM);
    EXPECT_EQ(elsewhere([&] { return rdma_destroy_event_channel(channel), errno == 0; }), EPERM);

    EXPECT_EQ(rdma_listen(id, 1), 0);
    EXPECT_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
  });

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("a call was refused (EPERM): it came from another thread than the one "
                        "that runs the simulated world."));
}

TEST_F(ForeignThread, NewThingsOfAThreadAreOfNoHost) {
  ::testing::internal::CaptureStderr();
  host.spawn("main", [] {
    EXPECT_EQ(elsewhere([] { return rdma_create_event_channel() != nullptr; }), ENODEV);
    EXPECT_EQ(elsewhere([] { return ibv_get_device_list(nullptr) != nullptr; }), ENODEV);
  });

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("from a thread that one of them has started"));
}

TEST_F(ForeignThread, AWorldThatRestsMayBeUsedByAnother) {
  host.spawn("main", [this] { host.sleep(1s); });

  std::thread([this] { EXPECT_TRUE(world.run()); }).join();

  host.spawn("main", [this] { host.sleep(1s); });
  EXPECT_TRUE(world.run());
}

}  // namespace
}  // namespace anyrdma::c_api
