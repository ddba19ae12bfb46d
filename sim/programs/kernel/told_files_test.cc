#include "sim/programs/kernel/told_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace anyrdma::sim::programs {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string shown(std::string_view path, std::string_view text) {
  Numbers numbers;
  return told(path, std::string(text), numbers);
}

TEST(ToldFiles, AreThoseOfAProcess) {
  for (const char* const path : {"/2/stat", "/2/status", "/proc/17/statm", "/2/task/3/stat",
                                 "/2/fdinfo/11", "/2/net/unix", "/2/mountinfo"})
    EXPECT_TRUE(is_told(path)) << path;
  for (const char* const path :
       {"", "/", "stat", "/stat", "/proc/stat", "/2/mem", "/2/environ", "/2/unix", "/2/fdinfo/",
        "/2/fdinfo/x", "/sys/kernel/io", "/2/net/stat", "/proc/x2/stat"})
    EXPECT_FALSE(is_told(path)) << path;
}

TEST(ToldFiles, OthersStayAsTheyAre) {
  EXPECT_EQ(shown("/2/comm", "rping\n"), "rping\n");
}

TEST(ToldFiles, HideTimesAndCountersInStat) {
  const std::string first =
      shown("/2/stat",
            "2 (a) b) S 1 2 2 34816 77 4194560 834 113 1 2 5 10 5 20 20 0 1 0 3770444 81661952 "
            "8961 18446744073709551615 1 2 3 7 8 0 0 0 1096 6 5 4 17 1 0 0 9 8 7 1 2 3 4 5 6 7 "
            "0\n");
  const std::string second =
      shown("/2/stat",
            "2 (a) b) S 1 2 2 0 -1 4194304 8 1 9 9 9 9 9 9 20 0 1 0 1 81661952 "
            "77 18446744073709551615 1 2 3 1 1 0 0 0 1096 0 0 0 17 0 0 0 0 0 0 1 2 3 4 5 6 7 "
            "0\n");
  EXPECT_EQ(first, second);
  EXPECT_THAT(first, HasSubstr("2 (a) b) S 1 2 2 "));
  EXPECT_THAT(first, HasSubstr(" 81661952 "));
}

TEST(ToldFiles, HideThatAProcessIsTraced) {
  EXPECT_THAT(shown("/2/stat", "2 (a) t 1 2\n"), HasSubstr("(a) S "));
  const std::string status = shown("/2/status",
                                   "Name:\ta\nState:\tt (tracing stop)\nTracerPid:\t77\n"
                                   "VmRSS:\t   123 kB\nVmSize:\t     900 kB\n"
                                   "voluntary_ctxt_switches:\t17\n");
  EXPECT_EQ(status,
            "Name:\ta\nState:\tS (sleeping)\nTracerPid:\t0\nVmRSS:\t    4096 kB\n"
            "VmSize:\t     900 kB\nvoluntary_ctxt_switches:\t0\n");
}

TEST(ToldFiles, HaveTheLinesOfLinux61) {
  EXPECT_EQ(shown("/2/status", "Name:\ta\nKthread:\t0\nThreads:\t1\nuntag_mask:\t0xff\n"),
            "Name:\ta\nThreads:\t1\n");
  EXPECT_EQ(shown("/2/smaps_rollup", "Rss:    4 kB\nKSM:    0 kB\nLocked:    0 kB\n"),
            "Rss: 0 kB\nLocked: 0 kB\n");
  EXPECT_EQ(shown("/2/fdinfo/3", "eventfd-id: 17\neventfd-semaphore: 0\n"), "eventfd-id: 1\n");
}

TEST(ToldFiles, CountTheNiceValueFromTheCommands) {
  Numbers numbers;
  const std::string line = "2 (a) S 1 2 2 0 -1 0 8 1 9 9 9 9 9 9 ";
  for (const auto& [real, seen] :
       {std::pair("27 7 1 0", " 20 0 1 "), std::pair("32 12 1 0", " 25 5 1 "),
        std::pair("-51 7 1 0", " -51 0 1 ")})
    EXPECT_THAT(told("/2/stat", line + real + " 1 81661952 7\n", numbers, {.nice = 7}),
                HasSubstr(seen));
}

TEST(ToldFiles, HaveTheSizeWithTheUsualStack) {
  Numbers numbers;
  ToldProcess process;
  measure_surplus(
      "7ffff7fbd000-7ffff7fc1000 r--p 00000000 00:00 0 [vvar]\n"
      "7ffff7fc1000-7ffff7fc3000 r--p 00000000 00:00 0 [vvar_vclock]\n"
      "7ffff7fc3000-7ffff7fc5000 r-xp 00000000 00:00 0 [vdso]\n"
      "7fffffdde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n",
      process);
  EXPECT_EQ(process.stack_surplus, 0x200000);
  EXPECT_EQ(process.surplus, 0x202000);
  EXPECT_EQ(told("/2/statm", "1000 8 1 3 0 600 0\n", numbers, process), "486 1024 512 3 0 88 0\n");
  EXPECT_EQ(told("/2/status", "VmSize:\t    4000 kB\nVmStk:\t    2180 kB\n", numbers, process),
            "VmSize:\t    1944 kB\nVmStk:\t     132 kB\n");
  ToldProcess gone;
  measure_surplus("", gone);
  EXPECT_EQ(gone.surplus, 0);
}

TEST(ToldFiles, HaveTheLimitsThatTheProcessSees) {
  Numbers numbers;
  const ToldProcess process{
      .processes = {100, RLIM_INFINITY}, .signals = {32768, 32768}, .queues = {819200, 819200}};
  EXPECT_EQ(told("/2/limits",
                 "Max processes             96364                96364                processes \n"
                 "Max open files            1024                 20000                files     \n"
                 "Max pending signals       96364                96364                signals   \n"
                 "Max msgqueue size         unlimited            unlimited            bytes     \n",
                 numbers, process),
            "Max processes             100                  unlimited            processes \n"
            "Max open files            1024                 20000                files     \n"
            "Max pending signals       32768                32768                signals   \n"
            "Max msgqueue size         819200               819200               bytes     \n");
}

TEST(ToldFiles, HavePathsFromTheRootOfTheProcess) {
  Numbers numbers;
  EXPECT_EQ(
      told("/2/maps", "7f01-7f02 r--p 00000000 08:01 4711   /r/usr/a b\n", numbers, {.root = "/r"}),
      "7f01-7f02 r--p 00000000 08:01 4711   /usr/a b\n");
}

TEST(ToldFiles, NumberWhatAnEpollWaitsFor) {
  EXPECT_EQ(
      shown("/2/fdinfo/3", "tfd:        5 events:       19 data:     7  pos:0 ino:80e sdev:d\n"),
      "tfd:        5 events:       19 data:     7  pos:0 ino:3e9 sdev:29\n");
}

TEST(ToldFiles, HideTheTimesOfObjects) {
  EXPECT_EQ(shown("/sysvipc/msg",
                  "       key      msqid      stime      rtime\n"
                  "         0          3 1767225600          0\n"),
            "       key      msqid      stime      rtime\n"
            "         0          3          0          0\n");
}

TEST(ToldFiles, HideCountersOfTheNetwork) {
  EXPECT_EQ(shown("/2/net/if_inet6", "fe80 eth0\n0001 lo\n"), "0001 lo\nfe80 eth0\n");
  EXPECT_EQ(shown("/2/net/dev", "  lo:  17 2 0\n"), "  lo:  0 0 0\n");
  EXPECT_EQ(shown("/2/net/snmp6", "Ip6OutMcastPkts        \t17\n"), "Ip6OutMcastPkts        \t0\n");
}

TEST(ToldFiles, SayThatWhoReadsThemRuns) {
  Numbers numbers;
  EXPECT_EQ(told("/2/status", "State:\tt (tracing stop)\n", numbers, {.running = true}),
            "State:\tR (running)\n");
  EXPECT_THAT(told("/2/stat", "2 (a) t 1 2\n", numbers, {.running = true}), HasSubstr("(a) R 1 2"));
  EXPECT_THAT(told("/2/stat", "2 (a) S 1 2\n", numbers, {.running = true}), HasSubstr("(a) S 1 2"));
}

TEST(ToldFiles, NumberInodesInTheOrderOfTheQuestions) {
  const std::string maps =
      "7f00-7f01 rw-s 00000000 00:2f 998877 /memfd:x (deleted)\n"
      "7f01-7f02 r--p 00000000 08:01 4711 /usr/bin/true\n"
      "7f02-7f03 rw-p 00000000 00:00 0 \n";
  EXPECT_EQ(shown("/2/maps", maps),
            "7f00-7f01 rw-s 00000000 00:01 1001 /memfd:x (deleted)\n"
            "7f01-7f02 r--p 00000000 08:01 4711 /usr/bin/true\n"
            "7f02-7f03 rw-p 00000000 00:00 0 \n");
}

TEST(ToldFiles, HideWhatIsInMemory) {
  EXPECT_EQ(shown("/2/smaps",
                  "7f02-7f03 rw-p 00000000 00:00 0 \nSize:    4 kB\nRss:    4 kB\n"
                  "VmFlags: rd wr\n"),
            "7f02-7f03 rw-p 00000000 00:00 0 \nSize:    4 kB\nRss: 0 kB\nVmFlags: rd wr\n");
  EXPECT_EQ(shown("/2/statm", "19937 8961 1300 3 0 11 0\n"), "19937 1024 512 3 0 11 0\n");
  EXPECT_EQ(shown("/2/io", "rchar: 17\nwchar: 4\n"), "rchar: 0\nwchar: 0\n");
}

TEST(ToldFiles, NumberMountsAndTheirDevices) {
  Numbers numbers;
  const std::string line = "198 171 0:67 / /tmp rw,nodev shared:55 - overlay overlay rw";
  EXPECT_EQ(told("/2/mountinfo", line + "\n199 198 8:1 / /x rw - ext4 /dev/a rw\n", numbers),
            "21 22 0:41 / /tmp rw,nodev shared:1 - overlay overlay rw\n"
            "23 21 8:1 / /x rw - ext4 /dev/a rw\n");
  EXPECT_EQ(told("/2/fdinfo/3", "pos:\t0\nmnt_id:\t198\nino:\t5\n", numbers),
            "pos:\t0\nmnt_id:\t21\nino:\t1001\n");
}

TEST(ToldFiles, TellOfNoSocketsOfTheSimulator) {
  EXPECT_EQ(shown("/2/net/unix", "Num Path\n00009c75: 2 28480875 /proc/self/fd/13/tcp.0.32768\n"),
            "Num Path\n");
  EXPECT_EQ(shown("/2/net/unix", ""), "");
  EXPECT_EQ(shown("/2/net/sockstat", "sockets: used 5\nTCP: inuse 3 mem 7\n"),
            "sockets: used 0\nTCP: inuse 0 mem 0\n");
}

TEST(ToldFiles, SurviveAnyText) {
  for (const char* const path : {"/2/stat", "/2/status", "/2/statm", "/2/io", "/2/maps", "/2/smaps",
                                 "/2/mountinfo", "/2/fdinfo/3", "/2/net/unix", "/2/net/sockstat",
                                 "/2/limits", "/2/auxv", "/sysvipc/sem", "/2/net/snmp6"}) {
    for (const char* const text : {"", "\n", ")", ") ", " ", ":", "a:", "mnt_id:", "ino: \t",
                                   "00: 00: 00: 00: 00:", "0: 0: 0:", "1 2", "tfd: ino: sdev:",
                                   "Max processes ", "VmSize:", "Rss:", "a b\n1 2 3\n"})
      EXPECT_THAT(shown(path, text), Not(HasSubstr("?"))) << path << " '" << text << "'";
  }
}

TEST(ToldLinks, HaveTheSameNumberEachTime) {
  Numbers numbers;
  EXPECT_EQ(told_link("pid:[4026533265]", numbers), "pid:[4026532000]");
  EXPECT_EQ(told_link("net:[4026533266]", numbers), "net:[4026532001]");
  EXPECT_EQ(told_link("pid:[4026533265]", numbers), "pid:[4026532000]");
  EXPECT_EQ(told_link("socket:[28480875]", numbers), "socket:[1001]");
}

TEST(ToldLinks, AreNoPathsOfFiles) {
  Numbers numbers;
  for (const char* const target :
       {"", "/usr/lib", "x", "pid:[", "pid:[]", "pid:[x]", "/tmp/a:[1]", "anon_inode:[eventfd]"})
    EXPECT_EQ(told_link(target, numbers), std::nullopt) << target;
}

}  // namespace
}  // namespace anyrdma::sim::programs
