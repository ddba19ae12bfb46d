#include "transport/open/finding_reporter.h"

#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>

#include "transport/fault/plan/finding_call.h"
#include "transport/open/memory_filter.h"
#include "transport/realtime/own_clock.h"

namespace anyrdma::transport {
namespace {

using fault::FindingReport;

/// Leaves errno alone.
void report_to_world(const FindingReport& report) {
  const int error = errno;
  (void)::syscall(fault::kReportFinding, &report, sizeof report);
  errno = error;
}

std::uint64_t number_of_thread() {
  static thread_local const auto number = static_cast<std::uint64_t>(::syscall(SYS_gettid));
  return number;
}

/// Negative: it is not known.
std::int64_t time_of_world() {
  return &::anyrdma_peek_clock == nullptr ? -1 : ::anyrdma_peek_clock();
}

struct Walk {
  std::span<void*> frames;
  std::size_t count = 0;
};

_Unwind_Reason_Code take_frame(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  if (walk.count == walk.frames.size()) return _URC_END_OF_STACK;
  const _Unwind_Ptr at = _Unwind_GetIP(context);
  if (at == 0) return _URC_END_OF_STACK;
  walk.frames[walk.count++] = reinterpret_cast<void*>(at);
  return _URC_NO_REASON;
}

}  // namespace

void FindingReporter::on_finding(const verbs::soft::OwnershipFinding& finding) {
  FindingReport report;
  report.kind = finding.remark ? FindingReport::Kind::kRemark : FindingReport::Kind::kFinding;
  report.set(finding.checker, finding.text);
  const std::size_t frames = std::min(finding.posted.size(), report.posted.size());
  report.frames = static_cast<std::uint8_t>(frames);
  for (std::size_t i = 0; i < frames; ++i)
    report.posted[i] = reinterpret_cast<std::uintptr_t>(finding.posted[i]);
  report_to_world(report);
}

std::size_t FindingReporter::capture(std::span<void*> frames) {
  // The first walk of a process makes a system call (pthread_once), and that is a scheduling point.
  // A run has it whether or not stacks are kept, so that both take the same course.
  static std::atomic<bool> walked = false;
  if (!stacks_ && walked.exchange(true)) return 0;
  Walk walk{.frames = frames};
  (void)_Unwind_Backtrace(take_frame, &walk);
  return stacks_ ? walk.count : 0;
}

verbs::Runtime::Mark FindingReporter::mark() {
  return {.when = verbs::Instant(std::chrono::nanoseconds(time_of_world())),
          .who = number_of_thread()};
}

std::string FindingReporter::describe(const verbs::Runtime::Mark& mark) {
  const std::int64_t time = mark.when.time_since_epoch().count();
  std::string text;
  if (time >= 0)
    ((text = "at ") += fault::kTimeBegins) += std::to_string(time) + fault::kNumberEnds;
  text += text.empty() ? "by " : " by ";
  return text + fault::kThreadBegins + std::to_string(mark.who) + fault::kNumberEnds;
}

void FindingReporter::watch_memory(verbs::LostMemory& lost, std::uint64_t begin,
                                   std::uint64_t end) {
  const bool all_stop = stop_at_memory_changes();
  const int error = errno;
  (void)::syscall(fault::kWatchMemory, &lost, begin, end, all_stop ? 0 : 1);
  errno = error;
}

void FindingReporter::forget_memory(verbs::LostMemory& lost) {
  const int error = errno;
  (void)::syscall(fault::kWatchMemory, &lost, 0, 0, 0);
  errno = error;
}

void FindingReporter::on_owed(const verbs::Runtime::Owed& owed) {
  FindingReport report;
  report.kind = FindingReport::Kind::kWaits;
  report.own = owed.own;
  report.set("owed", owed.events);
  report_to_world(report);
}

void FindingReporter::on_paid() {
  FindingReport report;
  report.kind = FindingReport::Kind::kWaitOver;
  report_to_world(report);
}

}  // namespace anyrdma::transport
