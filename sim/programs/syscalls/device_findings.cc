#include "sim/programs/syscalls/device_findings.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.h"
#include "base/text.h"
#include "sim/host.h"
#include "sim/mistakes.h"
#include "sim/programs/kernel/clocks.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"
#include "sim/stacks/unwinder.h"
#include "sim/world.h"
#include "transport/fault/plan/finding_call.h"

namespace anyrdma::sim::programs {
namespace {

using fault::FindingReport;

constexpr std::size_t kFramesShown = 12;

std::string name_of_thread(const Process& process, std::string_view number) {
  for (const auto& thread : process.threads) {
    if (!thread->is_over() && thread->number() == whole_number<pid_t>(number))
      return thread->name();
  }
  return "thread " + std::string(number);
}

std::string time_text(const Thread& thread, std::string_view number) {
  const Duration shown{whole_number<std::int64_t>(number).value_or(0)};
  const Instant when = instant_of(thread, CLOCK_MONOTONIC, timespec_of(shown));
  return seconds_text(when.time_since_epoch()) + " s";
}

/// Threads by their names, times as the world has them, and no character that a terminal might
/// obey.
std::string readable(const Thread& thread, std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool is_number = c == fault::kThreadBegins || c == fault::kTimeBegins;
    const std::size_t end = is_number ? text.find(fault::kNumberEnds, at) : std::string_view::npos;
    if (end != std::string_view::npos) {
      const std::string_view number = text.substr(at + 1, end - at - 1);
      result += c == fault::kTimeBegins ? time_text(thread, number)
                                        : name_of_thread(thread.process(), number);
      at = end;
    } else {
      const bool plain = static_cast<unsigned char>(c) >= ' ' || c == '\n';
      result += plain ? c : '?';
    }
  }
  return result;
}

/// From the program's own frame on: how the device came to report is of no interest.
std::string stack_text(const char* title, std::vector<std::string> frames) {
  const auto is_ours = [](const std::string& frame) {
    return frame.starts_with("syscall+") || frame.find("(libibverbs.so") != std::string::npos ||
           frame.find("(librdmacm.so") != std::string::npos ||
           frame.find("(libanyrdma") != std::string::npos;
  };
  const auto first = std::ranges::find_if_not(frames, is_ours);
  frames.erase(frames.begin(), first);
  if (frames.size() > kFramesShown) frames.resize(kFramesShown);
  if (frames.empty()) frames.emplace_back("(a thread of the device)");
  std::string text = std::string("  ") + title + ":\n";
  for (const std::string& frame : frames) text += "    " + frame + "\n";
  return text;
}

std::string stacks_of(Thread& thread, const FindingReport& report) {
  const stacks::Unwinder unwinder(thread.process().pid);
  std::string text;
  std::vector<std::string> posted;
  for (std::size_t i = 0; i < report.frames; ++i)
    posted.push_back(unwinder.frame(report.posted[i]));
  if (!posted.empty()) text += stack_text("posted here", std::move(posted));
  return text + stack_text("found here", unwinder.frames(thread.tid()));
}

}  // namespace

Outcome on_device_finding(Thread& thread, const Call& call) {
  const auto report = thread.tracee().peek<FindingReport>(call.arguments[0]);
  if (!report || call.arguments[1] != sizeof *report) return Outcome::answered(-EFAULT);
  if (report->size > report->text.size() || report->frames > report->posted.size() ||
      report->checker.back() != '\0')
    return Outcome::answered(-EINVAL);
  const World& world = thread.supervisor().world();
  Mistakes* const mistakes = world.mistakes();
  if (mistakes == nullptr) return Outcome::answered(0);
  const Process& process = thread.process();
  const std::string waiter = process.full_name + " " + std::to_string(thread.number());
  if (report->kind == FindingReport::Kind::kWaitOver) {
    mistakes->on_wait_over(waiter);
    return Outcome::answered(0);
  }
  std::string text = readable(thread, {report->text.data(), report->size});
  const std::string program = process.host->name() + "/" + process.name;
  const bool waits = report->kind == FindingReport::Kind::kWaits;
  if (!waits && !is_ownership_checker(report->checker.data())) return Outcome::answered(-EINVAL);
  Mistake mistake = waits ? owed_mistake({.events = text, .own = report->own}, program)
                          : Mistake{.checker = report->checker.data(),
                                    .program = program,
                                    .remark = report->kind == FindingReport::Kind::kRemark,
                                    .text = std::move(text)};
  mistake.text +=
      " (at " + seconds_text(world.now().time_since_epoch()) + " s by " + thread.name() + ")";
  if (world.options().stacks && !mistake.remark) mistake.stacks = stacks_of(thread, *report);
  if (waits && report->own) {
    mistakes->on_wait(waiter, world.now(), std::move(mistake));
  } else {
    mistakes->add(mistake);
  }
  return Outcome::answered(0);
}

}  // namespace anyrdma::sim::programs
