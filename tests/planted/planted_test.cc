// Every planted bug is found by what it says, and without a bug everything is silent. Each bug is
// switched on in a process of its own. With --survey [BUG]: which tests find it.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "tests/planted/planted.h"
#include "tests/planted/records.h"

namespace anyrdma::planted {
namespace {

constexpr rlim_t kSeconds = 60;  // of a processor: a bug may loop for ever
constexpr std::size_t kPromised = 177;

struct Finding {
  bool failed = false;  ///< a test did, or the process died
  std::string text;
};

/// Runs tests of this program in a process of its own in which a bug is on.
Finding run_with(std::string_view bug, std::string_view tests) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  ::posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::vector<std::string> words = {"planted_test", "--bug=" + std::string(bug),
                                    "--gtest_filter=" + std::string(tests)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  EXPECT_EQ(::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), ::environ),
            0);
  ::posix_spawn_file_actions_destroy(&actions);
  (void)::close(ends[1]);
  Finding finding;
  std::array<char, 4096> part{};
  for (ssize_t length = 0; (length = ::read(ends[0], part.data(), part.size())) > 0;) {
    finding.text.append(part.data(), static_cast<std::size_t>(length));
  }
  (void)::close(ends[0]);
  int status = 0;
  (void)::waitpid(child, &status, 0);
  finding.failed = status != 0;
  if (WIFSIGNALED(status)) finding.text += "killed by signal " + std::to_string(WTERMSIG(status));
  return finding;
}

/// The last "runs: 12"; 1 if the test does not count.
int runs_of(const std::string& text) {
  const auto at = text.rfind("runs: ");
  return at == std::string::npos ? 1 : std::atoi(text.c_str() + at + std::strlen("runs: "));
}

class IsFound : public ::testing::Test {
 public:
  explicit IsFound(const Bug& bug) : bug_(bug) {}

 private:
  void TestBody() override {
    const Finding finding = run_with(bug_.name, bug_.test);

    EXPECT_TRUE(finding.failed) << bug_.test << " does not find it";
    EXPECT_NE(finding.text.find(bug_.says), std::string::npos) << "found otherwise";
    EXPECT_LE(runs_of(finding.text), bug_.runs) << "found too late";
    if (HasFailure()) std::printf("%s\n", finding.text.c_str());
  }

  const Bug& bug_;
};

TEST(PlantedBugs, AreAsManyAsPromised) {
  EXPECT_GE(bugs().size(), kPromised);
}

// A test that is not there finds nothing, and would be taken for one that fails to find.
TEST(PlantedBugs, AreLookedForByTestsThatAreThere) {
  std::set<std::string, std::less<>> tests;
  const auto& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      tests.insert(std::string(suite.name()) + "." + suite.GetTestInfo(j)->name());
    }
  }
  for (const Bug& bug : bugs()) EXPECT_TRUE(tests.contains(bug.test)) << bug.name;
}

/// The number of a bug; 0: there is none of that name.
int number_of(std::string_view name) {
  const auto at = std::ranges::find(bugs(), name, &Bug::name);
  return at == bugs().end() ? 0 : static_cast<int>(at - bugs().begin()) + 1;
}

/// The lines that tell what was found.
void print_findings(const Bug& bug, const char* tests) {
  const Finding finding = run_with(bug.name, tests);
  if (!finding.failed) return;
  std::printf("  %s: runs %d\n", tests, runs_of(finding.text));
  std::size_t shown = 0;
  for (std::size_t begin = 0; begin < finding.text.size() && shown < 12;) {
    const std::size_t end = std::min(finding.text.find('\n', begin), finding.text.size());
    const std::string line = finding.text.substr(begin, end - begin);
    begin = end + 1;
    const bool noise = line.starts_with("[  ") || line.starts_with("[--") ||
                       line.starts_with("[==") || line.starts_with("[ R") || line.empty();
    const bool failed = line.starts_with("[  FAILED  ]");
    if (noise && !failed) continue;
    std::printf("    %s\n", line.c_str());
    ++shown;
  }
}

int survey(std::string_view wanted) {
  for (const Bug& bug : bugs()) {
    if (!wanted.empty() && bug.name != wanted) continue;
    std::printf("%.*s\n", static_cast<int>(bug.name.size()), bug.name.data());
    const Finding named = run_with(bug.name, bug.test);
    if (named.failed && named.text.find(bug.says) != std::string::npos) {
      std::printf("  as said, runs %d of %d\n", runs_of(named.text), bug.runs);
      continue;
    }
    for (const char* tests :
         {"Once.*", "Samples.*", "Steps.*", "Packets.*", "Records.*",
          "*-Once.*:Samples.*:Steps.*:Packets.*:Records.*:PlantedBugs.*:Planted.*"}) {
      print_findings(bug, tests);
    }
  }
  return 0;
}

void register_bugs() {
  for (const Bug& bug : bugs()) {
    ::testing::RegisterTest("Planted", std::string(bug.name).c_str(), nullptr, nullptr, __FILE__,
                            __LINE__, [&bug]() -> ::testing::Test* { return new IsFound(bug); });
  }
}

int run_one(std::string_view name) {
  active = number_of(name);
  if (active == 0) return 2;
  const rlimit limit{kSeconds, kSeconds};
  (void)::setrlimit(RLIMIT_CPU, &limit);
  const rlimit no_core{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  const int status = RUN_ALL_TESTS();
  std::printf("its place was come by %ld times\n", reached);
  return status;
}

}  // namespace
}  // namespace anyrdma::planted

int main(int argc, char** argv) {
  using namespace anyrdma::planted;
  (void)std::setvbuf(stdout, nullptr, _IOLBF, 0);
  register_records();
  register_bugs();
  ::testing::InitGoogleTest(&argc, argv);
  const std::string_view wish = argc > 1 ? argv[1] : "";
  if (wish.starts_with("--bug=")) return run_one(wish.substr(std::strlen("--bug=")));
  if (wish == "--survey") return survey(argc > 2 ? argv[2] : "");
  return RUN_ALL_TESTS();
}
