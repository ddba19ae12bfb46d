// transport/rxe on the kernel it is about: run in the machine, as root. There rxe0 is a link on
// veth0, and veth1 has neither link nor address.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "transport/rxe/interface.h"
#include "transport/rxe/link.h"

namespace anyrdma::transport::rxe {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

std::vector<std::string> links_there() {
  std::vector<std::string> result;
  for (const LinkInfo& link : links().value())
    result.push_back(link.name + " on " + link.interface);
  return result;
}

template <class Condition>
bool eventually(Condition&& condition) {
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

bool has_gid(const std::string& link, const std::string& wanted) {
  for (int index = 0; index < 8; ++index) {
    std::ifstream file("/sys/class/infiniband/" + link + "/ports/1/gids/" + std::to_string(index));
    std::string gid;
    if (file >> gid && gid == wanted) return true;
  }
  return false;
}

std::string queueing_of(const std::string& interface) {
  const std::unique_ptr<FILE, int (*)(FILE*)> tc(
      popen(("tc qdisc show dev " + interface).c_str(), "r"), pclose);
  std::string text;
  char line[256];
  while (std::fgets(line, sizeof line, tc.get()) != nullptr) text += line;
  return text;
}

TEST(RxeLinks, AreListedWithTheirInterfaces) {
  EXPECT_THAT(links_there(), ElementsAre("rxe0 on veth0"));
}

TEST(RxeLinks, EndWithTheOwnerThatMadeThem) {
  {
    const Link link = Link::add("rxe1", "veth1").value();
    EXPECT_THAT(links_there(), ElementsAre("rxe0 on veth0", "rxe1 on veth1"));
  }
  EXPECT_THAT(links_there(), ElementsAre("rxe0 on veth0"));
}

TEST(RxeLinks, AreFoundRatherThanMade) {
  {
    const Link any = Link::find_or_add("").value();
    EXPECT_EQ(any.name(), "rxe0");
    EXPECT_FALSE(any.was_made());
  }
  EXPECT_THAT(links_there(), ElementsAre("rxe0 on veth0"));
}

TEST(RxeLinks, AreMadeUnderAFreeNameAndHaveTheirAddressAtOnce) {
  ASSERT_TRUE(add_address("veth1", "10.9.1.1/24"));
  {
    const Link link = Link::find_or_add("veth1").value();
    EXPECT_EQ(link.name(), "rxe1");
    EXPECT_TRUE(link.was_made());
    EXPECT_TRUE(has_gid(link.name(), "0000:0000:0000:0000:0000:ffff:0a09:0101"));
  }
  ASSERT_TRUE(remove_address("veth1", "10.9.1.1/24"));
  EXPECT_THAT(links_there(), ElementsAre("rxe0 on veth0"));
}

TEST(RxeLinks, AreRefusedWithTheReason) {
  EXPECT_EQ(add_link("rxe0", "veth1").error(), RxeErrc::kNameTaken);
  EXPECT_EQ(add_link("rxe1", "veth0").error(), RxeErrc::kInterfaceTaken);
  EXPECT_EQ(add_link("rxe1", "veth9").error(), RxeErrc::kNoInterface);
  EXPECT_EQ(remove_link("rxe1").error(), RxeErrc::kNoLink);
  EXPECT_THAT(links_there(), ElementsAre("rxe0 on veth0"));
}

TEST(RxeLinks, AndFaultsTakeRoot) {
  ASSERT_EQ(seteuid(65534), 0);
  const auto added = add_link("rxe1", "veth1");
  const auto removed = remove_link("rxe0");
  const auto addressed = add_address("veth1", "10.9.1.1/24");
  const auto impaired = impair("veth1", {.loss = 0.5});
  const auto listed = links_there();
  ASSERT_EQ(seteuid(0), 0);

  EXPECT_EQ(added.error(), RxeErrc::kNotPermitted);
  EXPECT_EQ(removed.error(), RxeErrc::kNotPermitted);
  EXPECT_EQ(addressed.error(), RxeErrc::kNotPermitted);
  EXPECT_EQ(impaired.error(), RxeErrc::kNotPermitted);
  EXPECT_THAT(listed, ElementsAre("rxe0 on veth0"));
}

TEST(RxeAddress, OfTheInterfaceIsAGidOfTheDevice) {
  const std::string gid = "0000:0000:0000:0000:0000:ffff:0a09:0101";
  const Link link = Link::add("rxe1", "veth1").value();

  ASSERT_TRUE(add_address("veth1", "10.9.1.1/24"));
  EXPECT_TRUE(eventually([&] { return has_gid("rxe1", gid); }));
  EXPECT_EQ(add_address("veth1", "10.9.1.1/24").error().value(), EEXIST);

  ASSERT_TRUE(remove_address("veth1", "10.9.1.1/24"));
  EXPECT_TRUE(eventually([&] { return !has_gid("rxe1", gid); }));
  EXPECT_EQ(remove_address("veth1", "10.9.1.1/24").error().value(), EADDRNOTAVAIL);
}

TEST(RxeImpairment, IsTheKernelsNetem) {
  ASSERT_TRUE(impair("veth1", {.loss = 0.1, .delay = 5ms, .jitter = 1ms}));
  EXPECT_THAT(queueing_of("veth1"), AllOf(HasSubstr("netem"), HasSubstr("limit 1000"),
                                          HasSubstr("delay 5ms  1ms"), HasSubstr("loss 10%")));
}

TEST(RxeImpairment, ReplacesTheOneBeforeAndEnds) {
  ASSERT_TRUE(impair("veth1", {.loss = 0.1}));
  ASSERT_TRUE(impair("veth1", {.loss = 1}));
  EXPECT_THAT(queueing_of("veth1"), AllOf(HasSubstr("loss 100%"), Not(HasSubstr("loss 10%"))));

  EXPECT_TRUE(repair("veth1"));
  EXPECT_THAT(queueing_of("veth1"), Not(HasSubstr("netem")));
  EXPECT_TRUE(repair("veth1"));
}

/// Run last, by name: takes modules away for good.
TEST(DISABLED_RxeWithoutModules, SaysWhichIsMissing) {
  ASSERT_TRUE(remove_link("rxe0"));
  ASSERT_EQ(std::system("rmmod sch_netem rdma_rxe"), 0);

  EXPECT_EQ(add_link("rxe0", "veth0").error(), RxeErrc::kNoModule);
  EXPECT_EQ(impair("veth0", {.loss = 1}).error(), RxeErrc::kNoNetem);
}

}  // namespace
}  // namespace anyrdma::transport::rxe
