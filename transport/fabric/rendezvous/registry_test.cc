#include "transport/fabric/rendezvous/registry.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "transport/fabric/rendezvous/registry_file.h"
#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/realtime/system_random.h"
#include "transport/realtime/testing/child.h"

namespace anyrdma::transport::fabric {
namespace {

using realtime::testing::Child;
using soft::Address;
using soft::Claim;
using testing::Scratch;

constexpr std::uint32_t kLocalhost = 0x7f000001;
constexpr std::uint32_t kElsewhere = 0x0a000001;

Claim tcp(const Address& local) {
  return {.space = RDMA_PS_TCP, .local = local};
}

Address with_port(Address address, std::uint16_t port) {
  address.port = port;
  return address;
}

class RegistryTest : public ::testing::Test {
 protected:
  std::unique_ptr<Registry> join(const soft::PortTableConfig& ports = {}) {
    return Registry::join(scratch.config(), random, ports).value();
  }
  int listen(Registry& registry, const Claim& wanted) {
    const auto claimed = registry.claim(wanted);
    if (!claimed) return claimed.error().value();
    const auto done = registry.listen(claimed->id);
    return done ? 0 : done.error().value();
  }
  void make_place() const { ASSERT_EQ(::mkdir(scratch.place().c_str(), 0700), 0); }
  boost::system::error_code refusal() {
    const auto joined = Registry::join(scratch.config(), random);
    return joined ? boost::system::error_code() : joined.error();
  }

  Scratch scratch;
  realtime::SystemRandom random;
};

using RegistryMembership = RegistryTest;
using RegistryFileChecks = RegistryTest;
using RegistryPorts = RegistryTest;
using RegistryListeners = RegistryTest;

TEST_F(RegistryMembership, TheFileAppearsWithTheFirstMemberAndGoesWithTheLast) {
  EXPECT_FALSE(scratch.exists());
  auto first = join();
  auto second = join();
  EXPECT_TRUE(scratch.exists());

  first.reset();
  EXPECT_TRUE(scratch.exists());
  second.reset();
  EXPECT_FALSE(scratch.exists());
}

TEST_F(RegistryMembership, MembersSeeEachOther) {
  auto first = join();
  auto second = join();

  EXPECT_NE(first->slot(), second->slot());
  EXPECT_EQ(first->others(), std::vector{second->slot()});
  EXPECT_EQ(second->others(), std::vector{first->slot()});
}

TEST_F(RegistryMembership, AKilledMemberIsNoLongerThere) {
  auto mine = join();
  Child child([this](const Child::Line& line) {
    auto registry = join();
    line.send('j');
    return line.receive();
  });
  ASSERT_EQ(child.receive(), 'j');
  ASSERT_EQ(mine->others().size(), 1u);

  child.kill();

  EXPECT_TRUE(mine->others().empty());
  mine.reset();
  EXPECT_FALSE(scratch.exists());
}

TEST_F(RegistryMembership, TheLeftoverOfKilledMembersIsReused) {
  Child child([this](const Child::Line& line) {
    auto registry = join();
    (void)registry->claim(tcp(Address::ipv4(kLocalhost, 7471)));
    line.send('j');
    return line.receive();
  });
  ASSERT_EQ(child.receive(), 'j');
  child.kill();
  ASSERT_TRUE(scratch.exists());

  auto mine = join();

  EXPECT_EQ(listen(*mine, tcp(Address::ipv4(kLocalhost, 7471))), 0);
  mine.reset();
  EXPECT_FALSE(scratch.exists());
}

TEST_F(RegistryMembership, SlotsRestBeforeTheyAreGivenOutAgain) {
  auto keeper = join();
  auto brief = join();
  const Slot slot = brief->slot();
  const std::uint64_t incarnation = brief->incarnation();
  brief.reset();

  for (std::uint32_t i = 0; i + 2 < kSlotCount; ++i) {
    brief = join();
    EXPECT_NE(brief->slot(), slot);
    brief.reset();
  }
  brief = join();

  EXPECT_EQ(brief->slot(), slot);
  EXPECT_NE(brief->incarnation(), incarnation);
}

// A packet on its way to who was there would reach who is there now, and a peer that has not heard
// of the end yet would refuse a request from the same queue pair number.
TEST_F(RegistryMembership, SlotsRestHoweverManyJoinAtOnce) {
  constexpr std::size_t kThreads = 8;
  constexpr int kJoins = 100;
  auto keeper = join();
  std::array<std::vector<std::pair<std::uint64_t, Slot>>, kThreads> seen;
  {
    std::vector<std::jthread> threads;
    for (auto& mine : seen) {
      threads.emplace_back([this, &mine] {
        realtime::SystemRandom own;
        for (int i = 0; i < kJoins; ++i) {
          const auto brief = Registry::join(scratch.config(), own, {}).value();
          mine.emplace_back(brief->incarnation(), brief->slot());
        }
      });
    }
  }

  std::set<std::pair<std::uint64_t, Slot>> all;
  for (const auto& each : seen) all.insert(each.begin(), each.end());
  ASSERT_EQ(all.size(), kThreads * kJoins);
  std::set<Slot> slots{keeper->slot()};
  for (const auto& [incarnation, slot] : all)
    EXPECT_TRUE(slots.insert(slot).second) << value(slot) << " again, incarnation " << incarnation;
}

TEST_F(RegistryMembership, AFullTableRefusesAndRecovers) {
  std::vector<std::unique_ptr<Registry>> all;
  while (all.size() < kSlotCount) all.push_back(join());

  EXPECT_EQ(refusal(), make_error_code(FabricErrc::kTooManyProcesses));

  all.pop_back();
  EXPECT_EQ(refusal(), boost::system::error_code());
}

TEST_F(RegistryMembership, AfterLeavingNothingWorksAndNothingHarms) {
  auto mine = join();
  const auto port = mine->claim(tcp(Address::ipv4(kLocalhost, 5000)));

  mine->leave();
  mine->leave();

  EXPECT_FALSE(scratch.exists());
  EXPECT_EQ(listen(*mine, tcp(Address::ipv4(kLocalhost, 5001))), EADDRNOTAVAIL);
  mine->release(port->id);
  EXPECT_TRUE(mine->others().empty());
}

TEST_F(RegistryMembership, FilesOfKilledFabricsAreSweptAndThoseInUseAreNot) {
  FabricConfig killed = scratch.config();
  killed.name = "killed";
  FabricConfig used = scratch.config();
  used.name = "used";
  FabricConfig chance = scratch.config();
  chance.name = "notes";
  make_place();
  std::ofstream(scratch.file(chance.name)) << "a file of such a name by chance";
  ASSERT_EQ(::chmod(scratch.file(chance.name).c_str(), 0600), 0);
  const auto user = Registry::join(used, random).value();
  Registry::join(killed, random).value()->abandon();
  ASSERT_TRUE(std::filesystem::exists(scratch.file(killed.name)));

  const auto mine = join();

  EXPECT_FALSE(std::filesystem::exists(scratch.file(killed.name)));
  EXPECT_TRUE(std::filesystem::exists(scratch.file(used.name)));
  EXPECT_TRUE(std::filesystem::exists(scratch.file(chance.name)));
}

TEST_F(RegistryMembership, JoiningWhileTheLastOneLeavesAlwaysMeets) {
  constexpr int kRounds = 300;
  Child child([this](const Child::Line&) {
    for (int i = 0; i < kRounds; ++i) join().reset();
    return 0;
  });

  for (int i = 0; i < kRounds; ++i) {
    const auto first = join();
    const auto second = join();
    ASSERT_EQ(first->place(), second->place());
    ASSERT_TRUE(std::filesystem::exists(scratch.file()));
  }

  EXPECT_EQ(child.wait(), 0);
}

TEST_F(RegistryMembership, AFileRemovedByHandDoesNotStopItsUsers) {
  auto mine = join();
  std::filesystem::remove(scratch.file());

  auto other = join();  // makes a new one: the two do not meet
  EXPECT_TRUE(other->others().empty());
  EXPECT_NE(other->place(), mine->place());
  mine.reset();

  EXPECT_TRUE(scratch.exists());
}

TEST_F(RegistryFileChecks, ASymbolicLinkIsRefused) {
  make_place();
  const std::string target = scratch.config().directory + "/elsewhere";
  std::ofstream(target) << "precious";
  std::filesystem::create_symlink(target, scratch.file());

  EXPECT_EQ(refusal(), make_error_code(FabricErrc::kNotOurs));
  EXPECT_EQ(std::filesystem::file_size(target), 8u);
}

TEST_F(RegistryFileChecks, AFileOthersMayReadIsRefused) {
  make_place();
  std::ofstream(scratch.file()) << "";
  ASSERT_EQ(::chmod(scratch.file().c_str(), 0644), 0);

  EXPECT_EQ(refusal(), make_error_code(FabricErrc::kNotOurs));
}

TEST_F(RegistryFileChecks, AnotherUsersFileIsRefused) {
  make_place();
  const std::string path = scratch.file();
  std::ofstream(path) << "";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  if (::chown(path.c_str(), ::geteuid() + 1, ::getegid()) != 0)
    GTEST_SKIP() << "only root can give a file away";

  EXPECT_EQ(refusal(), make_error_code(FabricErrc::kNotOurs));
}

TEST_F(RegistryFileChecks, ADirectoryOrAFifoOfThatNameIsRefused) {
  make_place();
  const std::string path = scratch.file();
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  EXPECT_EQ(refusal(), make_error_code(FabricErrc::kNotOurs));

  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(refusal(), make_error_code(FabricErrc::kNotOurs));
}

TEST_F(RegistryFileChecks, AMissingDirectoryIsNamed) {
  FabricConfig config = scratch.config();
  config.directory += "/nowhere";

  const auto joined = Registry::join(config, random);

  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error(), make_error_code(FabricErrc::kNoDirectory));
  EXPECT_NE(explain(joined.error(), config).find("/nowhere"), std::string::npos);
}

TEST_F(RegistryFileChecks, AnotherVersionInUseIsRefusedAndItsLeftoverReplaced) {
  auto other = join();
  {
    RegistryFile file = RegistryFile::open(scratch.config()).value();
    file.image().magic.store(1);
  }
  EXPECT_EQ(refusal(), make_error_code(FabricErrc::kOtherVersion));

  other->abandon();

  EXPECT_EQ(refusal(), boost::system::error_code());
}

TEST_F(RegistryFileChecks, ALeftoverOfAnotherSizeIsReplaced) {
  make_place();
  const std::string path = scratch.file();
  std::ofstream(path) << "something else";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);

  EXPECT_EQ(refusal(), boost::system::error_code());
}

TEST_F(RegistryPorts, OneOwnerAcrossProcesses) {
  auto mine = join();
  ASSERT_EQ(listen(*mine, tcp(Address::ipv4(kLocalhost, 7471))), 0);

  Child child([this](const Child::Line&) {
    auto registry = join();
    return listen(*registry, tcp(Address::ipv4(kLocalhost, 7471)));
  });

  EXPECT_EQ(child.wait(), EADDRNOTAVAIL);
}

TEST_F(RegistryPorts, TheRulesAreThoseOfTheKernel) {
  auto a = join();
  auto b = join();
  const Address here = Address::ipv4(kElsewhere, 7471);

  EXPECT_EQ(listen(*a, tcp(here)), 0);
  EXPECT_EQ(listen(*b, tcp(here)), EADDRINUSE);
  EXPECT_EQ(listen(*b, tcp(with_port(Address::wildcard(AF_INET), 7471))), EADDRNOTAVAIL);
  EXPECT_EQ(listen(*b, tcp(Address::ipv4(kElsewhere + 1, 7471))), 0);
  EXPECT_EQ(listen(*b, {.space = RDMA_PS_UDP, .local = here}), 0);
}

TEST_F(RegistryPorts, OfTwoThatAreInTheWayTheNewerAnswersWhicheverRecordItHas) {
  const auto member = join();
  const Claim alone = tcp(with_port(Address::ipv4(kElsewhere), 7471));
  Claim address = alone;
  Claim wildcard = tcp(with_port(Address::wildcard(AF_INET), 7471));
  address.reuse = wildcard.reuse = true;
  const auto older = member->claim(address).value();
  ASSERT_TRUE(member->claim(wildcard));
  EXPECT_EQ(member->claim(alone).error(), verbs::errno_code(EADDRNOTAVAIL));

  member->release(older.id);
  ASSERT_TRUE(member->claim(address));
  EXPECT_EQ(member->claim(alone).error(), verbs::errno_code(EADDRINUSE));
}

TEST_F(RegistryPorts, ReuseEndsWithListening) {
  auto a = join();
  auto b = join();
  Claim wanted = tcp(Address::ipv4(kElsewhere, 7471));
  wanted.reuse = true;
  const auto first = a->claim(wanted).value();
  const auto second = b->claim(wanted).value();

  EXPECT_EQ(a->listen(first.id).error().value(), EADDRINUSE);
  b->release(second.id);
  EXPECT_TRUE(a->listen(first.id));
  EXPECT_EQ(b->claim(wanted).error().value(), EADDRINUSE);
}

TEST_F(RegistryPorts, LowPortsNeedThePrivilege) {
  auto mine = join({.privileged = false});

  EXPECT_EQ(listen(*mine, tcp(Address::ipv4(kLocalhost, 1023))), EACCES);
  EXPECT_EQ(listen(*mine, tcp(Address::ipv4(kLocalhost, 1024))), 0);
}

TEST_F(RegistryPorts, EphemeralPortsAreSharedOutAndReclaimedFromTheDead) {
  const soft::PortTableConfig narrow{.ephemeral_first = 40000, .ephemeral_last = 40001};
  Child child([this, &narrow](const Child::Line& line) {
    auto registry = join(narrow);
    (void)registry->claim(tcp(Address::wildcard(AF_INET)));
    (void)registry->claim(tcp(Address::wildcard(AF_INET)));
    line.send('c');
    return line.receive();
  });
  ASSERT_EQ(child.receive(), 'c');
  auto mine = join(narrow);
  EXPECT_EQ(listen(*mine, tcp(Address::wildcard(AF_INET))), EADDRNOTAVAIL);

  child.kill();

  EXPECT_EQ(listen(*mine, tcp(Address::wildcard(AF_INET))), 0);
}

TEST_F(RegistryPorts, AFullTableRefusesAndRecovers) {
  auto mine = join();
  Claim wanted = tcp(Address::ipv4(kElsewhere, 0));
  wanted.reuse = true;
  std::vector<soft::ClaimId> ids;
  for (std::uint32_t i = 0; i < kPortRecords; ++i) {
    wanted.local.port = static_cast<std::uint16_t>(1024 + i % kPortBuckets);
    ids.push_back(mine->claim(wanted).value().id);
  }

  EXPECT_EQ(mine->claim(wanted).error().value(), EADDRNOTAVAIL);

  mine->release(ids.back());  // a record stays with the ports of its list
  EXPECT_TRUE(mine->claim(wanted));
}

TEST_F(RegistryPorts, ClaimsStayTwoWhenAStrangerFreesTheRecordOfOne) {
  auto registry = join();
  auto file = RegistryFile::open(scratch.config()).value();
  const auto first = registry->claim(tcp(Address::ipv4(kLocalhost, 5000))).value();
  constexpr std::uint64_t kStateAndCopy = 0xf;
  file.port(0)->stamp &= ~kStateAndCopy;

  const auto second = registry->claim(tcp(Address::ipv4(kLocalhost, 5000))).value();

  EXPECT_NE(first.id, second.id);
  EXPECT_FALSE(registry->listen(first.id));
  registry->release(first.id);
  EXPECT_TRUE(registry->listen(second.id));
  EXPECT_EQ(registry->listener(RDMA_PS_TCP, Address::ipv4(kLocalhost, 5000)), registry->slot());
  registry->release(second.id);
}

TEST_F(RegistryListeners, TheSpecificOneIsPreferred) {
  auto a = join();
  auto b = join();
  const Address here = Address::ipv4(kElsewhere, 7471);
  Claim any = tcp(with_port(Address::wildcard(AF_INET6), 7471));
  any.reuse = any.afonly = true;
  Claim specific = tcp(here);
  specific.reuse = specific.afonly = true;
  ASSERT_EQ(listen(*a, any), 0);
  ASSERT_EQ(listen(*b, specific), 0);

  EXPECT_EQ(b->listener(RDMA_PS_TCP, here), b->slot());
  EXPECT_EQ(b->listener(RDMA_PS_TCP, with_port(Address::loopback(AF_INET6), 7471)), a->slot());
  EXPECT_EQ(b->listener(RDMA_PS_TCP, with_port(here, 7472)), std::nullopt);
  EXPECT_EQ(b->listener(RDMA_PS_IB, here), std::nullopt);
}

TEST_F(RegistryListeners, OneForAnotherAddressIsTheLastResort) {
  auto a = join();
  auto b = join();
  const Address here = Address::ipv4(kElsewhere, 7471);
  const Address there = Address::ipv4(kElsewhere + 1, 7471);

  ASSERT_EQ(listen(*a, tcp(here)), 0);
  EXPECT_EQ(b->listener(RDMA_PS_TCP, there), a->slot());

  ASSERT_EQ(listen(*b, tcp(there)), 0);
  EXPECT_EQ(b->listener(RDMA_PS_TCP, there), b->slot());
}

TEST_F(RegistryListeners, BoundIsNotListening) {
  auto mine = join();
  const auto port = mine->claim(tcp(Address::ipv4(kLocalhost, 7471))).value();
  EXPECT_EQ(mine->listener(RDMA_PS_TCP, Address::ipv4(kLocalhost, 7471)), std::nullopt);

  ASSERT_TRUE(mine->listen(port.id));
  EXPECT_EQ(mine->listener(RDMA_PS_TCP, Address::ipv4(kLocalhost, 7471)), mine->slot());

  mine->release(port.id);
  EXPECT_EQ(mine->listener(RDMA_PS_TCP, Address::ipv4(kLocalhost, 7471)), std::nullopt);
}

TEST_F(RegistryListeners, TheDeadDoNotListen) {
  auto mine = join();
  Child child([this](const Child::Line& line) {
    auto registry = join();
    line.send(listen(*registry, tcp(Address::ipv4(kLocalhost, 7471))) == 0 ? 'l' : 'e');
    return line.receive();
  });
  ASSERT_EQ(child.receive(), 'l');
  ASSERT_NE(mine->listener(RDMA_PS_TCP, Address::ipv4(kLocalhost, 7471)), std::nullopt);

  child.kill();

  EXPECT_EQ(mine->listener(RDMA_PS_TCP, Address::ipv4(kLocalhost, 7471)), std::nullopt);
}

}  // namespace
}  // namespace anyrdma::transport::fabric
