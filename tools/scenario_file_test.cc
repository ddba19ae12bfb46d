// What a scenario's file says, and what is wrong with it.
#include "tools/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/fault_plan.h"
#include "sim/host_description.h"
#include "tools/host_lines.h"

namespace anyrdma::tools {
namespace {

using ::testing::HasSubstr;
using Kind = Expectation::Kind;

ProgramScenario scenario_of(const std::string& text) {
  auto scenario = parse_scenario("file", text);
  if (!scenario) ADD_FAILURE() << scenario.error().sentence;
  return scenario ? *scenario : ProgramScenario{};
}

/// Of a file with this line.
std::string refusal(const std::string& line) {
  const auto scenario = parse_scenario("file", "host here 10.0.0.1\n" + line + "\non here true\n");
  return scenario ? "taken" : scenario.error().sentence;
}

TEST(ScenarioFile, ACommentBeginsWithAWord) {
  const ProgramScenario scenario = scenario_of(
      "# all of this\n"
      "host here 10.0.0.1  # and here\n"
      "on here true\n"
      "fault on here completion RECV 2: qp-error here#qp1 QP_FATAL # of the first one\n");

  ASSERT_EQ(scenario.hosts.size(), 1u);
  EXPECT_EQ(scenario.hosts[0].name, "here");
  EXPECT_EQ(scenario.hosts[0].addresses, std::vector<std::string>{"10.0.0.1"});
  EXPECT_EQ(scenario.hosts[0].where, "file:2");
  const auto plan = sim::FaultPlan::parse(scenario.faults);
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->to_string(), "on here completion RECV 2: qp-error here#qp1 QP_FATAL\n");
}

TEST(ScenarioFile, ACommentDoesNotBeginInACommandsQuotes) {
  const ProgramScenario scenario = scenario_of(
      "host here 10.0.0.1\n"
      "on here sh -c 'echo # no; echo \"'  # yes, it isn't\n"
      "expect here/sh output it isn't  # so\n");

  ASSERT_EQ(scenario.programs.size(), 1u);
  EXPECT_EQ(scenario.programs.front().command, "sh -c 'echo # no; echo \"'");
  ASSERT_EQ(scenario.expectations.size(), 1u);
  EXPECT_EQ(scenario.expectations.front().text, "it isn't");
}

TEST(ScenarioFile, AMistakeInAPlanHasItsLineInTheFile) {
  const ProgramScenario scenario = scenario_of(
      "host here 10.0.0.1\n"
      "menu at 1s: crash here\n"
      "\n"
      "on here true\n"
      "menu at noon: crash here\n");

  const auto menu = sim::FaultPlan::parse(scenario.menu);
  ASSERT_FALSE(menu);
  EXPECT_THAT(menu.error().to_string(), HasSubstr("line 5: "));
}

TEST(ScenarioFile, WhatIsExpectedOfAnEnd) {
  const ProgramScenario scenario = scenario_of(
      "host here 10.0.0.1\n"
      "on here true\n"
      "expect here/true status 0 3\n"
      "expect here/true any status\n"
      "expect here/true any end\n"
      "expect here/true no output oops\n");

  ASSERT_EQ(scenario.expectations.size(), 4u);
  EXPECT_EQ(scenario.expectations[0].statuses, (std::vector<int>{0, 3}));
  EXPECT_EQ(scenario.expectations[1].kind, Kind::kAnyStatus);
  EXPECT_EQ(scenario.expectations[2].kind, Kind::kAnyEnd);
  EXPECT_EQ(scenario.expectations[3].kind, Kind::kNoOutput);
}

TEST(ScenarioFile, AProgramHasTheNameThatTheLineBelowItGives) {
  const ProgramScenario scenario = scenario_of(
      "host here 10.0.0.1\n"
      "background here bash -c 'sleep 9'\n"
      "name sleeper\n"
      "on here bash -c true\n"
      "on here /usr/bin/true\n"
      "name first-of_two.1\n"
      "expect here/sleeper any end\n"
      "expect here/bash status 0\n"
      "expect here/first-of_two.1 status 0\n");

  EXPECT_EQ(name_of(scenario.background[0]), "here/sleeper");
  EXPECT_EQ(name_of(scenario.programs[0]), "here/bash");
  EXPECT_EQ(name_of(scenario.programs[1]), "here/first-of_two.1");
  EXPECT_EQ(problem_with(scenario), "");
}

TEST(ScenarioFile, FindingsOfDevicesAreAllowedAndDenied) {
  const ProgramScenario scenario = scenario_of(
      "host here 10.0.0.1\n"
      "on here true\n"
      "allow source \"the peer's sum # is checked\"  # so\n"
      "deny dry  # and\n"
      "deny gone\n");

  ASSERT_EQ(scenario.allowed.size(), 1u);
  EXPECT_EQ(scenario.allowed.front().checker, "source");
  EXPECT_EQ(scenario.allowed.front().reason, "the peer's sum # is checked");
  EXPECT_EQ(scenario.denied, (std::vector<std::string>{"dry", "gone"}));
}

TEST(ScenarioFile, AMemoryIsAProfilesName) {
  EXPECT_EQ(scenario_of("host here 10.0.0.1\nmemory relaxed\non here true\n").memory, "relaxed");
  EXPECT_EQ(scenario_of("host here 10.0.0.1\non here true\n").memory, "");
}

TEST(ScenarioFile, WhatIsNotUnderstoodIsSaidWithItsLine) {
  EXPECT_THAT(refusal("expect here/true any"),
              HasSubstr("file:2: 'expect' is incomplete. Write 'status N...'"));
  EXPECT_THAT(refusal("expect true status 0"),
              HasSubstr("file:2: 'true' names no program. Write HOST/PROGRAM"));
  EXPECT_THAT(refusal("limit soon"),
              HasSubstr("file:2: 'limit soon' is no time. Write a time such as 'limit 10s'"));
  EXPECT_THAT(
      refusal("memory sparse"),
      HasSubstr("file:2: there is no memory profile 'sparse'. Profiles: strict, spec, relaxed"));
  EXPECT_THAT(refusal("off here true"),
              HasSubstr("file:2: there is no statement 'off'. Statements: host, on,"));
  EXPECT_THAT(refusal("env 1X=2"), HasSubstr("file:2: '1X=2' sets no variable. Write NAME=VALUE"));
  EXPECT_THAT(refusal("env PATH"), HasSubstr("file:2: 'PATH' sets no variable. Write NAME=VALUE"));
  EXPECT_THAT(refusal("allow"),
              HasSubstr("file:2: no device has a checker ''. Checkers: source, target"));
  EXPECT_THAT(refusal("allow sources \"so\""), HasSubstr("no device has a checker 'sources'"));
  EXPECT_THAT(refusal("allow source"), HasSubstr("file:2: 'allow source' lacks its reason"));
  EXPECT_THAT(refusal("allow source \"\""), HasSubstr("'allow source' lacks its reason"));
  EXPECT_THAT(refusal("allow source \"so"), HasSubstr("'allow source' lacks its reason"));
  EXPECT_THAT(refusal("deny legality"), HasSubstr("no device has a checker 'legality'"));
  EXPECT_THAT(refusal("deny dry gone"), HasSubstr("no device has a checker 'dry gone'"));
  EXPECT_THAT(refusal("directory"), HasSubstr("file:2: 'directory' lacks its path"));
  EXPECT_THAT(refusal("name x"), HasSubstr("file:2: 'name' belongs to a program"));
  EXPECT_THAT(refusal("on here true\nname x/y"), HasSubstr("file:3: a program's name has letters"));
  EXPECT_THAT(refusal("on here true\nname ../x"),
              HasSubstr("file:3: a program's name has letters"));
  EXPECT_THAT(refusal("on here true\nname"), HasSubstr("file:3: a program's name has letters"));
  EXPECT_THAT(refusal("on here true\nname x\nname y"), HasSubstr("file:4: the program has a name"));
  for (const std::string word : {"share", "keep"}) {
    EXPECT_THAT(refusal(word), HasSubstr("file:2: '" + word + "' needs an absolute path"));
    EXPECT_THAT(refusal(word + " tmp"), HasSubstr("needs an absolute path"));
    EXPECT_THAT(refusal(word + " /"), HasSubstr("needs an absolute path"));
    EXPECT_THAT(refusal(word + " /no/such"), HasSubstr("there is no directory '/no/such'"));
    EXPECT_THAT(refusal(word + " /tmp/../no-such"), HasSubstr("there is no directory '/no-such'"));
  }
  EXPECT_THAT(refusal("keep /tmp/no-such"), HasSubstr("there is no directory '/tmp/no-such'"));
  for (const char* const count : {"", "0", "-1", "x", "8 x", "65537", "99999999999"})
    EXPECT_THAT(refusal(std::string("hugepages ") + count),
                HasSubstr("file:2: 'hugepages' needs a number"));
  EXPECT_THAT(refusal("stdin"), HasSubstr("file:2: 'stdin' lacks its file"));
  EXPECT_THAT(refusal("stdin no-such"), HasSubstr("file:2: 'no-such' is no file"));
  EXPECT_THAT(refusal("stdin /dev/zero"), HasSubstr("file:2: '/dev/zero' is no file"));
  EXPECT_THAT(refusal("stdin /etc/passwd\nstdin /etc/passwd"),
              HasSubstr("file:3: the file has two lines"));
  EXPECT_THAT(refusal("verify"), HasSubstr("file:2: 'verify' lacks its command"));
  EXPECT_THAT(refusal("verify within 5s"), HasSubstr("file:2: 'verify' lacks its command"));
  EXPECT_THAT(refusal("verify within 0s true"), HasSubstr("file:2: the limit of verify is"));
  EXPECT_THAT(refusal("verify sh -c 'true"), HasSubstr("file:2: a quote of the command"));
  EXPECT_THAT(refusal("menu standard but crash"),
              HasSubstr("file:2: only 'except' may follow. Write 'menu standard' or"));
  EXPECT_THAT(refusal("menu standard except crsh"),
              HasSubstr("file:2: the standard menu has no kind of fault 'crsh'. Kinds: lose, "));
  EXPECT_THAT(refusal("menu standard\nmenu standard"),
              HasSubstr("file:3: the file has two lines 'menu standard'. Remove one"));
}

TEST(ScenarioFile, HasCommandsThatVerify) {
  const ProgramScenario scenario = scenario_of(
      "host here 10.0.0.1\non here true\n"
      "verify ./check 'a # b'  # the first\n"
      "verify within 300ms sh -c 'exit 1'\n");

  ASSERT_EQ(scenario.verifications.size(), 2u);
  EXPECT_EQ(scenario.verifications[0].command, "./check 'a # b'");
  EXPECT_EQ(scenario.verifications[0].where, "file:3");
  EXPECT_EQ(scenario.verifications[0].limit, std::chrono::seconds(20));
  EXPECT_EQ(scenario.verifications[1].command, "sh -c 'exit 1'");
  EXPECT_EQ(scenario.verifications[1].limit, std::chrono::milliseconds(300));
}

TEST(ScenarioFile, HasVariablesAndADirectoryOfItsOwn) {
  const auto scenario = parse_scenario("/some/where/file",
                                       "host here 10.0.0.1 10.0.0.2\n"
                                       "env A=b c\n"
                                       "env E=\n"
                                       "directory ../else\n"
                                       "on here true\n");

  ASSERT_TRUE(scenario) << scenario.error().sentence;
  using Variables = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(scenario->environment, (Variables{{"A", "b c"}, {"E", ""}}));
  EXPECT_EQ(scenario->directory, "/some/else");
  EXPECT_EQ(scenario->hosts[0].addresses, (std::vector<std::string>{"10.0.0.1", "10.0.0.2"}));
}

TEST(ScenarioFile, HasDirectoriesThatAreNotOfEachHost) {
  const auto scenario = scenario_of(
      "host here 10.0.0.1\n"
      "share /tmp/of/hosts/\n"
      "share /usr\n"
      "keep /usr/./bin\n"
      "hugepages 12\n"
      "on here true\n");

  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(scenario.common,
            (Pairs{{"", "/tmp/of/hosts"}, {"", "/usr"}, {"/usr/bin", "/usr/bin"}}));
  EXPECT_EQ(scenario.huge_pages, 12u);
}

TEST(ScenarioFile, DescribesNoHostThatCannotBe) {
  for (const char* const count : {"here x", "x", "-1", "8x", "99999999999"})
    EXPECT_THAT(refusal(std::string("processors ") + count),
                HasSubstr("file:2: 'processors' needs a number"));
  EXPECT_THAT(refusal("processors 0"), HasSubstr("file:2: a host has from 1 to 1024 processors"));
  EXPECT_THAT(refusal("processors here 1025"), HasSubstr("1024 processors, not 1025."));
  for (const char* const size : {"here", "8", "8GB", "GiB", "-8GiB", "8GiBs"})
    EXPECT_THAT(refusal(std::string("ram ") + size), HasSubstr("file:2: 'ram' needs a size"));
  for (const char* const size : {"0KiB", "63MiB", "65TiB", "99999999999TiB"})
    EXPECT_THAT(refusal(std::string("ram ") + size), HasSubstr("file:2: a host has from 64MiB to"));
  EXPECT_THAT(refusal("ram 65537KiB"), HasSubstr("file:2: the memory of a host is a multiple"));
  EXPECT_THAT(refusal("kernel five"), HasSubstr("file:2: 'five' is no release of a kernel"));
  EXPECT_THAT(refusal("kernel here 2.6.32"), HasSubstr("file:2: the kernel '2.6.32' is older"));
  for (const std::string word : {"processors", "ram", "kernel"}) {
    EXPECT_THAT(refusal(word), HasSubstr("file:2: '" + word + "' needs a value"));
    EXPECT_THAT(refusal(word + " here 1 2"), HasSubstr("file:2: '" + word + "' needs a value"));
  }
  EXPECT_THAT(refusal("processors 2\nprocessors 4"),
              HasSubstr("file:3: the file has two lines 'processors' for all hosts. Remove one"));
  EXPECT_THAT(refusal("kernel here 5.10\nkernel here 5.10"),
              HasSubstr("file:3: the file has two lines 'kernel' for the host here. Remove one"));
}

TEST(ScenarioFile, DescribesAllHostsAndSingleOnes) {
  ProgramScenario scenario = scenario_of(
      "processors one 64\n"
      "host one 10.0.0.1\n"
      "host two 10.0.0.2\n"
      "processors 4\n"
      "ram\t two  512MiB\n"
      "kernel 5.10.0\n"
      "on one true\n");

  const sim::HostDescription one = description_of(scenario, "one");
  EXPECT_EQ(one.processors, 64u);
  EXPECT_EQ(one.memory, sim::HostDescription{}.memory);
  EXPECT_EQ(one.kernel, "5.10.0");
  const sim::HostDescription two = description_of(scenario, "two");
  EXPECT_EQ(two.processors, 4u);
  EXPECT_EQ(two.memory, 512u << 20);
  EXPECT_EQ(two.kernel, "5.10.0");

  // An option replaces what the file says of the same hosts.
  EXPECT_EQ(take_host_line("processors", "8", "--processors 8", scenario), "");
  EXPECT_EQ(description_of(scenario, "one").processors, 64u);
  EXPECT_EQ(description_of(scenario, "two").processors, 8u);
  EXPECT_EQ(problem_with(scenario), "");
}

TEST(ScenarioFile, DescribesNoHostThatIsNotThereOrTooSmall) {
  const auto problem = [](const std::string& lines) {
    return problem_with(scenario_of("host here 10.0.0.1\non here true\n" + lines + "\n"));
  };

  EXPECT_EQ(problem("processors there 2"),
            "file:3: there is no host 'there'. Add a line 'host there ADDRESS', or --host "
            "there=ADDRESS.");
  EXPECT_EQ(problem("hugepages 33\nram 64MiB"),
            "file:4: the memory of the host, 64MiB, is too small for its 33 huge pages of 2MiB.");
  EXPECT_EQ(problem("hugepages 32\nram 64MiB"), "");
  EXPECT_EQ(problem("hugepages 65536"), "");
}

TEST(ScenarioFile, NamesWhatIsNotThereWithItsLine) {
  const auto problem = [](const std::string& line) {
    return problem_with(scenario_of("host here 10.0.0.1\non here /bin/true\n" + line + "\n"));
  };

  EXPECT_EQ(problem("expect here/true status 0"), "");
  EXPECT_EQ(problem("expect here/treu status 0"),
            "file:3: the scenario starts no program 'here/treu'. Programs: here/true.");
  EXPECT_EQ(problem("on here true\nexpect here/true#2 any status"), "");
  EXPECT_EQ(problem("expect here/true#2 any status"),
            "file:3: the scenario starts no program 'here/true#2'. Programs: here/true.");
  EXPECT_EQ(problem("expect hree/true any status"),
            "file:3: the scenario starts no program 'hree/true'. Programs: here/true.");
  EXPECT_EQ(problem("background hree sleep 5"),
            "file:3: there is no host 'hree'. Add a line 'host hree ADDRESS', or --host "
            "hree=ADDRESS.");
  EXPECT_EQ(problem("on here sleep '5"), "file:3 'sleep '5': a quote is not closed.");
}

TEST(ScenarioFile, TheLineOfAFaultIsFoundAgain) {
  const ProgramScenario scenario = scenario_of(
      "host here 10.0.0.1\n"
      "fault at 1s: crash here\n"
      "on here true\n"
      "# nothing\n"
      "fault at 2s: crash hree\n");

  EXPECT_EQ(line_of_fault(scenario.faults, 1), 2u);
  EXPECT_EQ(line_of_fault(scenario.faults, 2), 5u);
}

}  // namespace
}  // namespace anyrdma::tools
