#include "sim/programs/kernel/told_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

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

TEST(ToldFiles, SomeDifferBetweenMachines) {
  for (const char* const path : {"/2/mounts", "/2/mountinfo", "/proc/17/mountstats"})
    EXPECT_TRUE(differs(path)) << path;
  for (const char* const path : {"", "/", "/2/cpuinfo", "/mounts", "/2/stat", "/x/mounts"})
    EXPECT_FALSE(differs(path)) << path;
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
                                   "VmRSS:\t   123 kB\nVmSize:\t   900 kB\n"
                                   "voluntary_ctxt_switches:\t17\n");
  EXPECT_EQ(status,
            "Name:\ta\nState:\tS (sleeping)\nTracerPid:\t0\nVmRSS:\t    4096 kB\n"
            "VmSize:\t   900 kB\nvoluntary_ctxt_switches:\t0\n");
}

TEST(ToldFiles, SayThatWhoReadsThemRuns) {
  Numbers numbers;
  EXPECT_EQ(told("/2/status", "State:\tt (tracing stop)\n", numbers, true),
            "State:\tR (running)\n");
  EXPECT_THAT(told("/2/stat", "2 (a) t 1 2\n", numbers, true), HasSubstr("(a) R 1 2"));
  EXPECT_THAT(told("/2/stat", "2 (a) S 1 2\n", numbers, true), HasSubstr("(a) S 1 2"));
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
                                 "/2/mountinfo", "/2/fdinfo/3", "/2/net/unix", "/2/net/sockstat"}) {
    for (const char* const text : {"", "\n", ")", ") ", " ", ":", "a:", "mnt_id:", "ino: \t",
                                   "00: 00: 00: 00: 00:", "0: 0: 0:", "1 2"})
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
