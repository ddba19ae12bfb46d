// The rendezvous against strangers, and against processes that are stopped, killed, or out of room.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "transport/fabric/rendezvous/registry.h"
#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/realtime/system_random.h"
#include "transport/realtime/testing/child.h"

namespace anyrdma::transport::fabric {
namespace {

using realtime::testing::Child;
using soft::Address;
using testing::Scratch;

constexpr std::uint32_t kLocalhost = 0x7f000001;
constexpr uid_t kStranger = 54321;

/// What a child says that may not do what the test needs.
constexpr char kNotAllowed = '-';

class Rendezvous : public ::testing::Test {
 protected:
  std::unique_ptr<Registry> join() { return Registry::join(scratch.config(), random).value(); }
  boost::system::error_code refusal() {
    const auto joined = Registry::join(scratch.config(), random);
    return joined ? boost::system::error_code() : joined.error();
  }
  static int listen(Registry& registry, std::uint16_t port) {
    const auto claimed =
        registry.claim({.space = RDMA_PS_TCP, .local = Address::ipv4(kLocalhost, port)});
    if (!claimed) return claimed.error().value();
    const auto done = registry.listen(claimed->id);
    return done ? 0 : done.error().value();
  }
  /// Everything that a program does, once. 0: all of it could be done.
  int use() {
    const auto mine = join();
    const auto claimed = mine->claim({.space = RDMA_PS_TCP, .local = Address::ipv4(kLocalhost, 0)});
    if (!claimed) return 1;
    if (!mine->listen(claimed->id)) return 2;
    if (mine->listener(RDMA_PS_TCP, Address::ipv4(kLocalhost, claimed->port)) != mine->slot())
      return 3;
    mine->release(claimed->id);
    return 0;
  }
  /// The same in another process, which must end in time.
  int use_in_time() {
    Child child([this](const Child::Line&) {
      ::alarm(30);
      return use();
    });
    return child.wait();
  }

  Scratch scratch;
  realtime::SystemRandom random;
};

using RendezvousStrangers = Rendezvous;
using RendezvousStopped = Rendezvous;
using RendezvousKilled = Rendezvous;
using RendezvousRoom = Rendezvous;
using RendezvousPeers = Rendezvous;

// --- other users --------------------------------------------------------------------------------

TEST_F(RendezvousStrangers, ANameThatIsTakenIsPassedOverByAll) {
  std::ofstream(scratch.place()) << "a stranger's file";
  ASSERT_EQ(::mkdir((scratch.place() + ".1").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((scratch.place() + ".1").c_str(), 0777), 0);
  std::filesystem::create_directory_symlink("/", scratch.place() + ".2");

  const auto first = join();
  const auto second = join();

  EXPECT_EQ(first->directory().path(), scratch.place() + ".3");
  EXPECT_EQ(first->others(), std::vector{second->slot()});
}

TEST_F(RendezvousStrangers, ADirectoryOfAnotherUserIsPassedOver) {
  ASSERT_EQ(::mkdir(scratch.place().c_str(), 0700), 0);
  if (::chown(scratch.place().c_str(), kStranger, kStranger) != 0)
    GTEST_SKIP() << "only root can make a stranger's directory";

  EXPECT_EQ(join()->directory().path(), scratch.place() + ".1");
}

TEST_F(RendezvousStrangers, ANameThatIsGivenBackDoesNotPartTheProcesses) {
  std::ofstream(scratch.place()) << "a stranger's file";
  const auto first = join();
  std::filesystem::remove(scratch.place());

  const auto second = join();

  EXPECT_EQ(first->others(), std::vector{second->slot()});
}

TEST_F(RendezvousStrangers, HoweverManyNamesAreGivenBackTheProcessesMeet) {
  ASSERT_EQ(::chmod(scratch.config().directory.c_str(), 01777), 0);
  const auto name = [this](int i) {
    return scratch.place() + (i == 0 ? "" : "." + std::to_string(i));
  };
  for (int i = 0; i < 40; ++i) std::ofstream(name(i)) << "a stranger's file";
  const auto first = join();
  ASSERT_EQ(first->directory().path(), name(40));
  for (int i = 0; i < 40; ++i) std::filesystem::remove(name(i));

  const auto second = join();

  EXPECT_EQ(first->others(), std::vector{second->slot()});
}

TEST_F(RendezvousStrangers, WhoTakesAllNamesIsNamed) {
  std::ofstream(scratch.place()) << "";
  for (int i = 1; i < 1024; ++i) std::ofstream(scratch.place() + "." + std::to_string(i)) << "";

  EXPECT_EQ(refusal(), make_error_code(FabricErrc::kNamesTaken));
}

TEST_F(RendezvousStrangers, AnotherUserHasAPlaceOfItsOwnAndCannotEnterOurs) {
  const auto mine = join();
  ASSERT_EQ(::chmod(scratch.config().directory.c_str(), 01777), 0);
  Child child([this](const Child::Line& line) {
    if (::setresgid(kStranger, kStranger, kStranger) != 0 ||
        ::setresuid(kStranger, kStranger, kStranger) != 0)
      return line.send(kNotAllowed), 0;
    line.send('s');
    if (::open(scratch.place().c_str(), O_RDONLY) >= 0) return 1;
    if (::open(scratch.file().c_str(), O_RDWR) >= 0) return 2;
    FabricConfig config = scratch.config();
    config.uid = kStranger;
    const auto other = Registry::join(config, random);
    return other && (*other)->others().empty() ? 0 : 3;
  });
  if (child.receive() == kNotAllowed) GTEST_SKIP() << "only root can become another user";

  EXPECT_EQ(child.wait(), 0);
}

// --- processes that are stopped -----------------------------------------------------------------

TEST_F(RendezvousStopped, WhileItRemovesTheFileKeepsNobodyOut) {
  {
    const auto leftover = join();
    leftover->abandon();
  }
  Child child([this](const Child::Line&) {
    const int fd = ::open(scratch.file().c_str(), O_RDWR);
    if (fd < 0 || ::flock(fd, LOCK_EX) != 0) return 1;
    return ::raise(SIGSTOP);
  });
  ASSERT_TRUE(child.has_stopped());

  EXPECT_EQ(use_in_time(), 0);
  const auto first = join();
  child.kill();
  const auto second = join();
  EXPECT_EQ(first->others(), std::vector{second->slot()});
}

TEST_F(RendezvousStopped, AtAnyMomentKeepsNobodyWaiting) {
  constexpr int kRounds = 100;
  const auto keeper = join();
  Child child([this](const Child::Line& line) {
    line.send('s');
    while (use() == 0) continue;
    return 1;
  });
  ASSERT_EQ(child.receive(), 's');

  for (int i = 0; i < kRounds; ++i) {
    child.stop();
    const int held = listen(*keeper, static_cast<std::uint16_t>(5000 + i));
    const int used = i % 10 == 0 ? use_in_time() : 0;
    child.go_on();
    ASSERT_EQ(held, 0) << i;
    ASSERT_EQ(used, 0) << i;
  }
}

// --- processes that are killed ------------------------------------------------------------------

TEST_F(RendezvousKilled, AtAnyMomentLeaveNothingThatKeepsOthersFromAnything) {
  constexpr int kRounds = 30;
  for (int i = 0; i < kRounds; ++i) {
    std::vector<std::unique_ptr<Child>> children;
    for (int j = 0; j < 2; ++j) {
      children.push_back(std::make_unique<Child>([this](const Child::Line& line) {
        const auto keeper = join();
        (void)listen(*keeper, 7471);
        line.send('s');
        while (use() == 0) continue;
        return 1;
      }));
      ASSERT_EQ(children.back()->receive(), 's');
    }
    for (std::uint64_t turns = random.below(20); turns > 0; --turns) ::sched_yield();
    children.clear();  // kills them

    const auto mine = join();
    ASSERT_EQ(listen(*mine, 7471), 0) << i;
    ASSERT_TRUE(mine->others().empty()) << i;
  }
  EXPECT_FALSE(scratch.exists());
}

TEST_F(RendezvousKilled, TheirSocketsAreRemovedByWhoComesNext) {
  const auto keeper = join();
  std::string socket;
  {
    const auto leftover = join();
    socket = leftover->directory().path() + "/" + leftover->socket_stem() +
             std::to_string(value(leftover->slot()));
    std::ofstream(socket) << "";
    leftover->abandon();
  }

  const auto next = join();

  EXPECT_FALSE(std::filesystem::exists(socket));
}

// --- several at once ----------------------------------------------------------------------------

TEST_F(RendezvousPeers, APortHasOneOwnerHoweverManyTryAtOnce) {
  constexpr int kProcesses = 4;
  constexpr int kRounds = 2000;
  struct Board {
    std::atomic<int> owners;
    std::atomic<int> won;
  };
  void* const memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const board = static_cast<Board*>(memory);
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(std::make_unique<Child>([this, board](const Child::Line&) {
      const auto mine = join();
      for (int round = 0; round < kRounds; ++round) {
        const auto claimed =
            mine->claim({.space = RDMA_PS_TCP, .local = Address::ipv4(kLocalhost, 7471)});
        if (!claimed) continue;
        board->won.fetch_add(1);
        if (board->owners.fetch_add(1) != 0) return 1;
        ::sched_yield();
        board->owners.fetch_sub(1);
        mine->release(claimed->id);
      }
      return 0;
    }));
  }

  for (const auto& child : children) EXPECT_EQ(child->wait(), 0);
  EXPECT_GT(board->won.load(), 0);
  ::munmap(memory, sizeof(Board));
}

// --- room ---------------------------------------------------------------------------------------

TEST_F(RendezvousRoom, ALimitOfFileSizesBelowTheFileIsNamedAndNoSignal) {
  Child child([this](const Child::Line&) {
    const rlimit limit{16384, 16384};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return refusal() == FabricErrc::kFileLimit ? 0 : 1;
  });

  EXPECT_EQ(child.wait(), 0);
  EXPECT_FALSE(scratch.exists());
}

TEST_F(RendezvousRoom, ALimitOfFileSizesLimitsPorts) {
  Child child([this](const Child::Line&) {
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto mine = join();
    int ports = 0;
    while (ports < 10'000 && listen(*mine, static_cast<std::uint16_t>(2000 + ports)) == 0) ++ports;
    return ports > 100 && ports < 10'000 && use() == 1 ? 0 : 1;
  });

  EXPECT_EQ(child.wait(), 0);
}

TEST_F(RendezvousRoom, AFullFileSystemRefusesAndKillsNobody) {
  Child child([this](const Child::Line& line) {
    const char* const directory = scratch.config().directory.c_str();
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", directory, "tmpfs", 0, "size=256k") != 0)
      return line.send(kNotAllowed), 0;
    line.send('s');
    const std::string filler = scratch.config().directory + "/filler";
    {
      const auto mine = join();
      std::ofstream(filler) << std::string(1 << 20, 'x');
      int ports = 0;
      while (ports < 10'000 && listen(*mine, static_cast<std::uint16_t>(2000 + ports)) == 0)
        ++ports;
      if (ports == 10'000) return 1;
      if (join()->others().size() != 1) return 2;  // what it takes is there already
    }
    std::ofstream(filler, std::ios::app) << std::string(1 << 20, 'x');
    if (refusal() != FabricErrc::kNoSpace) return 3;
    std::filesystem::remove(filler);
    return use();
  });
  if (child.receive() == kNotAllowed) GTEST_SKIP() << "mounting takes CAP_SYS_ADMIN";

  EXPECT_EQ(child.wait(), 0);
}

TEST_F(RendezvousRoom, WherePortsHaveNoRoomNobodyJoins) {
  Child child([this](const Child::Line& line) {
    const char* const directory = scratch.config().directory.c_str();
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", directory, "tmpfs", 0, "size=40k") != 0)
      return line.send(kNotAllowed), 0;
    line.send('s');
    return refusal() == FabricErrc::kNoSpace ? 0 : 1;
  });
  if (child.receive() == kNotAllowed) GTEST_SKIP() << "mounting takes CAP_SYS_ADMIN";

  EXPECT_EQ(child.wait(), 0);
}

// --- peers that write what they like ------------------------------------------------------------

TEST_F(RendezvousPeers, WhatOneWritesIntoTheTableNeitherCrashesNorHangsAnother) {
  constexpr int kRounds = 100;
  const auto keeper = join();
  Child child([this](const Child::Line&) {
    ::alarm(60);
    const auto mine = join();
    std::uint64_t dice = 1;
    for (int i = 0; i < kRounds; ++i) {
      RegistryFile file = RegistryFile::open(scratch.config()).value();
      auto* const bytes = reinterpret_cast<std::uint8_t*>(&file.image());
      (void)file.reserve_ports(64);
      const std::size_t size = offsetof(RegistryImage, ports) + 64 * sizeof(PortRecord);
      for (std::size_t at = sizeof(std::uint64_t); at < size; ++at) {
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        if (dice >> 61 == 0) bytes[at] = static_cast<std::uint8_t>(dice >> 48);
      }
      const auto claimed =
          mine->claim({.space = RDMA_PS_TCP, .local = Address::ipv4(kLocalhost, 0)});
      (void)mine->listener(RDMA_PS_TCP, Address::ipv4(kLocalhost, 7471));
      (void)mine->others();
      if (claimed) {
        (void)mine->listen(claimed->id);
        mine->release(claimed->id);
      }
    }
    return 0;
  });

  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace anyrdma::transport::fabric
