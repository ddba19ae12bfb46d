// Facts about the machine that are not hidden: the page lists them, and each is named once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <string>
#include <string_view>
#include <vector>

#include "sim/programs/kernel/machine_facts.h"
#include "sim/programs/syscalls/system_calls.h"
#include "sim/programs/syscalls/table_on_page.h"

namespace anyrdma::sim::programs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string table_of_page() {
  std::string text =
      "| what differs | how a program sees it | `--strict` notices |\n|---|---|---|\n";
  for (const MachineFact& each : machine_facts()) {
    const std::string_view named = each.named.empty() ? "nothing" : each.named;
    text += "| " + std::string(each.what) + " | " + std::string(each.seen) + " | " +
            std::string(named) + " |\n";
  }
  return text;
}

/// `bazel run //sim/programs/syscalls:facts_test` writes the page.
TEST(MachineFacts, AreOnThePageOfLimits) {
  expect_on_page("docs/limits.md", "facts", table_of_page());
}

TEST(MachineFacts, AreAskedForByCallsThatHaveARow) {
  for (const MachineFact& each : machine_facts()) {
    for (const int call : each.calls) EXPECT_NE(find_system_call(call), nullptr) << each.what;
    EXPECT_TRUE(!each.named.empty() || (each.calls.empty() && each.files.empty())) << each.what;
  }
}

/// What was said.
class Asked : public ::testing::Test {
 protected:
  std::vector<std::string> said_;
  FactsAsked facts_{[this](std::string_view text) { said_.emplace_back(text); }};
};

TEST_F(Asked, EachFactIsNamedOnceAProgram) {
  for (const char* const program : {"a/one", "a/one", "b/one"})
    facts_.note_call(program, SYS_getuid, "getuid");
  facts_.note_call("a/one", SYS_getegid, "getegid");
  EXPECT_THAT(said_, ElementsAre("a/one asks for what differs between machines: the user and the "
                                 "capabilities of the command (getuid). See docs/limits.md.",
                                 HasSubstr("b/one asks")));
  EXPECT_FALSE(facts_.is_new("a/one", Fact::kUser));
  EXPECT_TRUE(facts_.is_new("c/one", Fact::kUser));
}

TEST_F(Asked, FilesOfProcessesAreKnownByAllTheirPaths) {
  for (const char* const path : {"/proc/2/limits", "/3/limits", "/proc/2/task/4/limits"})
    facts_.note_file(std::string("of ") + path, path);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("(/proc/2/limits)"), HasSubstr("(/proc/3/limits)"),
                                 HasSubstr("(/proc/2/task/4/limits)")));
}

TEST_F(Asked, OtherFilesAreNotNamed) {
  for (const char* const path :
       {"", "/", "/limits", "/proc/limits", "/proc/x/limits", "/proc/2/", "/proc/2", "/2/cpuinfo",
        "/proc/2/task/4", "/proc/2/task/", "/proc/2/comm", "/proc/2/net/limits"})
    facts_.note_file("a/one", path);
  facts_.note_call("a/one", SYS_getpid, "getpid");
  facts_.note_call("a/one", -1, "");
  EXPECT_THAT(said_, IsEmpty());
}

TEST(FactsAsked, NamesNothingWithoutAListener) {
  FactsAsked facts{{}};
  facts.note("a/one", Fact::kUser, "getuid");
  EXPECT_FALSE(facts.are_named());
  EXPECT_FALSE(facts.is_new("a/one", Fact::kUser));
}

}  // namespace
}  // namespace anyrdma::sim::programs
