#include "transport/soft/prefix.h"

#include <gtest/gtest.h>

namespace anyrdma::transport::soft {
namespace {

TEST(Prefixes, AreReadWithAndWithoutALength) {
  EXPECT_TRUE(Prefix::parse("192.0.2.1")->contains(Address::ipv4(0xc00002ff)));
  EXPECT_FALSE(Prefix::parse("192.0.2.1/31")->contains(Address::ipv4(0xc0000202)));
  EXPECT_TRUE(Prefix::parse("192.0.2.1/31")->contains(Address::ipv4(0xc0000200)));
  EXPECT_EQ(Prefix::parse("2001:db8::1")->bits, 64u);
  for (const char* wrong : {"", "192.0.2", "192.0.2.1/33", "192.0.2.1/", "::/129", "host"}) {
    EXPECT_FALSE(Prefix::parse(wrong)) << wrong;
  }
}

TEST(Prefixes, AreWrittenAsTheyAreRead) {
  for (const char* text : {"192.0.2.1/24", "10.0.0.1/8", "2001:db8::1/64", "::1/128"}) {
    EXPECT_EQ(Prefix::parse(text)->to_string(), text);
  }
  EXPECT_EQ(Prefix::parse("192.0.2.1")->to_string(), "192.0.2.1/24");
}

}  // namespace
}  // namespace anyrdma::transport::soft
