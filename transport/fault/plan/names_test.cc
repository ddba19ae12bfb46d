// docs/fault-language.md says how a word of a plan is called in C++: each of them, and as it is.
#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <variant>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {
namespace {

std::string name_of(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> whole(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  const std::string name = whole.get();
  return name.substr(name.rfind(':') + 1);
}

template <class Part>
std::string row_of() {
  return "| `" + std::string(Part::kKind) + "` | `" + name_of(typeid(Part)) + "` |\n";
}

template <class Parts, std::size_t... I>
void expect_rows(const std::string& page, std::index_sequence<I...>) {
  for (const std::string& row : {row_of<std::variant_alternative_t<I, Parts>>()...})
    EXPECT_NE(page.find(row), std::string::npos)
        << "docs/fault-language.md lacks this line: " << row;
}

template <class Parts>
void expect_all(const std::string& page) {
  expect_rows<Parts>(page, std::make_index_sequence<std::variant_size_v<Parts>>());
}

TEST(Names, OfAllThatAPlanMaySayAreOnThePage) {
  std::ifstream file("docs/fault-language.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  ASSERT_FALSE(page.empty());
  expect_all<TriggerKinds>(page);
  expect_all<ActionKinds>(page);
}

}  // namespace
}  // namespace anyrdma::fault
