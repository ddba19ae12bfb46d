// Linked into a test whose explorations divide their seeds among Bazel's shards themselves
// (sim::for_this_shard): GoogleTest must not divide the tests as well, so every shard runs all.
#include <cstdlib>
#include <initializer_list>

namespace anyrdma::sim::testing {
namespace {

[[maybe_unused]] const bool kDone = [] {
  for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE"}) {
    ::unsetenv(name);
  }
  return true;
}();

}  // namespace
}  // namespace anyrdma::sim::testing
