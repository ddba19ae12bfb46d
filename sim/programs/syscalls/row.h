// Building blocks of the table of system calls (table.h).
#pragma once

#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "sim/programs/syscalls/system_calls.h"
#include "transport/realtime/prompt_call.h"

namespace anyrdma::sim::programs {

using tracee::Answer;
using tracee::ArgumentRule;
using tracee::Verdict;

// --- arguments that matter ----------------------------------------------------------------------

inline constexpr Answer kPasses{Verdict::kPass};
inline constexpr Answer kStops{Verdict::kStop};

// Rules for mmap(2): a mapping of huge pages is made of ordinary ones, and a file may be of huge
// pages, too (huge_pages.h). Code is searched for instructions to replace. A shared mapping may
// give a registered region its pages back (memory_changes.h).
inline constexpr std::array<ArgumentRule, 3> kOfMmap{
    {{3, ArgumentRule::Test::kHasAny, MAP_HUGETLB, kStops, "MAP_HUGETLB"},
     {3, ArgumentRule::Test::kHasAny, MAP_SHARED, kStops, "MAP_SHARED"},
     {2, ArgumentRule::Test::kHasAny, PROT_EXEC, kStops, "PROT_EXEC"}}};
inline constexpr std::array<ArgumentRule, 1> kOfProtection{
    {{2, ArgumentRule::Test::kHasAny, PROT_EXEC, kStops, "PROT_EXEC"}}};
/// Commands that return the times of System V objects (object_times.h), or change them. Those by
/// index have different numbers for each kind of object.
inline constexpr std::array<ArgumentRule, 5> kOfShmctl{
    {{1, ArgumentRule::Test::kIs, IPC_RMID, kStops, "IPC_RMID"},
     {1, ArgumentRule::Test::kIs, IPC_STAT, kStops, "IPC_STAT"},
     {1, ArgumentRule::Test::kIs, IPC_SET, kStops, "IPC_SET"},
     {1, ArgumentRule::Test::kIs, SHM_STAT, kStops, "SHM_STAT"},
     {1, ArgumentRule::Test::kIs, SHM_STAT_ANY, kStops, "SHM_STAT_ANY"}}};
inline constexpr std::array<ArgumentRule, 4> kOfMsgctl{
    {{1, ArgumentRule::Test::kIs, IPC_STAT, kStops, "IPC_STAT"},
     {1, ArgumentRule::Test::kIs, IPC_SET, kStops, "IPC_SET"},
     {1, ArgumentRule::Test::kIs, MSG_STAT, kStops, "MSG_STAT"},
     {1, ArgumentRule::Test::kIs, MSG_STAT_ANY, kStops, "MSG_STAT_ANY"}}};
inline constexpr std::array<ArgumentRule, 4> kOfSemctl{
    {{2, ArgumentRule::Test::kIs, IPC_STAT, kStops, "IPC_STAT"},
     {2, ArgumentRule::Test::kIs, IPC_SET, kStops, "IPC_SET"},
     {2, ArgumentRule::Test::kIs, SEM_STAT, kStops, "SEM_STAT"},
     {2, ArgumentRule::Test::kIs, SEM_STAT_ANY, kStops, "SEM_STAT_ANY"}}};
inline constexpr std::array<ArgumentRule, 1> kOfMembarrier{
    {{0, ArgumentRule::Test::kIs, MEMBARRIER_CMD_QUERY, kStops, "MEMBARRIER_CMD_QUERY"}}};
inline constexpr std::array<ArgumentRule, 1> kOfMemfd{
    {{1, ArgumentRule::Test::kHasAny, MFD_HUGETLB, kStops, "MFD_HUGETLB"}}};
/// Files that the supervisor reads for the program are read from their beginning.
inline constexpr std::array<ArgumentRule, 1> kOfPread{
    {{3, ArgumentRule::Test::kIs, 0, kStops, "offset 0"}}};
inline constexpr std::array<ArgumentRule, 2> kOfFcntl{
    {{1, ArgumentRule::Test::kIs, F_SETLKW, kStops, "F_SETLKW"},
     {1, ArgumentRule::Test::kIs, F_OFD_SETLKW, kStops, "F_OFD_SETLKW"}}};
/// Besides the addresses of interfaces: calls of terminals for which the kernel may send a signal
/// to another process, or which make a terminal usable (terminals.h).
inline constexpr std::array<ArgumentRule, 16> kOfIoctl{
    {{1, ArgumentRule::Test::kIs, SIOCGIFADDR, kStops, "SIOCGIFADDR"},
     {1, ArgumentRule::Test::kIs, SIOCGIFNETMASK, kStops, "SIOCGIFNETMASK"},
     {1, ArgumentRule::Test::kIs, SIOCGIFBRDADDR, kStops, "SIOCGIFBRDADDR"},
     {1, ArgumentRule::Test::kIs, TCSETS, kStops, "TC*"},
     {1, ArgumentRule::Test::kIs, TCSETSW, kStops, ""},
     {1, ArgumentRule::Test::kIs, TCSETSF, kStops, ""},
     {1, ArgumentRule::Test::kIs, TCSBRK, kStops, ""},
     {1, ArgumentRule::Test::kIs, TCXONC, kStops, ""},
     {1, ArgumentRule::Test::kIs, TCFLSH, kStops, ""},
     {1, ArgumentRule::Test::kIs, TIOCSPGRP, kStops, "TIOC*"},
     {1, ArgumentRule::Test::kIs, TIOCSTI, kStops, ""},
     {1, ArgumentRule::Test::kIs, TIOCSWINSZ, kStops, ""},
     {1, ArgumentRule::Test::kIs, TIOCNOTTY, kStops, ""},
     {1, ArgumentRule::Test::kIs, TIOCSPTLCK, kStops, ""},
     {1, ArgumentRule::Test::kIs, TIOCSIG, kStops, ""},
     {1, ArgumentRule::Test::kIs, TIOCVHANGUP, kStops, ""}}};
/// Limits that depend on the machine's memory or on other processes are told (limits.h).
inline constexpr std::array<ArgumentRule, 4> kOfPrlimit{
    {{1, ArgumentRule::Test::kIs, RLIMIT_CPU, kStops, "RLIMIT_CPU"},
     {1, ArgumentRule::Test::kIs, RLIMIT_NPROC, kStops, "RLIMIT_NPROC"},
     {1, ArgumentRule::Test::kIs, RLIMIT_SIGPENDING, kStops, "RLIMIT_SIGPENDING"},
     {1, ArgumentRule::Test::kIs, RLIMIT_MSGQUEUE, kStops, "RLIMIT_MSGQUEUE"}}};
inline constexpr std::array<ArgumentRule, 4> kOfSetrlimit{
    {{0, ArgumentRule::Test::kIs, RLIMIT_CPU, kStops, "RLIMIT_CPU"},
     {0, ArgumentRule::Test::kIs, RLIMIT_NPROC, kStops, "RLIMIT_NPROC"},
     {0, ArgumentRule::Test::kIs, RLIMIT_SIGPENDING, kStops, "RLIMIT_SIGPENDING"},
     {0, ArgumentRule::Test::kIs, RLIMIT_MSGQUEUE, kStops, "RLIMIT_MSGQUEUE"}}};
inline constexpr std::array<ArgumentRule, 3> kOfGetrlimit{
    {{0, ArgumentRule::Test::kIs, RLIMIT_NPROC, kStops, "RLIMIT_NPROC"},
     {0, ArgumentRule::Test::kIs, RLIMIT_SIGPENDING, kStops, "RLIMIT_SIGPENDING"},
     {0, ArgumentRule::Test::kIs, RLIMIT_MSGQUEUE, kStops, "RLIMIT_MSGQUEUE"}}};
/// System calls of anyrdma's libraries that never wait, recognized by a mark in the upper half of
/// argument 3: transport/realtime/prompt_call.h. The kernel executes them without a stop.
inline constexpr std::array<ArgumentRule, 1> kPrompt{
    {{3, ArgumentRule::Test::kUpperHalfIs, transport::realtime::kPromptMark, kPasses, ""}}};

// --- rows ---------------------------------------------------------------------------------------

/// A row, and what completes it.
struct Row : SystemCall {
  template <std::size_t count>
  [[nodiscard]] constexpr Row but(const std::array<ArgumentRule, count>& rules,
                                  Handler with = nullptr) const {
    Row row = *this;
    row.arguments = rules;
    if (with != nullptr) row.handler = with;
    return row;
  }
};

/// The kernel makes the call.
constexpr Row passed(int number, const char* name, const char* support) {
  return {{number, name, kPasses, {}, nullptr, false, support}};
}
/// The kernel makes the call, until the process registers memory: then the handler decides
/// (transport/open/memory_filter.h).
constexpr Row watched(int number, const char* name, Handler handler, const char* support) {
  return {{number, name, kPasses, {}, handler, true, support}};
}
/// The handler decides.
constexpr Row stopped(int number, const char* name, Handler handler, const char* support) {
  return {{number, name, kStops, {}, handler, false, support}};
}
/// The call fails.
constexpr Row refused(int number, const char* name, int error, const char* support) {
  return {{number, name, {Verdict::kRefuse, error}, {}, nullptr, false, support}};
}
/// Makes the table row of a system call that only anyrdma's libraries make and no kernel has.
constexpr Row own(long number, const char* name, Handler handler) {
  return stopped(static_cast<int>(number), name, handler, "");
}

}  // namespace anyrdma::sim::programs
