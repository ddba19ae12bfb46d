// A plan in a file, reduced to what is for one program, and what is said of one that cannot be.
#include "transport/open/fault_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <ostream>
#include <string>

#include "transport/open/real.h"

namespace anyrdma::transport {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

constexpr const char* kBoth =
    "# one for each\n"
    "on server request 1: reject 28\n"
    "on client call connect 1: fail ENOMEM\n";

verbs::OrWhyNot<HostPlan> parsed(const std::string& text, const std::string& host = "",
                                 const std::string& transport = "fabric") {
  return parse_fault_file("a.plan", text, host, fault_abilities(transport, 1));
}

TEST(FaultFile, GivesEachHostItsPart) {
  EXPECT_EQ(parsed(kBoth, "server")->plan.to_string(), "on server request 1: reject 28\n");
  EXPECT_EQ(parsed(kBoth, "client")->plan.to_string(), "on client call connect 1: fail ENOMEM\n");
}

TEST(FaultFile, MayHaveNothingForTheHost) {
  const auto part = *parsed(kBoth, "observer");

  EXPECT_TRUE(part.plan.faults.empty());
  EXPECT_EQ(part.host, "observer");
  EXPECT_THAT(part.hosts, ElementsAre("client", "server"));
}

TEST(FaultFile, NeedsNoNameWhereThereIsOnlyOne) {
  EXPECT_EQ(parsed("on server request 1: reject 28")->host, "server");
  EXPECT_EQ(
      parsed("{\"faults\": [{\"when\": {\"on\": \"request\", \"host\": \"s\", \"occurrence\": 1},"
             "\"then\": {\"do\": \"overflow\"}}]}")
          ->host,
      "s");
}

struct Wrong {
  std::string text;
  std::string sentence;
};
void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.text;
}

class FaultFileRefused : public ::testing::TestWithParam<Wrong> {};

TEST_P(FaultFileRefused, WithTheLineAndASentence) {
  const auto part = parsed(GetParam().text);

  ASSERT_FALSE(part);
  EXPECT_THAT(part.error().sentence, StartsWith(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(
    Each, FaultFileRefused,
    ::testing::Values(
        Wrong{"", "The fault plan a.plan has no fault."},
        Wrong{"# nothing\n", "The fault plan a.plan has no fault."},
        Wrong{"{\"faults\": []}", "The fault plan a.plan has no fault."},
        Wrong{"\n\non s request 1: rejekt", "The fault plan a.plan is invalid: line 3: "},
        Wrong{"# c\non s request 1: overflow\nat 1s: return s anyrdma0",
              "The fault plan a.plan is invalid: line 3: over fabric 'return' is not possible."},
        Wrong{"{\"faults\": [{}]}", "The fault plan a.plan is invalid: line 1: "},
        Wrong{kBoth,
              "The fault plan a.plan is invalid: line 2: the plan names several hosts (client, "
              "server): say which one the program is (--host NAME)."}));

TEST(FaultFile, IsRefusedWhereTheTransportCannot) {
  EXPECT_TRUE(parsed("on s request 1: overflow", "s", "udp"));
  EXPECT_FALSE(parsed("on s request 1: overflow", "s", "ucma"));
}

TEST(FaultFile, IsReadOrItIsSaidWhyNot) {
  const std::string path = ::testing::TempDir() + "read.plan";
  std::ofstream(path) << kBoth;

  EXPECT_EQ(read_fault_file(path, "server", fault_abilities("fabric", 1))->plan.faults.size(), 1u);
  EXPECT_EQ(read_fault_file("/no/file", "server", fault_abilities("fabric", 1)).error().sentence,
            "The fault plan /no/file cannot be read: No such file or directory. Check the path.");
}

}  // namespace
}  // namespace anyrdma::transport
