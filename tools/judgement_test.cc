#include "tools/judgement.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

namespace anyrdma::tools {
namespace {

using Kind = Expectation::Kind;

/// As of wait(2).
constexpr int exited(int status) {
  return status << 8;
}

std::string verdict(const ProgramEnd& end, const std::vector<Expectation>& expectations = {}) {
  return Judgement(expectations).broken(std::vector{end});
}

ProgramEnd server(std::optional<int> status) {
  return {.name = "server/kv", .status = status, .background = true};
}

ProgramEnd client(std::optional<int> status) {
  return {.name = "client/kv", .status = status};
}

TEST(Judgement, AProgramEndsWithZero) {
  EXPECT_EQ(verdict(client(exited(0))), "");
  EXPECT_EQ(verdict(client(exited(3))), "client/kv ended with status 3\n");
  EXPECT_EQ(verdict(client(SIGSEGV)), "client/kv was ended by signal 11\n");
}

TEST(Judgement, AServerThatEndsByItselfEndsWithZero) {
  EXPECT_EQ(verdict(server(std::nullopt)), "");
  EXPECT_EQ(verdict(server(exited(0))), "");
  EXPECT_EQ(verdict(server(exited(3))), "server/kv ended with status 3\n");
  EXPECT_EQ(verdict(server(SIGABRT)), "server/kv was ended by signal 6\n");
}

TEST(Judgement, AServerThatIsToldToEndMayEndAsItLikesButNotCrash) {
  const auto told = [](int status) {
    ProgramEnd end = server(status);
    end.told_to_end = true;
    return verdict(end);
  };

  EXPECT_EQ(told(SIGTERM), "");
  EXPECT_EQ(told(exited(143)), "");
  EXPECT_EQ(told(SIGSEGV), "server/kv was ended by signal 11\n");
}

TEST(Judgement, WhatThePlanHasEndedIsFine) {
  ProgramEnd killed = client(SIGKILL);
  killed.ended_by_plan = true;

  EXPECT_EQ(verdict(killed), "");
  EXPECT_EQ(verdict(client(SIGKILL)), "client/kv was ended by signal 9\n");
}

TEST(Judgement, AStatusThatIsExpectedHoldsForAServerThatHasNotEnded) {
  const std::vector<Expectation> three{{.program = "server/kv", .statuses = {3, 4}}};
  ProgramEnd told = server(SIGTERM);
  told.told_to_end = true;

  EXPECT_EQ(verdict(server(exited(3)), three), "");
  EXPECT_EQ(verdict(server(exited(0)), three), "server/kv ended with status 0\n");
  EXPECT_EQ(verdict(told, three), "server/kv did not end by itself; status 3 or 4 was expected\n");
  EXPECT_EQ(verdict(server(std::nullopt), three),
            "server/kv did not end by itself; status 3 or 4 was expected\n");
}

TEST(Judgement, AServerThatServesToTheEndCountsAsOneThatEndsWithZero) {
  const std::vector<Expectation> or_ten{{.program = "server/kv", .statuses = {0, 10}}};
  ProgramEnd told = server(SIGTERM);
  told.told_to_end = true;

  EXPECT_EQ(verdict(told, or_ten), "");
  EXPECT_EQ(verdict(server(exited(10)), or_ten), "");
  EXPECT_EQ(verdict(server(SIGTERM), or_ten), "server/kv was ended by signal 15\n");
}

TEST(Judgement, AnyStatusIsNoSignalAndAnyEndIs) {
  const std::vector<Expectation> status{{.program = "client/kv", .kind = Kind::kAnyStatus}};
  const std::vector<Expectation> end{{.program = "client/kv", .kind = Kind::kAnyEnd}};

  EXPECT_EQ(verdict(client(exited(9)), status), "");
  EXPECT_EQ(verdict(client(SIGSEGV), status), "client/kv was ended by signal 11\n");
  EXPECT_EQ(verdict(client(SIGSEGV), end), "");
  EXPECT_EQ(verdict(server(exited(1)), end), "server/kv ended with status 1\n");
}

TEST(Judgement, OutputIsExpectedOrNot) {
  const std::vector<Expectation> expectations{
      {.program = "client/kv", .kind = Kind::kOutput, .text = "done"},
      {.program = "client/kv", .kind = Kind::kNoOutput, .text = "oops"}};
  Judgement nothing(expectations);
  Judgement both(expectations);
  EXPECT_EQ(both.take("client/kv", 1, "all done").problem, "");
  EXPECT_EQ(both.take("client/kv", 1, "oops, again").problem, "client/kv printed 'oops'");
  EXPECT_EQ(both.take("client/kv", 1, "oops, once more").problem, "");
  EXPECT_EQ(both.take("server/kv", 1, "done").problem, "");

  EXPECT_EQ(nothing.broken({}), "client/kv did not print 'done'\n");
  EXPECT_EQ(both.broken({}), "client/kv printed 'oops'\n");
}

TEST(Judgement, TheSecondOfANameHasANumber) {
  const std::vector<Expectation> three{{.program = "client/kv#2", .statuses = {3}}};
  ProgramEnd second = client(exited(3));
  second.number = 2;

  EXPECT_EQ(verdict(second, three), "");
  EXPECT_EQ(verdict(client(exited(3)), three), "client/kv ended with status 3\n");
}

TEST(SanitizerReports, AreKnownByTheirFirstLines) {
  EXPECT_EQ(sanitizer_report("==7==ERROR: AddressSanitizer: heap-use-after-free on address "
                             "0x602000000010 at pc 0x55 bp 0x7f sp 0x7f"),
            "AddressSanitizer: heap-use-after-free");
  EXPECT_EQ(sanitizer_report("==7==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x1"),
            "AddressSanitizer: SEGV");
  EXPECT_EQ(sanitizer_report("WARNING: ThreadSanitizer: data race (pid=7)"),
            "ThreadSanitizer: data race");
  EXPECT_EQ(sanitizer_report("==7==ERROR: LeakSanitizer: detected memory leaks"),
            "LeakSanitizer: detected memory leaks");
  EXPECT_EQ(sanitizer_report("==7==WARNING: MemorySanitizer: use-of-uninitialized-value"),
            "MemorySanitizer: use-of-uninitialized-value");
  EXPECT_EQ(sanitizer_report("a.c:3:7: runtime error: signed integer overflow: 1 + 2 cannot be"),
            "a.c:3:7: runtime error: signed integer overflow: 1 + 2 cannot be");
}

TEST(SanitizerReports, AreNotWhatOthersSay) {
  for (const char* line : {"", "panic: runtime error: index out of range",
                           "LeakSanitizer has encountered a fatal error", ": runtime error: ",
                           "SUMMARY: AddressSanitizer: heap-use-after-free a.c:3 in main"})
    EXPECT_EQ(sanitizer_report(line), "") << line;
}

TEST(SanitizerReports, AreFailuresUnlessTheyAreExpected) {
  const std::vector<Expectation> expectations{
      {.program = "client/kv", .kind = Kind::kOutput, .text = "AddressSanitizer"}};
  Judgement judgement(expectations);
  for (const char* program : {"client/kv", "server/kv", "server/kv"})
    judgement.take(program, 1, "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x6");

  EXPECT_EQ(judgement.reports(), "server/kv: AddressSanitizer: heap-use-after-free\n");
}

TEST(Judgement, ALineThatIsWrongIsSaidOnceAndAtOnce) {
  const std::vector<Expectation> expectations{
      {.program = "client/kv", .kind = Kind::kNoOutput, .text = "oops"}};
  Judgement judgement(expectations);

  EXPECT_EQ(judgement.take("client/kv", 1, "fine").problem, "");
  EXPECT_EQ(judgement.take("client/kv", 1, "oops!").problem, "client/kv printed 'oops'");
  EXPECT_EQ(judgement.take("client/kv", 1, "oops!").problem, "");
  const Said report = judgement.take("client/kv", 1, "==7==ERROR: AddressSanitizer: SEGV on x");
  EXPECT_TRUE(report.is_report);
  EXPECT_EQ(report.problem, "client/kv: AddressSanitizer: SEGV on x");
  EXPECT_FALSE(judgement.take("client/kv", 1, "==7==ERROR: AddressSanitizer: SEGV").is_report);
}

TEST(Judgement, AReportAndACrashHaveTheirStacks) {
  const std::vector<Expectation> none;
  Judgement judgement(none);
  (void)judgement.take("client/kv", 1, "==7==ERROR: LeakSanitizer: detected");
  judgement.explain_report("client/kv", "    use+0x1 (kv) kv.c:2\n");
  judgement.explain_report("server/kv", "    of none\n");
  ProgramEnd end = client(SIGSEGV);
  end.crash = "  SIGSEGV\n";

  EXPECT_EQ(judgement.reports(), "client/kv: LeakSanitizer: detected\n    use+0x1 (kv) kv.c:2\n");
  EXPECT_EQ(judgement.broken(std::vector{end}), "client/kv was ended by signal 11\n  SIGSEGV\n");
}

TEST(Judgement, OnlyAnyEndAllowsACrash) {
  const std::vector<Expectation> expectations{{.program = "client/kv", .kind = Kind::kAnyEnd},
                                              {.program = "server/kv", .kind = Kind::kAnyStatus}};
  const Judgement judgement(expectations);

  EXPECT_TRUE(judgement.may_crash("client/kv", 1));
  EXPECT_FALSE(judgement.may_crash("server/kv", 1));
}

}  // namespace
}  // namespace anyrdma::tools
