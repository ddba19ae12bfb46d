// Building blocks of the table of system calls (table.h).
#pragma once

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/mman.h>
#include <sys/resource.h>
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
// pages, too (huge_pages.h). Code is searched for instructions to replace. A registered region may
// lose its pages (memory_changes.h).
inline constexpr std::array<ArgumentRule, 4> kOfMmap{
    {{3, ArgumentRule::Test::kHasAny, MAP_FIXED, kStops, "MAP_FIXED"},
     {3, ArgumentRule::Test::kHasAny, MAP_HUGETLB, kStops, "MAP_HUGETLB"},
     {3, ArgumentRule::Test::kHasAny, MAP_SHARED, kStops, "MAP_SHARED"},
     {2, ArgumentRule::Test::kHasAny, PROT_EXEC, kStops, "PROT_EXEC"}}};
/// Advice after which private pages have other bytes. MADV_DONTNEED_LOCKED is not in all headers.
inline constexpr int kDontNeedLocked = 24;
inline constexpr std::array<ArgumentRule, 3> kOfMadvise{
    {{2, ArgumentRule::Test::kIs, MADV_DONTNEED, kStops, "MADV_DONTNEED"},
     {2, ArgumentRule::Test::kIs, MADV_REMOVE, kStops, "MADV_REMOVE"},
     {2, ArgumentRule::Test::kIs, kDontNeedLocked, kStops, "MADV_DONTNEED_LOCKED"}}};
inline constexpr std::array<ArgumentRule, 1> kOfProtection{
    {{2, ArgumentRule::Test::kHasAny, PROT_EXEC, kStops, "PROT_EXEC"}}};
inline constexpr std::array<ArgumentRule, 1> kOfShmctl{
    {{1, ArgumentRule::Test::kIs, IPC_RMID, kStops, "IPC_RMID"}}};
inline constexpr std::array<ArgumentRule, 1> kOfMemfd{
    {{1, ArgumentRule::Test::kHasAny, MFD_HUGETLB, kStops, "MFD_HUGETLB"}}};
/// Files that the supervisor reads for the program are read from their beginning.
inline constexpr std::array<ArgumentRule, 1> kOfPread{
    {{3, ArgumentRule::Test::kIs, 0, kStops, "offset 0"}}};
inline constexpr std::array<ArgumentRule, 2> kOfFcntl{
    {{1, ArgumentRule::Test::kIs, F_SETLKW, kStops, "F_SETLKW"},
     {1, ArgumentRule::Test::kIs, F_OFD_SETLKW, kStops, "F_OFD_SETLKW"}}};
inline constexpr std::array<ArgumentRule, 3> kOfIoctl{
    {{1, ArgumentRule::Test::kIs, SIOCGIFADDR, kStops, "SIOCGIFADDR"},
     {1, ArgumentRule::Test::kIs, SIOCGIFNETMASK, kStops, "SIOCGIFNETMASK"},
     {1, ArgumentRule::Test::kIs, SIOCGIFBRDADDR, kStops, "SIOCGIFBRDADDR"}}};
inline constexpr std::array<ArgumentRule, 1> kOfPrlimit{
    {{1, ArgumentRule::Test::kIs, RLIMIT_CPU, kStops, "RLIMIT_CPU"}}};
inline constexpr std::array<ArgumentRule, 1> kOfSetrlimit{
    {{0, ArgumentRule::Test::kIs, RLIMIT_CPU, kStops, "RLIMIT_CPU"}}};
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
  return {{number, name, kPasses, {}, nullptr, support}};
}
/// The handler decides.
constexpr Row stopped(int number, const char* name, Handler handler, const char* support) {
  return {{number, name, kStops, {}, handler, support}};
}
/// The call fails.
constexpr Row refused(int number, const char* name, int error, const char* support) {
  return {{number, name, {Verdict::kRefuse, error}, {}, nullptr, support}};
}
/// Makes the table row of a system call that only anyrdma's libraries make and no kernel has.
constexpr Row own(long number, const char* name, Handler handler) {
  return stopped(static_cast<int>(number), name, handler, "");
}

}  // namespace anyrdma::sim::programs
