// Objects by their handles: who finds what, and for how long a handle names nothing afterwards.
#include "verbs/soft/handle_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "verbs/testing/errno_of.h"

namespace anyrdma::verbs::soft {
namespace {

using verbs::testing::errno_of;

template <ObjectKind kind>
struct Thing {
  static constexpr ObjectKind kKind = kind;
  ibv_context* context = nullptr;
  std::uint32_t handle = 0;
  Registration registration;
};
using Domain = Thing<ObjectKind::kProtectionDomain>;
using Queue = Thing<ObjectKind::kCompletionQueue>;

class Handles : public ::testing::Test {
 protected:
  template <class T>
  std::unique_ptr<T> make(ibv_context& context) {
    auto made = std::make_unique<T>();
    made->context = &context;
    made->handle = table_.add(*made);
    return made;
  }

  HandleTable table_;
  ibv_context own_{};
  ibv_context other_{};
};

TEST_F(Handles, ACopyIsTheObjectItself) {
  const auto domain = make<Domain>(own_);
  const ibv_pd copy{.context = &own_, .handle = domain->handle};

  EXPECT_EQ(table_.find<Domain>(copy).value(), domain.get());
}

TEST_F(Handles, AnswerAsTheKernelDoesWhenTheyAreNot) {
  const auto domain = make<Domain>(own_);
  const auto foreign = make<Domain>(other_);

  EXPECT_EQ(errno_of(table_.find<Domain>(&own_, 1000u)), ENOENT);
  EXPECT_EQ(errno_of(table_.find<Domain>(&own_, 0u)), ENOENT) << "an empty struct's";
  EXPECT_EQ(errno_of(table_.find<Domain>(&own_, foreign->handle)), ENOENT);
  EXPECT_EQ(errno_of(table_.find<Queue>(&own_, domain->handle)), EINVAL);
  EXPECT_EQ(errno_of(table_.find<Queue>(&own_, foreign->handle)), ENOENT)
      << "nobody hears of what others have";
}

TEST_F(Handles, AreStaleOnceTheObjectHasEnded) {
  auto domain = make<Domain>(own_);
  const std::uint32_t handle = domain->handle;
  EXPECT_FALSE(table_.is_stale(handle));

  domain.reset();

  EXPECT_EQ(errno_of(table_.find<Domain>(&own_, handle)), ENOENT);
  EXPECT_TRUE(table_.is_stale(handle));
  EXPECT_FALSE(table_.is_stale(0));
  EXPECT_FALSE(table_.is_stale(1000)) << "never was one";
}

TEST_F(Handles, EndWithTheObjectWhateverTheProgramWroteOverItsStruct) {
  auto first = make<Domain>(own_);
  const auto second = make<Domain>(own_);
  first->handle = second->handle;

  first.reset();

  EXPECT_EQ(table_.find<Domain>(&own_, second->handle).value(), second.get());
}

TEST_F(Handles, RestForAThousandOthersBeforeTheyComeBack) {
  const std::uint32_t first = make<Domain>(own_)->handle;
  std::vector<std::uint32_t> later;
  for (int i = 0; i < 1024; ++i) later.push_back(make<Domain>(own_)->handle);
  EXPECT_EQ(std::count(later.begin(), later.end(), first), 0);

  EXPECT_EQ(make<Domain>(own_)->handle, first);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
