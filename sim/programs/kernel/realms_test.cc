// Runs one after the other whose programs have the same realm: none finds anything of another.
#include "sim/programs/kernel/realms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/programs/supervisor/sandbox.h"

namespace anyrdma::sim::programs {
namespace {

using ::testing::IsEmpty;

class RunsInOneRealm : public ::testing::Test {
 protected:
  /// What a script says in a world of its own.
  std::vector<std::string> run(const std::string& script) {
    std::vector<std::string> said;
    World world{1};
    Host& host = world.add_host("host", {"10.0.0.1"});
    Sandbox sandbox{world, {.realms = &realms_, .on_output = [&said](const OutputLine& line) {
                              said.emplace_back(line.text);
                            }}};
    const auto program = sandbox.start(host, "program",
                                       {.path = "/bin/sh",
                                        .arguments = {"sh", "-c", script},
                                        .environment = {"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}});
    EXPECT_TRUE(program.has_value());
    (void)world.run();
    return said;
  }

 private:
  Realms realms_;
};

TEST_F(RunsInOneRealm, HaveOneIndeed) {
  const auto any = tracee::Realm::create();
  if (!any || !(*any)->renew()) GTEST_SKIP() << "a realm cannot be as new here";
  const std::string script = "readlink /proc/self/ns/mnt /proc/self/ns/net /proc/self/ns/pid";
  const auto first = run(script);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(run(script), first);
}

TEST_F(RunsInOneRealm, HaveTheSameNumbers) {
  const std::string script = "true & echo $$ $!; wait; (true) & echo $!; wait; ls /proc | wc -l";
  const auto first = run(script);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(run(script), first);
  EXPECT_EQ(run(script), first);
}

// It is killed when the world ends.
TEST_F(RunsInOneRealm, FindNoProcessThatARunBeforeHasLeft) {
  const std::string look = "cd /proc; echo [0-9]*";
  const auto before = run(look);
  EXPECT_THAT(run("sleep 1000000 & exit"), IsEmpty());
  EXPECT_EQ(run(look), before);
}

TEST_F(RunsInOneRealm, FindNothingThatARunBeforeHasMounted) {
  const std::string look = "ls /mnt";
  const auto before = run(look);
  const auto mounted = run("mount -t tmpfs none /mnt 2>&1 && touch /mnt/left && ls /mnt");
  if (mounted != std::vector<std::string>{"left"}) GTEST_SKIP() << "nothing may be mounted here";
  EXPECT_EQ(run(look), before);
}

TEST_F(RunsInOneRealm, FindNoFileThatARunBeforeHasLeft) {
  const std::string look = "ls /tmp/left /dev/shm /run/left 2>&1";
  const auto before = run(look);
  EXPECT_THAT(run("touch /tmp/left /dev/shm/left /run/left"), IsEmpty());
  EXPECT_EQ(run(look), before);
}

TEST_F(RunsInOneRealm, NumberFilesAlikeAlsoAfterOneThatIsGone) {
  const std::string make = "touch /tmp/new /dev/shm/new; stat -c %i /tmp/new /dev/shm/new";
  const auto first = run(make);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_THAT(run("touch /tmp/gone /dev/shm/gone; rm /tmp/gone /dev/shm/gone"), IsEmpty());
  EXPECT_EQ(run(make), first);
}

TEST_F(RunsInOneRealm, NumberSystemVObjectsAlike) {
  const std::string make = "ipcmk -M 100; ipcmk -Q; ipcmk -S 1";
  const auto first = run(make);
  if (first.size() != 3u) GTEST_SKIP() << "there is no ipcmk here";
  EXPECT_EQ(run(make), first);
  EXPECT_EQ(run(make), first);
}

}  // namespace
}  // namespace anyrdma::sim::programs
