// A traced program, from its first instruction to its end.
#include "sim/tracee/tracee.h"

#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sim/tracee/auxiliary_vector.h"
#include "sim/tracee/launch.h"
#include "sim/tracee/time_stamps.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::sim::tracee {
namespace {

using ::testing::Contains;
using ::testing::Not;
using verbs::testing::errno_of;

/// What a shell may do unseen; write(2), among others, stops it.
constexpr std::array<int, 40> kUntouched{SYS_mmap,
                                         SYS_munmap,
                                         SYS_mprotect,
                                         SYS_brk,
                                         SYS_close,
                                         SYS_openat,
                                         SYS_fstat,
                                         SYS_newfstatat,
                                         SYS_pread64,
                                         SYS_lseek,
                                         SYS_ioctl,
                                         SYS_rt_sigaction,
                                         SYS_rt_sigprocmask,
                                         SYS_rt_sigreturn,
                                         SYS_getpid,
                                         SYS_gettid,
                                         SYS_getuid,
                                         SYS_geteuid,
                                         SYS_getgid,
                                         SYS_getegid,
                                         SYS_getppid,
                                         SYS_arch_prctl,
                                         SYS_set_tid_address,
                                         SYS_set_robust_list,
                                         SYS_rseq,
                                         SYS_prlimit64,
                                         SYS_access,
                                         SYS_readlink,
                                         SYS_getcwd,
                                         SYS_exit_group,
                                         SYS_execve,
                                         SYS_clone,
                                         SYS_vfork,
                                         SYS_read,
                                         SYS_getrandom,
                                         SYS_futex,
                                         SYS_dup2,
                                         SYS_pipe2,
                                         SYS_stat,
                                         SYS_wait4};

std::vector<CallRule> rules() {
  std::vector<CallRule> all;
  for (const int number : kUntouched) all.push_back({number, {Verdict::kPass}});
  return all;
}

constexpr std::uint16_t kRdtsc = 0x310f;

LaunchOptions shell(const std::string& script) {
  return {.path = "/bin/sh", .arguments = {"sh", "-c", script}, .environment = {"A=b"}};
}

/// The next stop of one that runs.
Stop next_stop(pid_t tid) {
  int status = 0;
  EXPECT_EQ(::waitpid(tid, &status, __WALL), tid);
  return stop_of(tid, status);
}

/// The loader counts its own time: it is left alone with whatever its registers hold.
bool skip_time_stamp(const Tracee& tracee) {
  auto registers = tracee.registers();
  if (!registers || tracee.peek<std::uint16_t>(registers->rip) != kRdtsc) return false;
  registers->rip += sizeof kRdtsc;
  tracee.set_registers(*registers);
  return true;
}

/// Runs it to a stop of that kind, or its end.
Stop run_to(const Tracee& tracee, StopKind kind) {
  for (int signal = 0;;) {
    tracee.run(signal);
    const Stop stop = next_stop(tracee.tid());
    if (stop.kind == kind || stop.kind == StopKind::kGone) return stop;
    signal = stop.kind == StopKind::kSignal && !skip_time_stamp(tracee) ? stop.detail : 0;
  }
}

class TracedProgram : public ::testing::Test {
 protected:
  Tracee start(const LaunchOptions& options) {
    const auto launched = launch(options, rules());
    EXPECT_EQ(errno_of(launched), 0);
    pid_ = launched.has_value() ? *launched : -1;
    return Tracee(pid_);
  }
  int status_at_end(const Tracee& tracee) {
    const Stop stop = run_to(tracee, StopKind::kGone);
    pid_ = -1;
    return stop.detail;
  }
  ~TracedProgram() override {
    if (pid_ < 0 || ::kill(pid_, 0) != 0) return;
    ::kill(pid_, SIGKILL);
    (void)run_to(Tracee(pid_), StopKind::kGone);
  }

 private:
  pid_t pid_ = -1;
};

// --- beginnings ---------------------------------------------------------------------------------

TEST(LaunchingAProgram, ThatIsNotThereSaysSo) {
  LaunchOptions options = shell("true");
  options.path = "/nowhere/at/all";
  EXPECT_EQ(errno_of(launch(options, rules())), ENOENT);
}

TEST(LaunchingAProgram, ThatMayNotBeExecutedSaysSo) {
  LaunchOptions options = shell("true");
  options.path = "/etc/passwd";
  EXPECT_EQ(errno_of(launch(options, rules())), EACCES);
}

TEST(LaunchingAProgram, ThatIsNoProgramSaysSo) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "no_program";
  std::ofstream(file) << "no magic";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  LaunchOptions options = shell("true");
  options.path = file;
  EXPECT_EQ(errno_of(launch(options, rules())), ENOEXEC);
}

TEST(LaunchingAProgram, InADirectoryThatIsNotThereSaysSo) {
  LaunchOptions options = shell("true");
  options.directory = "/nowhere/at/all";
  EXPECT_EQ(errno_of(launch(options, rules())), ENOENT);
}

TEST(LaunchingAProgram, NobodyIsLeftOfOneThatFailed) {
  LaunchOptions options = shell("true");
  options.path = "/nowhere/at/all";
  (void)launch(options, rules()).has_value();
  EXPECT_EQ(::waitpid(-1, nullptr, __WALL | WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

/// As a container does that does not allow it: EPERM.
bool forbid_tracing() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 4, .filter = filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The sandbox's own alarm did, on a busy machine, and the end of the realm was waited for in vain.
TEST(LaunchingAProgram, NobodyIsLeftOfOneThatMayNotBeTracedWhateverInterrupts) {
  const pid_t child = ::fork();
  if (child == 0) {
    struct sigaction heard {};
    heard.sa_handler = [](int /*signal*/) {};
    ::sigaction(SIGALRM, &heard, nullptr);
    const itimerval often{.it_interval = {0, 100}, .it_value = {0, 100}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    if (!forbid_tracing()) ::_exit(2);
    for (int i = 0; i < 100; ++i)
      if (errno_of(launch(shell("true"), rules())) != EPERM) ::_exit(3);
    ::_exit(::waitpid(-1, nullptr, __WALL | WNOHANG) == -1 && errno == ECHILD ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// A process group of its own, all of which is told to end all the time; this process does not
/// mind.
void begin_a_storm_of_signals() {
  ::setpgid(0, 0);
  struct sigaction heard {};
  heard.sa_handler = [](int /*signal*/) {};
  ::sigaction(SIGTERM, &heard, nullptr);
  const pid_t group = ::getpid();
  if (::fork() != 0) return;
  ::signal(SIGTERM, SIG_IGN);
  while (::getppid() == group) ::kill(-group, SIGTERM);
  ::_exit(0);
}

// All of a terminal's foreground gets its signals, and who interrupts `anyrdma sim` there is to
// hear of that alone.
TEST(LaunchingAProgram, WhatEndsItsGroupMeanwhileDoesNotEndIt) {
  const pid_t child = ::fork();
  if (child == 0) {
    begin_a_storm_of_signals();
    for (int i = 0; i < 300; ++i) {
      const auto pid = launch(shell("true"), rules());
      if (!pid) ::_exit(1);
      ::kill(*pid, SIGKILL);
      for (int status = 0;;) {
        if (::waitpid(*pid, &status, __WALL) < 0 && errno == EINTR) continue;
        if (!WIFSTOPPED(status)) break;
        Tracee(*pid).run();
      }
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(TracedProgram, EndsAsItWouldAlone) {
  const Tracee tracee = start(shell("exit 9"));
  const int status = status_at_end(tracee);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 9);
}

TEST_F(TracedProgram, WorksInItsDirectoryWithItsEnvironment) {
  LaunchOptions options = shell("[ \"$PWD\" = / ] && [ \"$A\" = b ]");
  options.directory = "/";
  const int status = status_at_end(start(options));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(TracedProgram, HasTheDescriptorsItWasGiven) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  LaunchOptions options = shell("echo hello");
  options.output = ends[1];
  (void)status_at_end(start(options));
  ::close(ends[1]);
  std::array<char, 16> bytes{};
  EXPECT_EQ(::read(ends[0], bytes.data(), bytes.size()), 6);
  EXPECT_STREQ(bytes.data(), "hello\n");
  ::close(ends[0]);
}

// --- calls --------------------------------------------------------------------------------------

TEST_F(TracedProgram, StopsBeforeACallThatIsNotUntouched) {
  const Tracee tracee = start(shell("echo hello"));
  ASSERT_EQ(run_to(tracee, StopKind::kCall).kind, StopKind::kCall);
  const auto call = tracee.call();
  ASSERT_TRUE(call);
  EXPECT_EQ(call->number, SYS_write);
  EXPECT_EQ(call->arguments[0], 1U);
  EXPECT_EQ(tracee.text(call->arguments[1], call->arguments[2]), "hello\n");
}

TEST_F(TracedProgram, TakesTheAnswerForACallThatIsNotMade) {
  LaunchOptions options = shell("echo hello || exit 5");
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  options.output = ends[1];
  const Tracee tracee = start(options);
  ASSERT_EQ(run_to(tracee, StopKind::kCall).kind, StopKind::kCall);
  tracee.answer(-ENOSPC);
  Stop stop = run_to(tracee, StopKind::kCall);
  while (stop.kind == StopKind::kCall) stop = run_to(tracee, StopKind::kCall);  // its complaint
  EXPECT_TRUE(WIFEXITED(stop.detail) && WEXITSTATUS(stop.detail) == 5);
  std::array<char, 16> bytes{};
  EXPECT_EQ(::read(ends[0], bytes.data(), bytes.size()), -1) << "it was written nevertheless";
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(TracedProgram, MakesACallWithTheArgumentItIsGiven) {
  LaunchOptions options = shell("echo hello");
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  options.output = ends[1];
  const Tracee tracee = start(options);
  ASSERT_EQ(run_to(tracee, StopKind::kCall).kind, StopKind::kCall);
  tracee.set_argument(2, 4);
  tracee.run_to_return();
  ASSERT_EQ(next_stop(tracee.tid()).kind, StopKind::kReturn);
  EXPECT_EQ(tracee.result(), 4);
  tracee.set_result(6);
  EXPECT_EQ(run_to(tracee, StopKind::kCall).kind, StopKind::kGone) << "it writes the rest";
  std::array<char, 16> bytes{};
  EXPECT_EQ(::read(ends[0], bytes.data(), bytes.size()), 4);
  ::close(ends[0]);
  ::close(ends[1]);
}

// --- memory -------------------------------------------------------------------------------------

TEST_F(TracedProgram, HasMemoryThatCanBeReadAndWritten) {
  const Tracee tracee = start(shell("true"));
  const auto registers = tracee.registers();
  ASSERT_TRUE(registers);
  EXPECT_EQ(tracee.peek<std::uint64_t>(registers->rsp), 3U) << "argc";
  const auto first = tracee.peek<std::uint64_t>(registers->rsp + 8);
  ASSERT_TRUE(first);
  EXPECT_EQ(tracee.text(*first), "sh");
  EXPECT_EQ(tracee.text(*first, 1), "s");
  ASSERT_TRUE(tracee.poke(*first, 'z'));
  EXPECT_EQ(tracee.text(*first), "zh");
}

TEST_F(TracedProgram, RefusesAddressesThatAreNotItsOwn) {
  const Tracee tracee = start(shell("true"));
  EXPECT_FALSE(tracee.peek<int>(0));
  EXPECT_FALSE(tracee.poke(0, 1));
  EXPECT_EQ(tracee.text(0), "");
  const auto registers = tracee.registers();
  ASSERT_TRUE(registers);
  // The stack's end: what begins there and leaves it fails as a whole.
  std::uint64_t page = registers->rsp & ~std::uint64_t{4095};
  while (tracee.peek<char>(page)) page += 4096;
  EXPECT_TRUE(tracee.peek<std::uint32_t>(page - 4));
  EXPECT_FALSE(tracee.peek<std::uint64_t>(page - 4));
  EXPECT_FALSE(tracee.poke(page - 4, std::uint64_t{0}));
}

TEST_F(TracedProgram, HasNothingToReadOnceItIsGone) {
  const Tracee tracee = start(shell("true"));
  (void)status_at_end(tracee);
  EXPECT_FALSE(tracee.registers());
  EXPECT_FALSE(tracee.call());
  EXPECT_EQ(tracee.result(), -ESRCH);
}

// --- what the kernel tells it -------------------------------------------------------------------

std::vector<std::uint64_t> kinds_of_facts(const Tracee& tracee) {
  std::uint64_t at = tracee.registers()->rsp + 8;
  for (int arrays = 0; arrays < 2; ++arrays) {
    while (tracee.peek<std::uint64_t>(at).value_or(0) != 0) at += 8;
    at += 8;
  }
  std::vector<std::uint64_t> kinds;
  for (;; at += sizeof(Elf64_auxv_t)) {
    const auto fact = tracee.peek<Elf64_auxv_t>(at);
    if (!fact || fact->a_type == AT_NULL) return kinds;
    kinds.push_back(fact->a_type);
  }
}

TEST_F(TracedProgram, FindsNoClockInItsOwnMemoryOnceTamed) {
  const Tracee tracee = start(shell("true"));
  ASSERT_THAT(kinds_of_facts(tracee), Contains(std::uint64_t{AT_SYSINFO_EHDR}));
  ASSERT_TRUE(tame(tracee, {}));
  EXPECT_THAT(kinds_of_facts(tracee), Not(Contains(std::uint64_t{AT_SYSINFO_EHDR})));
  EXPECT_THAT(kinds_of_facts(tracee), Contains(std::uint64_t{AT_RANDOM}));
}

TEST_F(TracedProgram, IsAtTheSameAddressesEachTime) {
  const auto stack = [this] {
    const Tracee tracee = start(shell("true"));
    const auto registers = tracee.registers();
    (void)status_at_end(tracee);
    return registers ? std::pair(registers->rsp, registers->rip) : std::pair(0ull, 0ull);
  };
  EXPECT_EQ(stack(), stack());
}

TEST_F(TracedProgram, MayNotReadTheTimeStampCounter) {
  if (!time_stamps_can_be_forbidden())
    GTEST_SKIP() << "this machine's processor cannot be told to stop who reads it";
  const Tracee tracee = start(shell("true"));
  auto registers = tracee.registers();
  ASSERT_TRUE(registers);
  // On the stack, which may not be executed, it would be stopped for another reason; here the
  // program's own first instruction is changed, as a debugger does.
  const int memory = ::open(("/proc/" + std::to_string(tracee.tid()) + "/mem").c_str(), O_RDWR);
  ASSERT_GE(memory, 0);
  ASSERT_EQ(::pwrite(memory, &kRdtsc, sizeof kRdtsc, static_cast<off_t>(registers->rip)), 2);
  ::close(memory);
  tracee.step();  // out of execve(2)
  ASSERT_EQ(next_stop(tracee.tid()).detail, SIGTRAP);
  tracee.step();
  const Stop stop = next_stop(tracee.tid());
  EXPECT_EQ(stop.kind, StopKind::kSignal);
  EXPECT_EQ(stop.detail, SIGSEGV);
}

}  // namespace
}  // namespace anyrdma::sim::tracee
