// Programs in processes beside programs in fibers, in one world. What Debian's rdmacm-utils bring:
// rdma_server answers sixteen bytes with sixteen, rdma_client asks.
#include "sim/machines/running.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <string>

#include "sim/testing/kit.h"

namespace anyrdma::sim {
namespace {

using namespace std::chrono_literals;
using anyrdma::testing::parameters;
using anyrdma::testing::Pipe;
using anyrdma::testing::Program;
using anyrdma::testing::SimTest;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::StartsWith;

constexpr std::uint32_t kWord = 16;

class ProgramsInTests : public SimTest {
 protected:
  /// A fiber that asks rdma_server, as rdma_client would.
  void ask_once(Host& from, const Address& server) {
    Program program(from);
    const auto id = program.resolve(server);
    Pipe pipe(*id);
    pipe.post_receive(1, 0, kWord);
    const rdma_conn_param request = parameters("");
    ASSERT_TRUE(id->connect(&request));
    program.expect(RDMA_CM_EVENT_ESTABLISHED);
    pipe.post(IBV_WR_SEND, 2, kWord, kWord);
    EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
    EXPECT_EQ(pipe.wait_received().status, IBV_WC_SUCCESS);
    (void)id->disconnect().has_value();
  }
  /// What a shell does.
  RunningProgram& shell(const std::string& script, const StartOptions& options = {}) {
    return remote.start({"/bin/sh", "-c", script}, options);
  }
  [[nodiscard]] Duration now() { return world().now().time_since_epoch(); }

  Programs programs{world()};
  ProgramHost& remote = programs.add_host("remote", {"10.0.0.3"});
};

TEST_F(ProgramsInTests, AFiberTalksWithAProgramOfAnotherHost) {
  RunningProgram& server = remote.start({"rdma_server"});
  ask([&] {
    client().sleep(100ms);
    ask_once(client(), remote.address(7471));
    EXPECT_TRUE(server.wait());
    EXPECT_EQ(server.exit_status(), 0);
  });

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(server.exit_status(), 0) << server.output();
  EXPECT_THAT(server.output(), HasSubstr("rdma_server: end 0"));
  EXPECT_THAT(world().trace().text(), HasSubstr("client -> remote REQ"));
}

TEST_F(ProgramsInTests, AProgramFindsAFibersHostByItsName) {
  serve([this] {
    Program program(server());
    const auto listener = program.listen(server().address(7471));
    const auto id = program.expect_request();
    if (!id) return;
    Pipe pipe(*id);
    pipe.post_receive(1, 0, kWord);
    const rdma_conn_param answer = parameters("");
    ASSERT_TRUE(id->accept(&answer));
    EXPECT_EQ(pipe.wait_received().status, IBV_WC_SUCCESS);
    pipe.post(IBV_WR_SEND, 2, 0, kWord);
    EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
    while (program.next()) continue;
  });
  RunningProgram& asks = remote.start({"rdma_client", "-s", "server"});

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(asks.exit_status(), 0) << asks.output();
}

TEST_F(ProgramsInTests, LinksAndFaultsAreBetweenThem) {
  world().set_link(client(), remote.host(), {.latency = 50ms});
  inject("on client->remote REQ 1: lose");
  RunningProgram& server = remote.start({"rdma_server"});
  Duration took{};
  ask([&] {
    client().sleep(100ms);
    const Duration start = now();
    ask_once(client(), remote.address(7471));
    took = now() - start;
  });

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(server.exit_status(), 0) << server.output();
  EXPECT_GE(took, 1s) << "the repetition of a request takes seconds";
}

TEST_F(ProgramsInTests, AKilledProgramsPeerIsParted) {
  RunningProgram& server = remote.start({"rping", "-s", "-a", "10.0.0.3"});
  bool parted = false;
  ask([&] {
    client().sleep(100ms);
    Program program(client());
    const auto id = program.resolve(remote.address(7174));
    Pipe pipe(*id);
    const rdma_conn_param request = parameters("");
    ASSERT_TRUE(id->connect(&request));
    program.expect(RDMA_CM_EVENT_ESTABLISHED);
    client().sleep(100ms);
    server.kill();
    program.expect(RDMA_CM_EVENT_DISCONNECTED);
    parted = true;
    (void)id->disconnect().has_value();
  });

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_TRUE(parted);
  EXPECT_EQ(server.ending_signal(), SIGKILL);
  EXPECT_EQ(server.exit_status(), std::nullopt);
  EXPECT_EQ(server.ending(), "was ended by signal 9");
}

TEST_F(ProgramsInTests, ASignalReachesIt) {
  RunningProgram& program = shell("trap 'echo told; exit 3' TERM; while :; do sleep 1; done");
  ask([&] {
    client().sleep(5s);
    EXPECT_FALSE(program.ended());
    program.signal(SIGTERM);
    EXPECT_TRUE(program.wait());
    EXPECT_EQ(program.exit_status(), 3);
    EXPECT_EQ(program.output(), "told\n");
  });

  ASSERT_TRUE(programs.run()) << programs.stuck_report();
}

TEST_F(ProgramsInTests, TheTestMayWaitForItInVirtualTime) {
  RunningProgram& program = shell("sleep 3600; echo slept; echo badly >&2; exit 4");

  ASSERT_TRUE(program.wait());

  EXPECT_THAT(now(), AllOf(Ge(1h), Lt(1h + 1s)));
  EXPECT_EQ(program.exit_status(), 4);
  EXPECT_EQ(program.output(), "slept\nbadly\n");
  EXPECT_EQ(program.errors(), "badly\n");
}

TEST_F(ProgramsInTests, ItHasArgumentsEnvironmentDirectoryAndAHostsName) {
  const std::string folder = ::testing::TempDir();
  RunningProgram& program =
      shell("echo $COLOUR; pwd; cat /etc/hostname; date +%Y",
            {.environment = {{"COLOUR", "red"}}, .directory = folder, .after = 10s});

  ASSERT_TRUE(program.wait());

  EXPECT_GE(now(), 10s);
  const std::string plain = folder.substr(0, folder.find_last_not_of('/') + 1);
  EXPECT_EQ(program.output(), "red\n" + plain + "\nremote\n2026\n");
}

TEST_F(ProgramsInTests, TwoOfOneNameAreToldApart) {
  RunningProgram& one = shell("echo one");
  RunningProgram& two = shell("echo two");

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(one.name(), "remote/sh");
  EXPECT_EQ(two.name(), "remote/sh#2");
  EXPECT_EQ(one.output(), "one\n");
  EXPECT_EQ(two.output(), "two\n");
}

TEST_F(ProgramsInTests, WhoWaitsForEverIsReportedAndKilledAtTheEnd) {
  RunningProgram& server = remote.start({"rdma_server"});

  EXPECT_FALSE(programs.run());

  EXPECT_FALSE(server.ended());
  EXPECT_EQ(server.ending(), "has not ended");
  EXPECT_THAT(programs.stuck_report(), HasSubstr("remote/rdma_server waits for"));
}

TEST_F(ProgramsInTests, OneInTheBackgroundIsNotWaitedFor) {
  RunningProgram& server = remote.start({"rdma_server"}, {.background = true});
  ask([&] { client().sleep(1s); });

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_FALSE(server.ended());
}

std::string why_not(ProgramHost& host, std::vector<std::string> command) {
  try {
    host.start(std::move(command));
  } catch (const StartError& error) {
    return error.what();
  }
  return "started";
}

TEST_F(ProgramsInTests, WhatCannotBeStartedIsSaidWithItsRemedy) {
  const std::string plain = ::testing::TempDir() + "plain";
  std::ofstream(plain) << "text";

  EXPECT_EQ(
      why_not(remote, {"no-such-program"}),
      "there is no program 'no-such-program' in PATH. Check the name, give a path, or install "
      "the package it is in.");
  EXPECT_EQ(why_not(remote, {"./no/such"}), "there is no file './no/such'. Check the path.");
  EXPECT_THAT(why_not(remote, {plain}), HasSubstr("is not executable. Make it so (chmod +x)"));
  EXPECT_EQ(why_not(remote, {}), "a program to start is missing: name it first.");
}

TEST_F(ProgramsInTests, ACrashHasItsReasonItsStackAndItsRegisters) {
  RunningProgram& program = shell("kill -SEGV $$");
  RunningProgram& content = shell("exit 0");

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(program.ending_signal(), SIGSEGV);
  EXPECT_THAT(program.crash(), AllOf(HasSubstr("SIGSEGV: a process has sent it\n"),
                                     HasSubstr("(libc.so.6)"), HasSubstr("    rip 0x")));
  EXPECT_EQ(content.crash(), "");
}

// Its system closes its connections, as a kernel does: no rule is broken.
TEST_F(ProgramsInTests, ACrashedProcessEndsItsConnectionsAndBreaksNoRule) {
  RunningProgram& server = remote.start({"rdma_server"});
  ask([&] {
    client().sleep(100ms);
    Program program(client());
    const auto id = program.resolve(remote.address(7471));
    Pipe pipe(*id);
    const rdma_conn_param request = parameters("");
    ASSERT_TRUE(id->connect(&request));
    program.expect(RDMA_CM_EVENT_ESTABLISHED);
    client().sleep(1ms);  // until the server knows, too
    server.signal(SIGSEGV);
    program.expect(RDMA_CM_EVENT_DISCONNECTED);
    EXPECT_TRUE(id->disconnect());
  });

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(server.ending_signal(), SIGSEGV);
}

TEST_F(ProgramsInTests, ACommandJudgesWhatProgramsHaveLeft) {
  (void)shell("echo one; echo two >&2; exit 3");
  (void)shell("kill -9 $$");
  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(programs.verify({"sh", "-c",
                             "test $(cat remote.sh.out) = one && test $(cat remote.sh.err) = two &&"
                             "grep -qx 'remote/sh exit 3' statuses && test -f remote.sh.2.out &&"
                             "grep -qx 'remote/sh#2 signal 9' statuses"}),
            "");
  EXPECT_THAT(programs.verify({"sh", "-c", "echo an entry is lost; exit 1"}),
              StartsWith("verify: an entry is lost\n"));
  EXPECT_THAT(programs.verify({"sleep", "1000"}, 100ms), HasSubstr("did not end within 0.1 s"));
  EXPECT_THROW((void)programs.verify({"no-such-program"}), StartError);
  EXPECT_THROW((void)programs.verify({}), StartError);
}

}  // namespace
}  // namespace anyrdma::sim
