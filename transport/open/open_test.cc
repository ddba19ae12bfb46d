// Transports by name, as who chooses one sees them.
#include "transport/open/open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "transport/open/real.h"
#include "transport/own_addresses.h"

namespace anyrdma::transport {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

/// What went wrong, by its errno; the sentence must end like one.
int error_of(const OpenResult& result) {
  if (result) return 0;
  EXPECT_THAT(result.error().sentence, EndsWith("."));
  return result.error().code.value();
}

TEST(Open, AnUnknownNameListsTheKnownOnes) {
  const OpenResult result = open("infiniband");

  EXPECT_EQ(error_of(result), EINVAL);
  EXPECT_THAT(result.error().sentence, StartsWith("There is no transport 'infiniband': choose "));
  for (const char* name : {"auto", "fabric", "rxe", "sim", "ucma", "udp"}) {
    EXPECT_THAT(result.error().sentence, HasSubstr(name));
  }
}

TEST(Open, AnEmptyNameIsUnknown) {
  EXPECT_EQ(error_of(open("")), EINVAL);
}

TEST(Open, ValueThrowsTheSentence) {
  try {
    static_cast<void>(open("infiniband").value());
    FAIL();
  } catch (const boost::system::system_error& error) {
    EXPECT_EQ(error.what(), open("infiniband").error().sentence);
    EXPECT_EQ(error.code().value(), EINVAL);
  }
}

TEST(OpenReal, LeavesTheSimulatorToProgramsBuiltWithIt) {
  const OpenResult result = open_real("sim", {});

  EXPECT_EQ(error_of(result), EINVAL);
  EXPECT_THAT(result.error().sentence, HasSubstr("docs/sim.md"));
}

TEST(OpenFabric, JoinsTheFabricOfTheOptions) {
  OpenOptions options;
  options.fabric.directory = ::testing::TempDir();

  const auto opened = open("fabric", options).value();

  EXPECT_STREQ(opened->name(), "fabric");
  EXPECT_EQ(opened->transport().devices().size(), 1u);
  EXPECT_FALSE(opened->forked());
  EXPECT_FALSE(own_addresses(opened->transport()).value().empty());
  opened->retire();
}

TEST(OpenFabric, WhereNoWorldAnswersNothingIsDifferent) {
  OpenOptions options;
  options.fabric.directory = ::testing::TempDir();
  options.asks_world = true;
  const auto opened = open("fabric", options).value();
  auto channel = cm::EventChannel::create(opened->transport()).value();

  errno = 0;
  sockaddr_storage own = own_addresses(opened->transport()).value().front();
  EXPECT_TRUE(cm::Id::create(*channel, RDMA_PS_TCP, nullptr)
                  .value()
                  ->bind(reinterpret_cast<sockaddr*>(&own)));
  EXPECT_EQ(errno, 0);
}

TEST(OpenFabric, OnASimulatedHostThePlanIsTheWorlds) {
  OpenOptions options;
  options.fabric.directory = ::testing::TempDir();
  options.asks_world = true;
  options.faults.plan = fault::FaultPlan::parse("at 3600s: crash here").value();

  const OpenResult result = open("fabric", options);

  EXPECT_EQ(error_of(result), EINVAL);
  EXPECT_THAT(result.error().sentence, HasSubstr("give the fault plan to anyrdma sim"));
}

TEST(OpenFabric, SaysWhyItCannotBeJoined) {
  OpenOptions options;
  options.fabric.name = "no/name";

  const OpenResult result = open("fabric", options);

  EXPECT_EQ(error_of(result), EINVAL);
  EXPECT_THAT(result.error().sentence, HasSubstr("'no/name' cannot name a fabric"));
}

/// A directory without libraries: as on a machine without rdma-core.
OpenOptions without_system_libraries() {
  OpenOptions options;
  options.ucma.library_directories = {::testing::TempDir()};
  options.fabric.directory = ::testing::TempDir();
  return options;
}

TEST(OpenUcma, SaysWhatTheSystemLacks) {
  const OpenResult result = open("ucma", without_system_libraries());

  EXPECT_EQ(error_of(result), ENODEV);
  EXPECT_THAT(result.error().sentence, HasSubstr("lib"));
}

TEST(OpenAuto, ComesToTheFabricWhereThereIsNoDevice) {
  const auto opened = open("auto", without_system_libraries()).value();

  EXPECT_STREQ(opened->name(), "fabric");
}

TEST(OpenAuto, SaysWhatTheFabricLacksWhenThatIsTheLastHope) {
  OpenOptions options = without_system_libraries();
  options.fabric.name = "no/name";

  EXPECT_EQ(error_of(open("auto", options)), EINVAL);
}

TEST(OpenRxe, NamesTheInterfaceThatItCannotUse) {
  OpenOptions options;
  options.interface = "no-such-if";

  const OpenResult result = open("rxe", options);

  EXPECT_NE(error_of(result), 0);  // by machine: no RDMA, no root, no interface
}

in_addr_t only_address_of(Opened& opened) {
  const auto addresses = own_addresses(opened.transport()).value();
  EXPECT_EQ(addresses.size(), 1u);
  return ntohl(reinterpret_cast<const sockaddr_in&>(addresses.at(0)).sin_addr.s_addr);
}

TEST(OpenSim, EveryOpeningIsAHostWithAnAddressOfItsOwn) {
  const auto first = open("sim").value();
  const auto second = open("sim").value();

  EXPECT_EQ(only_address_of(*first), 0x0a000001u);
  EXPECT_EQ(only_address_of(*second), 0x0a000002u);
  EXPECT_STREQ(first->name(), "sim");
}

TEST(OpenSim, WaitingOutsideOfFibersLetsTheOtherHostAnswer) {
  const auto server = open("sim").value();
  const auto client = open("sim").value();
  auto channel = cm::EventChannel::create(client->transport()).value();
  auto id = cm::Id::create(*channel, RDMA_PS_TCP, nullptr).value();
  const sockaddr_storage peer = own_addresses(server->transport()).value().front();

  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), 2s).value();

  EXPECT_EQ(channel->get().value().type(), RDMA_CM_EVENT_ADDR_RESOLVED);
}

TEST(OpenSim, TheWorldEndsWithItsLastHost) {
  OpenOptions options;
  options.seed = 7;
  { const auto host = open("sim", options).value(); }
  options.seed = 8;

  const auto host = open("sim", options).value();

  EXPECT_EQ(only_address_of(*host), 0x0a000001u);
}

TEST(OpenSim, RefusesAnotherSeedInTheSameWorld) {
  OpenOptions options;
  options.seed = 7;
  const auto host = open("sim", options).value();
  EXPECT_TRUE(open("sim"));
  options.seed = 8;

  const OpenResult result = open("sim", options);

  EXPECT_EQ(error_of(result), EINVAL);
  EXPECT_THAT(result.error().sentence, HasSubstr("has the seed 7"));
}

TEST(OpenSim, RefusesAnotherThread) {
  const auto host = open("sim").value();
  int error = 0;

  std::thread([&] { error = error_of(open("sim")); }).join();

  EXPECT_EQ(error, EBUSY);
}

TEST(OpenSim, RetiringHasNoEffect) {
  const auto host = open("sim").value();

  host->retire();
  host->retire();

  EXPECT_FALSE(host->forked());
  EXPECT_EQ(host->transport().devices().size(), 1u);
}

}  // namespace
}  // namespace anyrdma::transport
