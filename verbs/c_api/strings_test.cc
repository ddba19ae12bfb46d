// Names and rates against the library that programs know: Debian's, loaded beside ours.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

namespace anyrdma::c_api {
namespace {

class DebiansLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = ::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) GTEST_SKIP() << "libibverbs1 is not installed: " << ::dlerror();
  }
  void TearDown() override {
    if (library_ != nullptr) ::dlclose(library_);
  }

  template <class Function>
  Function* theirs(const char* name, Function* ours) {
    auto* found = reinterpret_cast<Function*>(::dlsym(library_, name));
    EXPECT_NE(found, nullptr) << name;
    EXPECT_NE(found, ours) << name << " is our own";
    return found;
  }

  /// Compares a naming function over more values than there are enumerators; but `newer`, which
  /// Debian 12's library does not know.
  template <class Enum>
  void compare_names(const char* name, const char* (*ours)(Enum), int newer = -2) {
    auto* other = theirs(name, ours);
    for (int value = -1; value < 40; ++value) {
      if (value == newer) continue;
      EXPECT_STREQ(ours(static_cast<Enum>(value)), other(static_cast<Enum>(value)))
          << name << " of " << value;
    }
  }

 private:
  void* library_ = nullptr;
};

TEST_F(DebiansLibrary, NamesEveryEnumeratorAsWeDo) {
  compare_names("ibv_wc_status_str", ibv_wc_status_str);
  compare_names("ibv_node_type_str", ibv_node_type_str);
  compare_names("ibv_port_state_str", ibv_port_state_str);
  compare_names("ibv_event_type_str", ibv_event_type_str, IBV_EVENT_WQ_FATAL + 1);
}

TEST_F(DebiansLibrary, KnowsTheRatesWeKnow) {
  auto* to_mult = theirs("ibv_rate_to_mult", ibv_rate_to_mult);
  auto* to_mbps = theirs("ibv_rate_to_mbps", ibv_rate_to_mbps);
  for (int value = -1; value < 40; ++value) {
    const auto rate = static_cast<ibv_rate>(value);
    EXPECT_EQ(ibv_rate_to_mult(rate), to_mult(rate)) << value;
    EXPECT_EQ(ibv_rate_to_mbps(rate), to_mbps(rate)) << value;
  }
}

TEST_F(DebiansLibrary, FindsTheSameRateForEveryNumber) {
  auto* from_mult = theirs("mult_to_ibv_rate", mult_to_ibv_rate);
  auto* from_mbps = theirs("mbps_to_ibv_rate", mbps_to_ibv_rate);
  for (int mult = -1; mult < 600; ++mult)
    EXPECT_EQ(mult_to_ibv_rate(mult), from_mult(mult)) << mult;
  for (int mbps = -1; mbps < 1'300'000; ++mbps)
    ASSERT_EQ(mbps_to_ibv_rate(mbps), from_mbps(mbps)) << mbps;
}

}  // namespace
}  // namespace anyrdma::c_api
