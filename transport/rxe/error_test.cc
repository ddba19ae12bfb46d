#include "transport/rxe/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace anyrdma::transport::rxe {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

boost::system::error_code of_kernel(int number) {
  return {number, boost::system::generic_category()};
}

TEST(RxeError, EachHasASentenceAndAnErrno) {
  for (int i = 1; i <= static_cast<int>(RxeErrc::kNoNetem); ++i) {
    const auto error = make_error_code(static_cast<RxeErrc>(i));
    EXPECT_NE(error.message(), "unknown error of Soft-RoCE");
    EXPECT_EQ(error.default_error_condition().category(), boost::system::generic_category());
    const std::string sentence = explain(error, "rxe0", "eth0");
    EXPECT_GT(sentence.size(), 60u) << sentence;
    EXPECT_THAT(sentence, EndsWith("."));
  }
}

TEST(RxeError, SentencesNameWhatIsConcerned) {
  EXPECT_THAT(explain(RxeErrc::kNameTaken, "rxe0", "eth0"), HasSubstr("'rxe0'"));
  EXPECT_THAT(explain(RxeErrc::kInterfaceTaken, "rxe0", "eth0"), HasSubstr("'eth0'"));
  EXPECT_THAT(explain(RxeErrc::kNoInterface, "rxe0", "eth9"), HasSubstr("'eth9'"));
}

TEST(RxeError, OtherRefusalsOfTheKernelAreWordedByItsErrno) {
  EXPECT_THAT(explain(of_kernel(EBUSY), "rxe0", "eth0"), HasSubstr("'eth0': Device or resource"));
  EXPECT_THAT(explain(of_kernel(EBUSY), "rxe0"), HasSubstr("'rxe0': Device or resource"));
  EXPECT_THAT(explain(of_kernel(EBUSY), ""), HasSubstr("Soft-RoCE: Device or resource"));
}

// Measured on Linux 6.1.
TEST(RxeError, OfAddingALinkIsWhatTheKernelMeans) {
  EXPECT_EQ(what_adding_met(of_kernel(EPERM)), RxeErrc::kNotPermitted);
  EXPECT_EQ(what_adding_met(of_kernel(EINVAL)), RxeErrc::kNoModule);
  EXPECT_EQ(what_adding_met(of_kernel(ENOENT)), RxeErrc::kNoChecksum);
  EXPECT_EQ(what_adding_met(of_kernel(ENODEV)), RxeErrc::kNoInterface);
  EXPECT_EQ(what_adding_met(of_kernel(ENFILE)), RxeErrc::kNameTaken);
  EXPECT_EQ(what_adding_met(of_kernel(EEXIST)), RxeErrc::kInterfaceTaken);
  EXPECT_EQ(what_adding_met(of_kernel(ENOMEM)), of_kernel(ENOMEM));
}

TEST(RxeError, OfRemovingALinkIsWhatTheKernelMeans) {
  EXPECT_EQ(what_removing_met(of_kernel(EPERM)), RxeErrc::kNotPermitted);
  EXPECT_EQ(what_removing_met(of_kernel(EINVAL)), RxeErrc::kNotSoftware);
  EXPECT_EQ(what_removing_met(of_kernel(ENODEV)), RxeErrc::kNoLink);
  EXPECT_EQ(what_removing_met(of_kernel(ENOMEM)), of_kernel(ENOMEM));
}

}  // namespace
}  // namespace anyrdma::transport::rxe
