// A bug of each kind. Each test fails and leaves its page, from which alone mistakes_test.py finds
// what is wrong.
#include <gtest/gtest.h>

#include "tests/recording/mistakes.h"

namespace anyrdma::tests {
namespace {

class Planted : public ::testing::Test {
 protected:
  void run() { ASSERT_TRUE(world.run()) << world.stuck_report(); }

  sim::World world{1};
  Mistakes mistakes{world};
};

TEST_F(Planted, Hang) {
  mistakes.forgets_to_acknowledge();
  run();
}

TEST_F(Planted, LostMessage) {
  mistakes.never_hears_of_the_end();
  run();
}

TEST_F(Planted, LostEvent) {
  mistakes.waits_at_the_wrong_channel();
  run();
}

TEST_F(Planted, WrongData) {
  mistakes.reads_too_early();
  run();
}

TEST_F(Planted, IllegalOrder) {
  mistakes.receives_too_late();
  run();
}

}  // namespace
}  // namespace anyrdma::tests
