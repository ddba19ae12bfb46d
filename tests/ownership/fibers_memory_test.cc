// Memory of fibers that is mapped anew while it is registered: docs/checkers.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "sim/host.h"
#include "sim/mistakes.h"
#include "sim/world.h"
#include "tests/ownership/mistakes.h"

namespace anyrdma {
namespace {

using sim::World;
using sim::WorldOptions;
using testing::HasSubstr;
using testing::StartsWith;

/// A kind of mistake, and the end and the call that its line names.
struct Case {
  const char* kind;
  const char* end;
  const char* call;
};

constexpr std::array kCases{
    Case{"anew", "server", "munmap"},     Case{"over", "server", "mmap"},
    Case{"dropped", "server", "madvise"}, Case{"moved", "server", "mremap"},
    Case{"segment", "server", "shmdt"},   Case{"shared", "server", "mmap"},
    Case{"resent", "client", "mmap"},
};

/// Returns the lines of the mistakes of a run.
std::string mistakes_of(const char* kind, const char* how) {
  WorldOptions options{.ownership = sim::Ownership::kOn};
  options.deny = {"region"};
  World world(1, options);
  for (const char* const role : {"server", "client"}) {
    sim::Host& host =
        world.add_host(role, {std::string(role) == "server" ? "10.0.0.1" : "10.0.0.2"});
    host.spawn("main", [kind, how, role] {
      const std::array arguments{"mistakes", kind, how, role, "10.0.0.1"};
      EXPECT_EQ(run_mistake(static_cast<int>(arguments.size()), arguments.data()), 0);
    });
  }
  (void)world.run();
  return world.mistakes()->lines();
}

class MemoryOfFibers : public testing::TestWithParam<Case> {};

TEST_P(MemoryOfFibers, ThatIsMappedAnewIsFoundInTheFirstRun) {
  const std::string lines = mistakes_of(GetParam().kind, "wrong");

  EXPECT_THAT(lines, StartsWith(std::string("region: ") + GetParam().end));
  EXPECT_THAT(lines, HasSubstr(std::string("memory that the program has mapped anew with ") +
                               GetParam().call + " at "));
}

TEST_P(MemoryOfFibers, ThatIsMappedAnewBeforeItIsRegisteredIsNoMistake) {
  EXPECT_EQ(mistakes_of(GetParam().kind, "right"), "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, MemoryOfFibers, testing::ValuesIn(kCases),
                         [](const auto& each) { return std::string(each.param.kind); });

TEST(MemoryOfFibers, MayBeUnmappedIfTheSamePagesComeBack) {
  EXPECT_EQ(mistakes_of("remapped", "wrong"), "");
}

}  // namespace
}  // namespace anyrdma
