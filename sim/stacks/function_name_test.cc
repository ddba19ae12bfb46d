#include "sim/stacks/function_name.h"

#include <gtest/gtest.h>

namespace anyrdma::sim::stacks {
namespace {

TEST(ShortName, LeavesParametersTemplatesAndResultsOut) {
  EXPECT_EQ(short_name("sem_wait"), "sem_wait");
  EXPECT_EQ(short_name("a::b::run(int, char const*)"), "a::b::run");
  EXPECT_EQ(short_name("void a::run<int, a::b<char> >(a::b<int>&&) const"), "a::run");
  EXPECT_EQ(short_name("std::vector<int, std::allocator<int> >::at(unsigned long) const"),
            "std::vector::at");
  EXPECT_EQ(short_name("decltype ({parm#1}()) a::guarded<get::{lambda()#1}>(get::{lambda()#1}&&)"),
            "a::guarded");
}

TEST(ShortName, KeepsWhatHasNoOtherName) {
  EXPECT_EQ(
      short_name("a::(anonymous namespace)::Thread::run()::{lambda(int)#1}::operator()() const"),
      "a::(anonymous)::Thread::run::{lambda}::operator()");
  EXPECT_EQ(short_name("std::ostream& operator<< <char>(std::ostream&, char const*)"),
            "operator<< <char>");
  EXPECT_EQ(short_name("a::Pointer::operator->() const"), "a::Pointer::operator->");
  EXPECT_EQ(short_name("a::Number::operator bool() const"), "a::Number::operator bool");
}

TEST(ShortName, NeverSaysNothing) {
  EXPECT_EQ(short_name("(strange"), "(strange");
  EXPECT_EQ(short_name(""), "");
}

}  // namespace
}  // namespace anyrdma::sim::stacks
