// What can be said of links without a kernel that has them; the rest is in tests/rxe_vm.
#include "transport/rxe/link.h"

#include <gtest/gtest.h>

#include <string>

namespace anyrdma::transport::rxe {
namespace {

TEST(RxeLink, RefusesNamesThatNoDeviceCanHave) {
  for (const std::string& name :
       {std::string(), std::string("rxe%d"), std::string("a/b"), std::string(".."),
        std::string("with space"), std::string(64, 'x'), std::string("a\0b", 3)}) {
    EXPECT_EQ(add_link(name, "lo").error(), RxeErrc::kBadName) << name;
  }
}

TEST(RxeLink, RefusesNamesThatNoInterfaceCanHave) {
  EXPECT_EQ(add_link("rxe0", "").error(), RxeErrc::kNoInterface);
  EXPECT_EQ(add_link("rxe0", "longer-than-any-interface").error(), RxeErrc::kNoInterface);
}

TEST(RxeLink, IsNotMadeOnAnInterfaceThatIsNotThere) {
  const auto added = add_link("anyrdma-test", "no-such-if");

  ASSERT_FALSE(added);
  EXPECT_TRUE(added.error() == RxeErrc::kNoRdma || added.error() == RxeErrc::kNotPermitted ||
              added.error() == RxeErrc::kNoInterface)
      << added.error().message();
}

TEST(RxeLink, ThatIsNotThereCannotBeRemoved) {
  const auto removed = remove_link("anyrdma-none");

  ASSERT_FALSE(removed);
  EXPECT_TRUE(removed.error() == RxeErrc::kNoRdma || removed.error() == RxeErrc::kNoLink)
      << removed.error().message();
}

TEST(RxeLink, IsNeverMadeOnTheLoopbackInterfaceByItself) {
  const auto interface = suitable_interface();

  if (interface) {
    EXPECT_NE(*interface, "lo");
  } else {
    EXPECT_EQ(interface.error(), RxeErrc::kNoneSuitable);
  }
}

}  // namespace
}  // namespace anyrdma::transport::rxe
