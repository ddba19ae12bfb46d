// What can be said without root; the rest is in tests/rxe_vm.
#include "transport/rxe/interface.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace anyrdma::transport::rxe {
namespace {

using namespace std::chrono_literals;

TEST(Interface, ThatIsNotThereIsSaidToBe) {
  EXPECT_EQ(add_address("no-such-if", "192.0.2.1/24").error(), RxeErrc::kNoInterface);
  EXPECT_EQ(remove_address("no-such-if", "192.0.2.1/24").error(), RxeErrc::kNoInterface);
  EXPECT_EQ(impair("no-such-if", {}).error(), RxeErrc::kNoInterface);
  EXPECT_EQ(repair("no-such-if").error(), RxeErrc::kNoInterface);
}

TEST(Interface, RefusesAnAddressThatIsNone) {
  EXPECT_EQ(add_address("lo", "nonsense").error().value(), EINVAL);
  EXPECT_EQ(remove_address("lo", "").error().value(), EINVAL);
}

TEST(Interface, RefusesAnImpossibleImpairment) {
  EXPECT_EQ(impair("lo", {.loss = -0.1}).error().value(), EINVAL);
  EXPECT_EQ(impair("lo", {.loss = 1.1}).error().value(), EINVAL);
  EXPECT_EQ(impair("lo", {.delay = -1us}).error().value(), EINVAL);
  EXPECT_EQ(impair("lo", {.jitter = 24h}).error().value(), EINVAL);
}

}  // namespace
}  // namespace anyrdma::transport::rxe
