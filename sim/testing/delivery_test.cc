#include "sim/testing/delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using verbs::Instant;

constexpr DeliveryPromise kTwo{.items = 2, .in_order = true, .recovery = 100ms};

TEST(Delivery, IsSilentWhenEachComesOnceInOrderAndInTime) {
  Delivery delivery(kTwo);
  delivery.sent(0, Instant(1ms));
  delivery.failed(Instant(2ms));
  delivery.delivered(0, Instant(102ms));
  delivery.sent(1, Instant(102ms));
  delivery.delivered(1, Instant(103ms));

  EXPECT_THAT(delivery.problems(), IsEmpty());
  EXPECT_EQ(delivery.last(), Instant(103ms));
}

TEST(Delivery, SaysWhatIsLostAndWhatWasNeverSent) {
  Delivery delivery(kTwo);
  delivery.sent(0, Instant(1ms));
  delivery.delivered(5, Instant(2ms));

  EXPECT_THAT(delivery.problems(), ElementsAre("item 0 was sent at 0.001000000 s and is lost",
                                               "item 5 was delivered at 0.002000000 s and never "
                                               "sent",
                                               "of 2 items only 1 were sent"));
}

TEST(Delivery, SaysWhatComesTwiceAndOutOfOrder) {
  Delivery delivery(kTwo);
  delivery.sent(0, Instant(1ms));
  delivery.sent(1, Instant(1ms));
  delivery.delivered(1, Instant(2ms));
  delivery.delivered(0, Instant(3ms));
  delivery.delivered(1, Instant(4ms));

  EXPECT_THAT(delivery.problems(), ElementsAre("item 1 was delivered at 0.002000000 s and again at "
                                               "0.004000000 s",
                                               "item 0 was delivered after item 1"));
}

TEST(Delivery, WithoutThatPromiseTheOrderIsFree) {
  DeliveryPromise promise = kTwo;
  promise.in_order = false;
  Delivery delivery(promise);
  delivery.sent(0, Instant(1ms));
  delivery.sent(1, Instant(1ms));
  delivery.delivered(1, Instant(2ms));
  delivery.delivered(0, Instant(3ms));

  EXPECT_THAT(delivery.problems(), IsEmpty());
}

TEST(Delivery, SaysWhatComesLate) {
  Delivery delivery(kTwo);
  delivery.sent(0, Instant(1ms));
  delivery.failed(Instant(2ms));
  delivery.delivered(0, Instant(103ms));
  delivery.sent(1, Instant(103ms));
  delivery.delivered(1, Instant(204ms));

  EXPECT_THAT(
      delivery.problems(),
      ElementsAre("item 0 was delivered at 0.103000000 s, 0.101000000 s after the rail failed; "
                  "promised are 0.100000000 s",
                  "item 1 was delivered at 0.204000000 s, 0.101000000 s after it was sent; "
                  "promised are 0.100000000 s"));
}

}  // namespace
}  // namespace anyrdma::sim::testing
