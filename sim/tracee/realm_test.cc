// A realm that is taken for one run after the other: nothing of a run is in the next.
#include "sim/tracee/realm.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "sim/tracee/launch.h"
#include "sim/tracee/tracee.h"

namespace anyrdma::sim::tracee {
namespace {

/// Of a process, as its realm knows it.
int number_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("NSpid:")) return std::stoi(line.substr(line.find_last_of("\t ") + 1));
  }
  return -1;
}

std::vector<InterfaceOptions> one_interface() {
  return {{.name = "eth0",
           .mac = {2, 0, 0, 0, 0, 1},
           .addresses = {*transport::soft::Prefix::parse("10.0.0.1/24")}}};
}

class ARealm : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = Realm::create({}, &network_);
    if (!made) GTEST_SKIP() << "no namespaces here: " << made.error().message();
    realm = std::move(*made);
    if (!realm->renew()) GTEST_SKIP() << "a realm cannot be as new here";
  }

  /// One that has stopped before its first instruction.
  [[nodiscard]] pid_t start() const {
    const auto pid = launch(
        {.path = "/bin/true", .arguments = {"true"}, .environment = {}, .realm = realm.get()}, {});
    EXPECT_TRUE(pid.has_value());
    return pid.has_value() ? *pid : -1;
  }
  static void end(pid_t pid) {
    ::kill(pid, SIGKILL);
    for (int status = 0; ::waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status);)
      Tracee(pid).run();
  }
  /// Of what a process in the realm's network and among its mounts finds out.
  [[nodiscard]] int inside(const std::function<int()>& act) const {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(realm->enter() ? act() : 255);
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
  }

  std::unique_ptr<Realm> realm;

 private:
  Network network_{one_interface()};
};

TEST_F(ARealm, NumbersProcessesFromTheSameOneOnOnceItIsRenewed) {
  const pid_t first = start();
  const int number = number_of(first);
  EXPECT_EQ(number, 2);
  end(first);
  const pid_t second = start();
  EXPECT_EQ(number_of(second), 3);
  end(second);

  ASSERT_TRUE(realm->renew());

  const pid_t again = start();
  EXPECT_EQ(number_of(again), number);
  end(again);
}

/// Another thread of a test may hold a lock of malloc's. Here it does so a sixth of the time.
TEST(Realms, AreMadeWhileAnotherThreadHoldsALockOfMalloc) {
  ::mallopt(M_ARENA_MAX, 1);  // so that all threads take the same lock
  std::vector<std::unique_ptr<char[]>> pieces(2000);
  for (auto& piece : pieces) piece = std::make_unique<char[]>(8192);
  for (std::size_t i = 0; i < pieces.size(); i += 2) pieces[i].reset();
  std::jthread other([](const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
      ::malloc_trim(0);  // a system call for each free page
      never.wait_for(lock, stop, std::chrono::milliseconds(10), [] { return false; });
    }
  });
  for (int i = 0; i < 8; ++i) {
    Network network(one_interface());
    const auto made = Realm::create({.patience = std::chrono::milliseconds(500)}, &network);
    if (!made && made.error() != verbs::errno_code(ETIMEDOUT))
      GTEST_SKIP() << "no namespaces here: " << made.error().message();
    EXPECT_TRUE(made) << "no process reports";
  }
}

TEST_F(ARealm, IsNotAsNewWhileAProcessIsThere) {
  const pid_t pid = start();
  EXPECT_FALSE(realm->renew());
  end(pid);
}

TEST_F(ARealm, IsNotAsNewOnceItsNetworkHasChanged) {
  const auto stop_loopback = [] {
    const int any = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    return ::ioctl(any, SIOCSIFFLAGS, &request) == 0 ? 0 : errno;  // no flags: down
  };
  ASSERT_EQ(inside(stop_loopback), 0);
  EXPECT_FALSE(realm->renew());
}

TEST_F(ARealm, HasSettingsThatNobodyChanges) {
  const auto open_one = [] {
    return ::open("/proc/sys/net/core/somaxconn", O_WRONLY) < 0 ? errno : 0;
  };
  EXPECT_EQ(inside(open_one), EROFS);
  EXPECT_TRUE(realm->renew());
}

TEST_F(ARealm, HasDirectoriesOfItsOwnThatAreAsNewAfterwards) {
  if (!realm->has_own_directories()) GTEST_SKIP() << "no file system can be mounted here";
  const auto make_one = [] {
    const int fd = ::open("/dev/shm/anyrdma-realm", O_CREAT | O_EXCL | O_RDWR, 0600);
    return fd < 0 ? errno : 0;
  };
  EXPECT_EQ(inside(make_one), 0);
  EXPECT_EQ(inside(make_one), EEXIST);
  EXPECT_NE(::access("/dev/shm/anyrdma-realm", F_OK), 0);

  ASSERT_TRUE(realm->renew());

  EXPECT_EQ(inside(make_one), 0);
}

TEST_F(ARealm, HasNewObjectsOnceOneWasAnnounced) {
  const auto make_one = [] { return ::msgget(IPC_PRIVATE, 0600); };
  EXPECT_EQ(inside(make_one), 0);
  EXPECT_EQ(inside(make_one), 1);
  realm->note_objects();

  ASSERT_TRUE(realm->renew());

  EXPECT_EQ(inside(make_one), 0);
}

TEST_F(ARealm, HasItsName) {
  const auto is_localhost = [] {
    char name[64]{};
    return ::gethostname(name, sizeof name) == 0 && std::strcmp(name, "localhost") == 0 ? 0 : 1;
  };
  EXPECT_EQ(inside(is_localhost), 0);
}

}  // namespace
}  // namespace anyrdma::sim::tracee
