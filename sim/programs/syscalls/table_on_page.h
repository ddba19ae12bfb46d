// A table of a page of the documentation that comes from the code.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace anyrdma::sim::programs {

/// Expects that `page` has `table` between two comments that name it. With `bazel run` it writes
/// the table there.
inline void expect_on_page(std::filesystem::path page, std::string_view name,
                           const std::string& table) {
  const char* const tree = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (tree != nullptr) page = tree / page;
  std::ifstream file(page);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string begins = "<!-- the table of " + std::string(name) + " begins -->\n";
  const std::size_t begin = text.find(begins);
  const std::size_t end = text.find("<!-- the table of " + std::string(name) + " ends -->\n");
  ASSERT_LT(begin, end) << "the page has no place for it";
  ASSERT_NE(end, std::string::npos);
  const std::size_t from = begin + begins.size();
  if (tree != nullptr) {
    text.replace(from, end - from, table);
    std::ofstream(page) << text;
    return;
  }
  EXPECT_EQ(text.substr(from, end - from), table) << "write it: bazel run the test";
}

}  // namespace anyrdma::sim::programs
