// What becomes of a program's mistake: a line for people, or whoever listens.
#include "verbs/misuse.h"

#include <gtest/gtest.h>

#include "verbs/testing/fake_runtime.h"

namespace anyrdma::verbs {
namespace {

using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

class MisuseReport : public ::testing::Test {
 protected:
  ~MisuseReport() override { listen_for_misuse(nullptr); }
  void report() { report_misuse(runtime_, {"rdma_ack_cm_event", "id 3", "was seen"}); }

  testing::FakeRuntime runtime_;
};

TEST_F(MisuseReport, IsALineThatNamesTheProgramTheCallItsObjectAndTheTime) {
  CaptureStderr();
  report();
  EXPECT_EQ(GetCapturedStderr(),
            "anyrdma: the program's mistake: rdma_ack_cm_event: id 3: was seen (at 0.000000 s)\n");
}

TEST_F(MisuseReport, GoesToWhoeverListensAndIsNotPrintedThen) {
  static std::string heard;
  heard.clear();
  listen_for_misuse([](Runtime&, const Misuse& misuse) {
    heard = to_string(misuse);
    return true;
  });

  CaptureStderr();
  report();

  EXPECT_EQ(GetCapturedStderr(), "");
  EXPECT_EQ(heard, "rdma_ack_cm_event: id 3: was seen");
}

TEST_F(MisuseReport, IsPrintedWhenTheListenerKnowsNothingOfThatRuntime) {
  listen_for_misuse([](Runtime&, const Misuse&) { return false; });

  CaptureStderr();
  report();

  EXPECT_NE(GetCapturedStderr(), "");
}

}  // namespace
}  // namespace anyrdma::verbs
