// The table of system calls knows what the kernel's headers know, and a program gets its answers.
#include "sim/programs/syscalls/system_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/programs/supervisor/sandbox.h"
#include "sim/programs/syscalls/table_on_page.h"

namespace anyrdma::sim::programs {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using tracee::ArgumentRule;
using tracee::Verdict;

/// Numbers and names, as the installed headers have them.
std::map<int, std::string> calls_of_headers() {
  std::map<int, std::string> all;
  std::ifstream header("/usr/include/x86_64-linux-gnu/asm/unistd_64.h");
  const std::regex definition("#define __NR_(\\w+) (\\d+)");
  std::smatch found;
  for (std::string line; std::getline(header, line);) {
    if (std::regex_search(line, found, definition)) all[std::stoi(found[2])] = found[1];
  }
  return all;
}

TEST(TableOfCalls, HasARowForEachNumberOfTheHeaders) {
  const auto known = calls_of_headers();
  ASSERT_GT(known.size(), 300u);
  for (const auto& [number, name] : known) {
    const SystemCall* const row = find_system_call(number);
    ASSERT_NE(row, nullptr) << name << " has no row";
    EXPECT_EQ(row->name, name);
  }
}

TEST(TableOfCalls, FindsEachRowByItsNumber) {
  for (const SystemCall& each : system_calls()) EXPECT_EQ(find_system_call(each.number), &each);
  for (const long number : {-1L, 400L, 511L, 512L, 999'999L, 1'000'011L, 1L << 40})
    EXPECT_EQ(find_system_call(number), nullptr) << number;
}

TEST(TableOfCalls, NamesACallWithoutRowByItsNumber) {
  EXPECT_EQ(name_of_call(SYS_futex), "futex");
  EXPECT_EQ(name_of_call(500), "system call 500");
}

bool may_stop(const SystemCall& row) {
  bool may = row.answer.verdict == Verdict::kStop;
  for (const ArgumentRule& rule : row.arguments) may |= rule.answer.verdict == Verdict::kStop;
  return may;
}

TEST(TableOfCalls, ARowHasAHandlerIfItMayStopAndAnErrorIfItRefuses) {
  for (const SystemCall& row : system_calls()) {
    EXPECT_EQ(row.handler != nullptr, may_stop(row) || row.in_watched) << row.name;
    EXPECT_EQ(row.answer.error != 0, row.answer.verdict == Verdict::kRefuse) << row.name;
  }
}

TEST(TableOfCalls, MarkedCallsOfTheLibrariesPass) {
  std::set<int> marked;
  for (const SystemCall& row : system_calls()) {
    for (const ArgumentRule& rule : row.arguments) {
      if (rule.test != ArgumentRule::Test::kUpperHalfIs) continue;
      EXPECT_EQ(rule.answer.verdict, Verdict::kPass);
      marked.insert(row.number);
    }
  }
  EXPECT_THAT(marked, UnorderedElementsAre(SYS_sendto, SYS_epoll_wait, SYS_write, SYS_recvmmsg,
                                           SYS_sendmmsg, SYS_sendmsg, SYS_recvmsg));
}

// --- docs/support.md ----------------------------------------------------------------------------

std::string text_of(const tracee::Answer& answer) {
  switch (answer.verdict) {
    case Verdict::kPass:
      return "passed to the kernel";
    case Verdict::kRefuse:
      return std::string("fails with ") + ::strerrorname_np(answer.error);
    case Verdict::kStop:
      break;
  }
  return "emulated";
}

/// "passed to the kernel; emulated: F_SETLKW, F_OFD_SETLKW".
std::string what_happens(const SystemCall& row) {
  std::string text = text_of(row.answer);
  const tracee::Answer* last = nullptr;
  for (const ArgumentRule& rule : row.arguments) {
    if (*rule.name == '\0') continue;
    const bool same = last != nullptr && *last == rule.answer;
    text += (same ? ", " : "; " + text_of(rule.answer) + ": ") + std::string("`") + rule.name + "`";
    last = &rule.answer;
  }
  if (row.in_watched) text += "; emulated if the process has registered memory";
  return text;
}

/// Calls that are alike share a line, until that is long.
std::string table_of_page() {
  constexpr std::size_t kLong = 110;
  std::vector<std::pair<std::string, std::string>> lines;  // what is said, of which calls
  for (const SystemCall& row : system_calls()) {
    if (*row.support == '\0') continue;
    const std::string said = what_happens(row) + " | " + row.support + " |\n";
    auto line = std::ranges::find_if(lines, [&said](const auto& each) {
      return each.first == said && each.second.size() < kLong;
    });
    if (line == lines.end()) line = lines.insert(lines.end(), {said, ""});
    line->second += (line->second.empty() ? "`" : ", `") + std::string(row.name) + "`";
  }
  std::string text = "| calls | what happens | remarks |\n|---|---|---|\n";
  for (const auto& [said, calls] : lines) text += "| " + calls + " | " + said;
  return text;
}

/// `bazel run //sim/programs/syscalls:table_test` writes the page.
TEST(TableOfCalls, IsOnThePageOfSupport) {
  expect_on_page("docs/support.md", "system calls", table_of_page());
}

// --- what a program gets ------------------------------------------------------------------------

struct Made {
  std::array<std::uint64_t, 7> call;  ///< its number, its arguments
  tracee::Answer answer;

  [[nodiscard]] std::string argument() const {
    std::string text;
    for (const std::uint64_t each : call) text += (text.empty() ? "" : ",") + std::to_string(each);
    return text;
  }
  /// As SandboxOptions::on_call has it.
  [[nodiscard]] std::string stop() const {
    return "    in " + name_of_call(static_cast<long>(call[0])) + "(" + std::to_string(call[1]) +
           ", " + std::to_string(call[2]) + ", " + std::to_string(call[3]) + ", ...)\n";
  }
};

/// Arguments that no call has a use for: no descriptor, no address, flags that there are not.
Made harmless(const SystemCall& row) {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  Made made{{}, row.answer};
  made.call.fill(kNone);
  made.call[0] = static_cast<std::uint64_t>(row.number);
  if (row.number == SYS_msgget) made.call = {SYS_msgget, kNone};  // flags would make a queue
  if (row.arguments.empty()) return made;
  constexpr std::uint64_t kOfNoRule = 8;
  made.call.fill(kOfNoRule);
  made.call[0] = static_cast<std::uint64_t>(row.number);
  made.call[1] = kNone;
  return made;
}

Made harmless(const SystemCall& row, const ArgumentRule& rule) {
  constexpr unsigned kHalf = 32;
  const bool upper = rule.test == ArgumentRule::Test::kUpperHalfIs;
  Made made = harmless(row);
  made.answer = rule.answer;
  made.call[1] -= static_cast<std::uint64_t>(&rule - row.arguments.data()) + 1;  // to be told apart
  made.call[rule.argument + 1] = std::uint64_t{rule.value} << (upper ? kHalf : 0);
  return made;
}

std::vector<Made> all_calls() {
  std::vector<Made> all;
  for (const SystemCall& row : system_calls()) {
    all.push_back(harmless(row));
    for (const ArgumentRule& rule : row.arguments) all.push_back(harmless(row, rule));
  }
  return all;
}

/// Runs each_call with these calls.
class EachCall : public ::testing::Test {
 protected:
  void make(const std::vector<Made>& calls) {
    std::vector<std::string> words{"sim/programs/syscalls/each_call"};
    for (const Made& each : calls) words.push_back(each.argument());
    const auto program = sandbox_.start(
        host_, "each_call", {.path = words.front(), .arguments = words, .environment = {}});
    ASSERT_TRUE(program.has_value()) << program.error().message();
    (void)world_.run();
    ASSERT_EQ((*program)->status(), 0);
  }
  /// What a call returned, 1 if it did not return; nullopt: it was not made.
  [[nodiscard]] std::optional<long> result_of(const Made& made) const {
    const auto found = results_.find(made.argument());
    return found == results_.end() ? std::nullopt : std::optional(found->second);
  }

  std::set<std::string> stops_;
  std::vector<std::string> remarks_;

 private:
  void note(std::string_view line) {
    const std::string text(line);
    const auto blank = text.find(' ');
    if (blank != std::string::npos) results_[text.substr(0, blank)] = std::stol(text.substr(blank));
  }

  std::map<std::string, long> results_;
  World world_{1};
  Host& host_ = world_.add_host("here", {"10.0.0.1"});
  Sandbox sandbox_{world_,
                   {.on_output = [this](const OutputLine& line) { note(line.text); },
                    .on_call = [this](Instant /*time*/, std::string_view /*thread*/,
                                      std::string_view call) { stops_.emplace(call); },
                    .on_remark = [this](std::string_view text) { remarks_.emplace_back(text); }}};
};

TEST_F(EachCall, GetsTheAnswerOfItsRow) {
  const auto calls = all_calls();
  make(calls);
  for (const Made& each : calls) {
    const bool stops = each.answer.verdict == Verdict::kStop;
    EXPECT_EQ(stops_.contains(each.stop()), stops) << each.stop();
    if (each.answer.verdict == Verdict::kRefuse) {
      EXPECT_EQ(result_of(each), -each.answer.error) << each.stop();
    }
    EXPECT_NE(result_of(each), std::nullopt) << "not made: " << each.stop();
  }
  EXPECT_THAT(remarks_, Not(Contains(HasSubstr("does not know"))));
}

TEST_F(EachCall, FailsWithoutARowAndIsReported) {
  const Made unknown{{500, 1, 2, 3}, {}};
  make({unknown});
  EXPECT_EQ(result_of(unknown), -ENOSYS);
  EXPECT_THAT(remarks_, Contains(EndsWith(" makes system call 500, which anyrdma does not "
                                          "know: it fails with ENOSYS")));
}

}  // namespace
}  // namespace anyrdma::sim::programs
