#include "tests/planted/records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/conformance/deviations.h"
#include "tests/conformance/golden.h"
#include "tests/conformance/performance.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::planted {
namespace {

using namespace conformance;

struct Tables {
  Goldens goldens;
  Deviations deviations;
  std::string problem;

  static const Tables& get() {
    static const Tables kTables = [] {
      Tables tables;
      tables.goldens = load_records("tests/conformance/records", tables.problem);
      std::ostringstream text;
      text << std::ifstream("tests/conformance/deviations.json").rdbuf();
      tables.deviations = parse_deviations(text.str(), tables.problem);
      return tables;
    }();
    return kTables;
  }
};

class Record : public ::testing::Test {
 public:
  explicit Record(std::size_t number) : number_(number) {}

 private:
  void TestBody() override {
    const Tables& tables = Tables::get();
    ASSERT_EQ(tables.problem, "");
    const std::string name = scenarios()[number_].full_name();
    const Difference* const listed = tables.deviations.find(name, backend_name());
    const auto golden = tables.goldens.find(name);
    ASSERT_NE(golden, tables.goldens.end());
    std::printf("runs: 1\n");

    const Lines differing = difference(golden->second.lines, perform(number_));

    EXPECT_EQ(differing, listed == nullptr ? Lines{} : listed->lines)
        << name << " differs from what " << golden->second.origin << " showed:";
  }

  std::size_t number_;
};

bool is_performed(const Scenario& scenario) {
  const BackendKind& here = *find_backend_kind(backend_name());
  if (!std::ranges::includes(here.abilities, scenario.needs)) return false;
  const auto* listed = Tables::get().deviations.find(scenario.full_name(), here.name);
  return listed == nullptr || !listed->not_run;
}

}  // namespace

void register_records() {
  for (std::size_t i = 0; i < scenarios().size(); ++i) {
    const Scenario& scenario = scenarios()[i];
    if (!is_performed(scenario)) continue;
    ::testing::RegisterTest("Records", scenario.full_name().c_str(), nullptr, nullptr, __FILE__,
                            __LINE__, [i]() -> ::testing::Test* { return new Record(i); });
  }
}

}  // namespace anyrdma::planted
