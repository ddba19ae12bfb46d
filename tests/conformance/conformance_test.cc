// Performs the scenarios on the backend that is linked in, and holds what they show against the
// records and the table of deviations. With --write: writes the records, with --write-new those
// that are missing; with --differences: prints what the table lacks. Behind these beginnings of
// scenarios' names may stand, with commas between them: only those; or with a minus before them:
// only the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

#include "tests/conformance/deviations.h"
#include "tests/conformance/golden.h"
#include "tests/conformance/iwarp.h"
#include "tests/conformance/performance.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr const char* kFolder = "tests/conformance/";
/// Its connection manager in software refuses now and then.
constexpr int kTimesOnIwarp = 2;

const BackendKind& here() {
  return *find_backend_kind(backend_name());
}

bool can_perform(const Scenario& scenario) {
  if (here().name == kIwarp) return iwarp_can_have(scenario);
  return std::ranges::includes(here().abilities, scenario.needs);
}

std::string records_here() {
  return kFolder + std::string(here().name == kIwarp ? kIwarpRecords : "records");
}

std::string read_file(const std::string& name) {
  const std::ifstream file(kFolder + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What the tests compare with; the problem of the first that cannot be read.
struct Tables {
  Goldens goldens;
  Deviations deviations;
  std::string problem;

  static const Tables& get() {
    static const Tables kTables = [] {
      Tables tables;
      tables.goldens = load_records(records_here(), tables.problem);
      tables.deviations = parse_deviations(read_file("deviations.json"), tables.problem);
      return tables;
    }();
    return kTables;
  }
};

Lines show(Performances& performances, std::size_t number) {
  return here().virtual_time ? perform(number) : performances.of(number);
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

/// Whether the table lets this backend perform it.
bool is_run(std::size_t number) {
  const Difference* const listed =
      Tables::get().deviations.find(scenarios()[number].full_name(), here().name);
  return listed == nullptr || !listed->not_run;
}

class Conformance : public ::testing::TestWithParam<std::size_t> {
 public:
  static std::string problem;  ///< why nothing can run here
  static Performances performances;
  static bool started;

  /// The first suite plans those of all suites.
  static void SetUpTestSuite() {
    if (here().virtual_time || !problem.empty() || started) return;
    started = true;
    const auto& all = *::testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) plan(*all.GetTestSuite(i));
  }

 private:
  static void plan(const ::testing::TestSuite& suite) {
    std::vector<std::size_t> numbers;
    for (int i = 0; i < suite.total_test_count(); ++i) {
      if (suite.GetTestInfo(i)->value_param() == nullptr) continue;
      const std::size_t number = std::stoul(suite.GetTestInfo(i)->value_param());
      if (suite.GetTestInfo(i)->should_run() && is_run(number)) numbers.push_back(number);
    }
    performances.plan(numbers);
  }
};
std::string Conformance::problem;
Performances Conformance::performances;
bool Conformance::started = false;

TEST_P(Conformance, ShowsWhatTheKernelShows) {
  if (!problem.empty()) GTEST_SKIP() << problem;
  const Tables& tables = Tables::get();
  ASSERT_EQ(tables.problem, "");
  const std::string name = scenarios()[GetParam()].full_name();
  const Difference* const listed = tables.deviations.find(name, here().name);
  if (listed != nullptr && listed->not_run) {
    GTEST_SKIP() << tables.deviations.all[listed->deviation].reason;
  }
  const auto golden = tables.goldens.find(name);
  ASSERT_NE(golden, tables.goldens.end()) << "no record yet: run with --write";
  if (golden->second.lines == Lines{std::string(kUnsteady)}) GTEST_SKIP() << kUnsteady;

  const Lines actual = show(performances, GetParam());

  const Lines differing = difference(golden->second.lines, actual);
  EXPECT_EQ(differing, listed == nullptr ? Lines{} : listed->lines)
      << name << " differs from what " << golden->second.origin << " showed:\n"
      << text_of(differing)
      << (listed == nullptr ? "which deviations.json does not list" : "not as deviations.json says")
      << ". All of it:\n"
      << text_of(actual);
}

std::vector<std::size_t> performable(bool slow) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < scenarios().size(); ++i) {
    if (can_perform(scenarios()[i]) && scenarios()[i].slow == slow) numbers.push_back(i);
  }
  return numbers;
}

std::vector<std::size_t> all_performable() {
  std::vector<std::size_t> numbers = performable(false);
  std::ranges::copy(performable(true), std::back_inserter(numbers));
  return numbers;
}

std::string test_name(const ::testing::TestParamInfo<std::size_t>& about) {
  const Scenario& scenario = scenarios()[about.param];
  return std::string(scenario.group) + "_" + std::string(scenario.name);
}
INSTANTIATE_TEST_SUITE_P(Fast, Conformance, ::testing::ValuesIn(performable(false)), test_name);
INSTANTIATE_TEST_SUITE_P(Slow, Conformance, ::testing::ValuesIn(performable(true)), test_name);

/// A kernel's record is replaced by a kernel's only, and where this backend is known to differ from
/// what is right, it is not the one to ask.
bool may_replace(const std::string& name, const Golden* golden) {
  if (Tables::get().deviations.find(name, here().name) != nullptr) return false;
  return here().is_kernel || golden == nullptr || !find_backend_kind(golden->origin)->is_kernel;
}

std::string records_of_the_work_tree() {
  const char* const root = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  return std::string(root == nullptr ? "." : root) + "/" + records_here();
}

enum class Which : std::uint8_t { kAll, kNew };

/// Whether the second argument has it.
bool is_meant(const std::string& name, std::string_view beginnings) {
  const bool others = beginnings.starts_with('-');
  if (others) beginnings.remove_prefix(1);
  bool listed = false;
  for (bool more = true; more;) {
    const std::size_t comma = beginnings.find(',');
    listed = listed || name.starts_with(beginnings.substr(0, comma));
    more = comma != beginnings.npos;
    if (more) beginnings.remove_prefix(comma + 1);
  }
  return listed != others;
}

/// Into `shown`, each time over again.
void show_once_more(const std::vector<std::size_t>& numbers, std::map<std::size_t, Lines>& shown) {
  Performances performances;
  if (!here().virtual_time) performances.plan(numbers);
  for (const std::size_t number : numbers) {
    std::cerr << scenarios()[number].full_name() << "\n";
    const Lines lines = show(performances, number);
    Lines& before = shown.try_emplace(number, lines).first->second;
    if (before != lines) before = {std::string(kUnsteady)};
  }
}

int write_records(const std::string& folder, Which which, std::string_view meant) {
  std::string trouble;
  Goldens goldens = load_records(folder, trouble);
  if (!trouble.empty()) std::cerr << trouble << "\n";
  std::erase_if(goldens, [](const auto& each) {
    return std::ranges::find(scenarios(), each.first, &Scenario::full_name) == scenarios().end();
  });
  std::vector<std::size_t> numbers = all_performable();
  std::erase_if(numbers, [&goldens, which, meant](std::size_t number) {
    const std::string name = scenarios()[number].full_name();
    if (!is_meant(name, meant)) return true;
    const auto old = goldens.find(name);
    if (old != goldens.end() && which == Which::kNew) return true;
    return !may_replace(name, old == goldens.end() ? nullptr : &old->second);
  });
  std::map<std::size_t, Lines> shown;
  const int times = here().name == kIwarp ? kTimesOnIwarp : 1;
  for (int i = 0; i < times; ++i) show_once_more(numbers, shown);
  for (const auto& [number, lines] : shown) {
    goldens[scenarios()[number].full_name()] = {.origin = std::string(here().name), .lines = lines};
  }
  save_records(folder, goldens);
  return 0;
}

/// What the table does not list yet, as entries for it.
int print_differences(std::string_view meant) {
  const Tables& tables = Tables::get();
  std::vector<std::size_t> numbers = all_performable();
  std::erase_if(numbers, [meant](std::size_t number) {
    return !is_run(number) || !is_meant(scenarios()[number].full_name(), meant);
  });
  Performances performances;
  if (!here().virtual_time) performances.plan(numbers);
  for (const std::size_t number : numbers) {
    const std::string name = scenarios()[number].full_name();
    const auto golden = tables.goldens.find(name);
    if (golden == tables.goldens.end()) continue;
    const Difference* const listed = tables.deviations.find(name, here().name);
    const Lines differing = difference(golden->second.lines, show(performances, number));
    if (differing == (listed == nullptr ? Lines{} : listed->lines)) continue;
    std::cout << difference_text(name, here().name, differing);
  }
  return 0;
}

}  // namespace
}  // namespace anyrdma::conformance

int main(int argc, char** argv) {
  using namespace anyrdma::conformance;
  ::testing::InitGoogleTest(&argc, argv);
  Conformance::problem = prepare_process();
  const std::string_view wish = argc > 1 ? argv[1] : "";
  if (wish.empty()) return RUN_ALL_TESTS();
  if (!Conformance::problem.empty()) {
    std::cerr << Conformance::problem << "\n";
    return 1;
  }
  const std::string_view meant = argc > 2 ? argv[2] : "";
  const std::size_t sign = wish.find('=');
  const std::string_view what = wish.substr(0, sign);
  const std::string folder =
      sign == wish.npos ? records_of_the_work_tree() : std::string(wish.substr(sign + 1));
  if (what == "--write") return write_records(folder, Which::kAll, meant);
  if (what == "--write-new") return write_records(folder, Which::kNew, meant);
  if (wish == "--differences") return print_differences(meant);
  std::cerr << "--write[=FOLDER], --write-new[=FOLDER] or --differences, not " << wish << "\n";
  return 1;
}
