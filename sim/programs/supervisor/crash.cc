#include "sim/programs/supervisor/crash.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/signal_state.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/stacks/unwinder.h"

namespace anyrdma::sim::programs {
namespace {

constexpr std::size_t kBriefFrames = 10;
constexpr std::size_t kFullFrames = 60;
/// So far from the stack pointer a function writes to its frame.
constexpr std::uint64_t kNearStack = 65536;

std::string hex_address(std::uint64_t number) {
  std::string text;
  append(text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

std::string signal_name(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : "SIG" + std::string(name);
}

/// The rights of the mapping that an address is in, "r--p"; empty: it is in none.
std::string rights_at(pid_t pid, std::uint64_t address) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    std::array<char, 5> rights{};
    if (std::sscanf(line.c_str(), "%llx-%llx %4s", &begin, &end, rights.data()) != 3) continue;
    if (address >= begin && address < end) return rights.data();
  }
  return {};
}

bool is_writable(const std::string& rights) {
  return rights.size() > 1 && rights[1] == 'w';
}

std::string reason_of_segv(pid_t pid, const siginfo_t& info) {
  const auto address = reinterpret_cast<std::uint64_t>(info.si_addr);
  if (info.si_code == SEGV_MAPERR) return "address " + hex_address(address) + " is not mapped";
  if (info.si_code == SEGV_ACCERR) {
    return "address " + hex_address(address) + " may not be accessed so: its memory is " +
           rights_at(pid, address);
  }
  return "an address that no process can have, or no room on the stack for the handler";
}

std::string reason_of(pid_t pid, const siginfo_t& info) {
  if (info.si_code == SI_TKILL || info.si_code == SI_USER || info.si_code == SI_QUEUE) {
    return info.si_signo == SIGABRT ? "abort()" : "a process has sent it";
  }
  const auto address = reinterpret_cast<std::uint64_t>(info.si_addr);
  switch (info.si_signo) {
    case SIGSEGV:
      return reason_of_segv(pid, info);
    case SIGBUS:
      if (info.si_code == BUS_ADRALN) return "address " + hex_address(address) + " is not aligned";
      return "there is no memory behind address " + hex_address(address) +
             ", as behind the end of a mapped file";
    case SIGFPE:
      return info.si_code == FPE_INTDIV ? "division of an integer by zero" : "arithmetic";
    case SIGILL:
      return "no such instruction, at " + hex_address(address);
    case SIGSYS:
      return "a system call that the program's own filter refuses";
    default:
      return "code " + std::to_string(info.si_code);
  }
}

std::string remark_on_stack(pid_t pid, const siginfo_t& info, std::uint64_t pointer) {
  if (!is_writable(rights_at(pid, pointer))) {
    return "the stack pointer, " + hex_address(pointer) +
           ", is in no memory that can be a stack: it has overflowed, or was overwritten";
  }
  if (info.si_signo != SIGSEGV || info.si_code <= 0) return {};
  const auto address = reinterpret_cast<std::uint64_t>(info.si_addr);
  const std::uint64_t distance = std::max(address, pointer) - std::min(address, pointer);
  if (distance > kNearStack || is_writable(rights_at(pid, address))) return {};
  return "the address is next to the stack pointer, " + hex_address(pointer) +
         ": the stack has overflowed";
}

std::vector<std::string> lines_of(const user_regs_struct& r) {
  const std::array<std::pair<const char*, unsigned long long>, 18> all{{{"rip", r.rip},
                                                                        {"rsp", r.rsp},
                                                                        {"rbp", r.rbp},
                                                                        {"rax", r.rax},
                                                                        {"rbx", r.rbx},
                                                                        {"rcx", r.rcx},
                                                                        {"rdx", r.rdx},
                                                                        {"rsi", r.rsi},
                                                                        {"rdi", r.rdi},
                                                                        {"r8", r.r8},
                                                                        {"r9", r.r9},
                                                                        {"r10", r.r10},
                                                                        {"r11", r.r11},
                                                                        {"r12", r.r12},
                                                                        {"r13", r.r13},
                                                                        {"r14", r.r14},
                                                                        {"r15", r.r15},
                                                                        {"eflags", r.eflags}}};
  constexpr std::size_t kInLine = 3;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % kInLine == 0) lines.emplace_back();
    append(lines.back(), "%s%-3s 0x%016llx", i % kInLine == 0 ? "" : "  ", all[i].first,
           all[i].second);
  }
  return lines;
}

/// A function that calls itself is one line, with how often.
void add_frames(std::string& text, const std::vector<std::string>& frames, std::size_t at_most) {
  const std::size_t end = std::min(frames.size(), at_most);
  for (std::size_t i = 0; i < end;) {
    const std::size_t first = i;
    while (i < end && frames[i] == frames[first]) ++i;
    text +=
        "    " + frames[first] + (i - first > 1 ? " * " + std::to_string(i - first) : "") + "\n";
  }
  if (frames.size() > at_most) text += "    ...\n";
  if (frames.empty()) text += "    (its stack cannot be read)\n";
}

/// Of all but one thread.
std::string stacks_of_others(const Process& process, const stacks::Unwinder& unwinder,
                             const Thread* one) {
  std::string text;
  for (const auto& thread : process.threads) {
    if (thread.get() == one || thread->is_over()) continue;
    text += "  " + thread->name() + "\n";
    add_frames(text, unwinder.frames(thread->tid()), kFullFrames);
  }
  return text;
}

bool is_of_sanitizer(std::string_view frame) {
  constexpr std::array<std::string_view, 8> kNames{"__asan",  "__sanitizer", "__interceptor",
                                                   "__ubsan", "__tsan",      "__lsan",
                                                   "__msan",  "__hwasan"};
  constexpr std::array<std::string_view, 4> kFiles{"(libasan.", "(libubsan.", "(libtsan.",
                                                   "(libclang_rt."};
  return std::ranges::any_of(kNames, [&](auto each) { return frame.starts_with(each); }) ||
         std::ranges::any_of(kFiles, [&](auto each) { return frame.find(each) != frame.npos; });
}

/// Without what a sanitizer does to write its report.
std::vector<std::string> below_sanitizer(std::vector<std::string> frames) {
  constexpr std::size_t kDeepest = 24;
  const auto end = frames.begin() + static_cast<std::ptrdiff_t>(std::min(frames.size(), kDeepest));
  const auto last = std::find_if(std::reverse_iterator(end), frames.rend(), is_of_sanitizer);
  if (last != frames.rend()) frames.erase(frames.begin(), last.base());
  return frames;
}

std::string head(const Crash& crash, std::size_t frames) {
  std::string text = "  " + crash.cause + "\n";
  if (!crash.remark.empty()) text += "  " + crash.remark + "\n";
  text += "  " + crash.thread + ", which got it\n";
  add_frames(text, crash.frames, frames);
  return text;
}

}  // namespace

bool is_crash(int signal) {
  constexpr std::array kAll{SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
  return std::ranges::find(kAll, signal) != kAll.end();
}

std::string brief_text(const Crash& crash) {
  return head(crash, kBriefFrames);
}

std::string full_text(const Crash& crash) {
  std::string text = head(crash, kFullFrames) + "  its registers\n";
  for (const std::string& line : crash.registers) text += "    " + line + "\n";
  return text + crash.others;
}

std::string stacks_at_report(Sandbox& sandbox, const Program& program, bool all) {
  const Fiber* const fiber = sandbox.world().scheduler().fibers().current();
  if (fiber == nullptr) return {};
  for (const auto& process : sandbox.processes()) {
    const auto at = std::ranges::find(process->fibers, fiber->number());
    if (process->program != &program || process->status || at == process->fibers.end()) continue;
    const auto& writer = process->threads[static_cast<std::size_t>(at - process->fibers.begin())];
    const stacks::Unwinder unwinder(process->pid);
    std::string text = "  " + writer->name() + ", which reports it\n";
    add_frames(text, below_sanitizer(unwinder.frames(writer->tid(), kFullFrames + 1)),
               all ? kFullFrames : kBriefFrames);
    return all ? text + stacks_of_others(*process, unwinder, writer.get()) : text;
  }
  return {};
}

void Sandbox::note_signal(TracedThread& thread, int signal) {
  if (options_.on_crash && is_crash(signal) && ends_process(thread, signal))
    tell_crash(thread, signal);
}

/// Of a filter's signal, for example, which ends a process without being delivered; or the process
/// ends by itself.
void Sandbox::note_ending(TracedThread& thread, int status) {
  const Process& process = thread.process();
  if (options_.on_crash && WIFSIGNALED(status) && is_crash(WTERMSIG(status)) && !process.crash_told)
    tell_crash(thread, WTERMSIG(status));
  const bool all_end = !thread.ends_alone() || !others_live(thread);
  if (options_.on_exit && WIFEXITED(status) && process.parent == nullptr && all_end)
    options_.on_exit(*process.program, thread.name(), status);
}

void Sandbox::tell_crash(TracedThread& thread, int signal) {
  Process& process = thread.process();
  process.crash_told = true;
  Crash crash{.program = process.program,
              .of_child = process.parent != nullptr,
              .process = process.host->name() + "/" + process.name,
              .thread = thread.name(),
              .signal = signal,
              .cause = signal_name(signal),
              .frames = {},
              .registers = {}};
  const auto info = thread.tracee().signal_info();
  const auto registers = thread.tracee().registers();
  if (info && info->si_signo == signal) crash.cause += ": " + reason_of(process.pid, *info);
  if (info && registers) crash.remark = remark_on_stack(process.pid, *info, registers->rsp);
  if (registers) crash.registers = lines_of(*registers);
  const stacks::Unwinder unwinder(process.pid);
  const bool all = options_.all_stacks;
  crash.frames = unwinder.frames(thread.tid(), (all ? kFullFrames : kBriefFrames) + 1);
  if (all) crash.others = stacks_of_others(process, unwinder, &thread);
  options_.on_crash(crash);
}

}  // namespace anyrdma::sim::programs
