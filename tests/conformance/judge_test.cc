// Who judges: the system's librdmacm and libibverbs, and nothing of ours beside them.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <set>
#include <string>

#include "tests/conformance/linked_calls.h"

namespace anyrdma::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

template <class Function>
std::string file_of(Function function) {
  Dl_info about{};
  return ::dladdr(reinterpret_cast<void*>(function), &about) != 0 ? about.dli_fname : "nowhere";
}

TEST(Judge, CallsAreTheSystemsLibraries) {
  const Calls& calls = linked_calls();
  std::set<std::string> cm;
  std::set<std::string> verbs;
#define CONFORMANCE_FILE(NAME, VERSION) cm.insert(file_of(calls.cm.NAME));
  CONFORMANCE_CM_CALLS(CONFORMANCE_FILE)
#undef CONFORMANCE_FILE
#define CONFORMANCE_FILE(NAME, VERSION) verbs.insert(file_of(calls.verbs.NAME));
  CONFORMANCE_VERBS_CALLS(CONFORMANCE_FILE)
#undef CONFORMANCE_FILE
  verbs.insert(file_of(calls.verbs.query_gid_ex));

  EXPECT_THAT(cm, ElementsAre(AllOf(StartsWith("/lib/"), EndsWith("/librdmacm.so.1"))));
  EXPECT_THAT(verbs, ElementsAre(AllOf(StartsWith("/lib/"), EndsWith("/libibverbs.so.1"))));
}

TEST(Judge, NothingOfOursIsMapped) {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> files;
  for (std::string line; std::getline(maps, line);) {
    EXPECT_THAT(line, Not(HasSubstr("libanyrdma")));
    const auto path = line.find('/');
    if (path != std::string::npos) files.insert(line.substr(path));
  }
  for (const std::string& file : files) {
    if (file.find("librdmacm") == std::string::npos && file.find("libibverbs") == std::string::npos)
      continue;
    std::cout << "mapped: " << file << "\n";
    EXPECT_THAT(file, StartsWith("/usr/lib/"));
  }
}

}  // namespace
}  // namespace anyrdma::conformance
