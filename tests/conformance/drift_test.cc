// Scenarios, records and deviations fit together, and docs/drift.md is what they say. With --write:
// writes the page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/conformance/drift.h"
#include "tests/conformance/iwarp.h"

namespace anyrdma::conformance {
namespace {

constexpr std::size_t kPromised = 100;

std::string read_file(const std::string& name) {
  const std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Tables {
  Tables() {
    goldens = load_records("tests/conformance/records", problem);
    iwarp = load_records("tests/conformance/" + std::string(kIwarpRecords), problem);
    deviations = parse_deviations(read_file("tests/conformance/deviations.json"), problem);
  }
  std::string problem;
  Goldens goldens;
  Goldens iwarp;
  Deviations deviations;
};

TEST(Drift, TablesFitTogether) {
  const Tables tables;

  EXPECT_EQ(tables.problem, "");
  EXPECT_THAT(misfits(tables.goldens, tables.deviations), ::testing::IsEmpty());
  EXPECT_THAT(iwarp_misfits(tables.iwarp), ::testing::IsEmpty());
  EXPECT_GE(scenarios().size(), kPromised);
}

TEST(Drift, PageIsUpToDate) {
  const Tables tables;

  EXPECT_TRUE(read_file("docs/drift.md") ==
              drift_page(tables.goldens, tables.iwarp, tables.deviations))
      << "bazel run //tests/conformance:drift_test -- --write";
}

TEST(Drift, MisfitsOfIwarpAreFound) {
  Tables tables;
  const std::string first = tables.iwarp.begin()->first;
  tables.iwarp["datagram/a_service_is_found"] = tables.iwarp.extract(first).mapped();

  EXPECT_THAT(iwarp_misfits(tables.iwarp),
              ::testing::UnorderedElementsAre(
                  first + " has no record of iWARP",
                  "not for iWARP, but a record of it: datagram/a_service_is_found"));
}

TEST(Drift, MisfitsAreFound) {
  Tables tables;
  const std::string first = tables.goldens.begin()->first;
  tables.goldens["connect/nothing_at_all"] = tables.goldens.extract(first).mapped();
  tables.deviations.differences[{"loss/of_a_request", "fabric"}] = {};

  EXPECT_THAT(
      misfits(tables.goldens, tables.deviations),
      ::testing::UnorderedElementsAre(
          first + " has no record", "no such scenario, but a record: connect/nothing_at_all",
          "loss/of_a_request is listed, but never performed on fabric"));
}

}  // namespace
}  // namespace anyrdma::conformance

int main(int argc, char** argv) {
  using namespace anyrdma::conformance;
  ::testing::InitGoogleMock(&argc, argv);
  if (argc == 1) return RUN_ALL_TESTS();
  const char* const root = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (std::string_view(argv[1]) != "--write" || root == nullptr) return 1;
  const Tables tables;
  std::cerr << tables.problem;
  std::ofstream(std::string(root) + "/docs/drift.md")
      << drift_page(tables.goldens, tables.iwarp, tables.deviations);
  return tables.problem.empty() ? 0 : 1;
}
