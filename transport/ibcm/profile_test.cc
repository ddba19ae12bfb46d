#include "transport/ibcm/profile.h"

#include <gtest/gtest.h>

namespace anyrdma::ibcm {
namespace {

using namespace std::chrono_literals;

constexpr verbs::Duration request_wait(const Profile& profile) {
  return 2 * from_exponent(profile.packet_lifetime) + from_exponent(profile.cm_response_timeout);
}

constexpr verbs::Duration until_unreachable(const Profile& profile) {
  const verbs::Duration wait = request_wait(profile);
  return timer_wait(profile, wait, WaitStart::kAnyTime) +
         profile.retries_max * timer_wait(profile, wait, WaitStart::kOnExpiry);
}

TEST(Profile, SixteenRequestsTakeAsLongAsMeasured) {
  EXPECT_EQ(request_wait(kLinux61), 6144ms);
  EXPECT_EQ(until_unreachable(kLinux61), 102200ms);
}

TEST(Profile, SixteenRequestsOfTheNewerKernelFollowTheFormula) {
  EXPECT_EQ(request_wait(kLinux617), 4608ms);
  EXPECT_EQ(until_unreachable(kLinux617), 73728ms);
}

TEST(Profile, ExponentsBelowAMillisecondAreOne) {
  EXPECT_EQ(from_exponent(0), 1ms);
  EXPECT_EQ(from_exponent(8), 1ms);
  EXPECT_EQ(from_exponent(9), 2ms);
  EXPECT_EQ(from_exponent(24), 65536ms);
}

// The levels of a 250 Hz wheel start at 252 ms, 2.016 s, 16.128 s.
TEST(Profile, TheWheelIsCoarserForLongerWaits) {
  EXPECT_EQ(timer_granularity(kLinux61, 251ms), 4ms);
  EXPECT_EQ(timer_granularity(kLinux61, 252ms), 32ms);
  EXPECT_EQ(timer_granularity(kLinux61, 2015ms), 32ms);
  EXPECT_EQ(timer_granularity(kLinux61, 2016ms), 256ms);
  EXPECT_EQ(timer_granularity(kLinux61, 16127ms), 256ms);
  EXPECT_EQ(timer_granularity(kLinux61, 16128ms), 2048ms);
  EXPECT_EQ(timer_granularity(kLinux617, 16128ms), 0ms);
}

// One long and one short end of every branch of cm_ack_timeout.
TEST(Profile, AckTimeoutCoversPathAndAdapter) {
  EXPECT_EQ(ack_timeout(15, 18), 19);
  EXPECT_EQ(ack_timeout(18, 18), 20);
  EXPECT_EQ(ack_timeout(16, 16), 18);
  EXPECT_EQ(ack_timeout(20, 18), 21);
  EXPECT_EQ(ack_timeout(25, 18), 25);
  EXPECT_EQ(ack_timeout(31, 31), 31);
}

}  // namespace
}  // namespace anyrdma::ibcm
