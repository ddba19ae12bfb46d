#include "sim/programs/supervisor/sandbox.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "sim/mistakes.h"
#include "sim/programs/kernel/signals.h"
#include "sim/programs/supervisor/blocked_call.h"
#include "sim/programs/supervisor/named_pipe.h"
#include "sim/programs/syscalls/new_program.h"
#include "sim/programs/syscalls/system_calls.h"
#include "sim/tracee/auxiliary_vector.h"
#include "sim/tracee/launch.h"
#include "verbs/assert.h"

namespace anyrdma::sim::programs {

using tracee::Stop;
using tracee::StopKind;

namespace {

/// The letter that proc(5) has for what a thread does; '?' where it is gone.
char state_of(pid_t tid) {
  std::ifstream file("/proc/" + std::to_string(tid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
}

/// Until something happens that it waits for. What cannot be interrupted (D) waits for the machine
/// alone: a disk, or a lock that the making and ending of networks hold for seconds.
bool is_asleep(pid_t tid) {
  return state_of(tid) == 'S';
}

/// How long a thread has had a processor, in nanoseconds.
std::uint64_t time_used(pid_t tid) {
  std::ifstream file("/proc/" + std::to_string(tid) + "/schedstat");
  std::uint64_t used = 0;
  file >> used;
  return used;
}

/// Whether nothing is left of a process but the word of it: a first thread that ends waits for all
/// others.
bool has_ended(pid_t pid) {
  if (state_of(pid) != 'Z') return false;
  std::error_code error;
  unsigned threads = 0;
  for (std::filesystem::directory_iterator each("/proc/" + std::to_string(pid) + "/task", error);
       !error && each != std::filesystem::directory_iterator(); each.increment(error))
    ++threads;
  return error || threads <= 1;
}

/// Whether wait(2) tells nothing more of a process; its end, when that comes only now, is taken:
/// who is not waited for holds up the end of its realm. Asked between two waits, after either of
/// which the process may have ended.
bool is_over(pid_t pid, std::optional<int>& status) {
  if (!has_ended(pid)) return false;
  int word = 0;
  const pid_t heard = ::waitpid(pid, &word, __WALL | WNOHANG);
  if (heard == pid) status = word;
  return heard != 0;
}

}  // namespace

Sandbox::Sandbox(World& world, SandboxOptions options)
    : world_(world),
      options_(std::move(options)),
      random_(world.random("programs")),
      kernel_(*this, {.pages = options_.huge_pages, .on_change = options_.on_huge_pages},
              options_.on_fact),
      guard_points_(world.random("guards")) {
  if (options_.debugger != nullptr) options_.debugger->begin(*this);
}

Sandbox::~Sandbox() {
  closing_ = true;
  for (const auto& process : processes_) {
    if (!process->status) ::kill(process->pid, SIGKILL);
  }
  // What is about to end stops once more to say so. A realm's own process goes with the realm. Of
  // whose end somebody else has heard nothing more comes, as a tick shows.
  bool ticked = false;
  const auto any_left = [&] {
    return std::any_of(processes_.begin(), processes_.end(), [&](const auto& process) {
      return !process->status && ::kill(process->pid, 0) == 0 &&
             !(ticked && is_over(process->pid, process->status));
    });
  };
  while (any_left()) {
    const auto heard = waiter_.next();
    ticked = !heard && heard.error().value() == EINTR;
    if (!heard && !ticked) break;
    for (const auto& process : processes_) {
      if (!ticked || process->status) continue;
      // One may stand in a stop that has been told before.
      for (const auto& thread : process->threads)
        ::ptrace(PTRACE_CONT, thread->tid(), nullptr, nullptr);
    }
    if (!heard) continue;
    if (heard->kind != StopKind::kGone) {
      ::ptrace(PTRACE_CONT, heard->tid, nullptr, nullptr);
    } else if (Process* const process = find_process(heard->tid)) {
      process->status = heard->detail;
    }
  }
  give_realms_back();
  // Their fibers are about what goes now.
  for (const auto& process : processes_) {
    process->host->processes().forget(process->full_name);
    for (const auto& thread : process->threads) traced(*thread).leave();
  }
  world_.scheduler().fibers().close();
}

// --- programs -----------------------------------------------------------------------------------

verbs::Result<Program*> Sandbox::start(Host& host, std::string_view name, ProgramOptions options) {
  auto program = std::make_unique<Program>();
  program->name_ = host.name() + "/" + std::string(name);
  program->host_ = &host;
  program->options_ = std::move(options);
  if (verbs::Result<void> launched = launch(*program); !launched) return launched.error();
  programs_.push_back(std::move(program));
  return programs_.back().get();
}

/// `program` stays where it is.
verbs::Result<void> Sandbox::launch(Program& program) {
  std::array<int, 2> out{};
  std::array<int, 2> error{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(error.data(), O_CLOEXEC) != 0)
    return verbs::errno_code(errno);
  const Descriptor out_in(out[1]);
  const Descriptor error_in(error[1]);
  program.out_ = {.from = Descriptor(out[0]), .rest = {}};
  program.error_ = {.from = Descriptor(error[0]), .rest = {}};
  for (const int fd : {out[0], error[0]}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Host& host = *program.host_;
  const ProgramOptions& options = program.options_;
  const auto pid = tracee::launch({.path = options.path,
                                   .arguments = options.arguments,
                                   .environment = with_kept(options.environment, options.kept),
                                   .directory = options.directory,
                                   .input = options.input < 0 ? nothing.get() : options.input,
                                   .output = out_in.get(),
                                   .error = error_in.get(),
                                   .realm = realm_of(host)},
                                  call_rules(kernel_.facts.are_named()));
  if (!pid) return pid.error();
  Process& process =
      adopt(*pid, nullptr, host, program, program.name_.substr(host.name().size() + 1));
  TracedThread& thread = add_thread(process, *pid, false, options.start);
  thread.handle({.tid = *pid, .kind = StopKind::kProgram, .detail = *pid});
  return {};
}

verbs::Result<void> Sandbox::start_again(Program& program) {
  if (closing_) return verbs::errno_code(ECANCELED);
  program.status_.reset();
  program.crashed_ = false;
  if (program.options_.input >= 0) (void)::lseek(program.options_.input, 0, SEEK_SET);
  return launch(program);
}

bool Sandbox::all_ended() const {
  return std::all_of(programs_.begin(), programs_.end(), [](const auto& program) {
    return program->background() || program->status().has_value();
  });
}

void Sandbox::signal(const Program& program, int number) {
  for (const auto& process : processes_) {
    if (process->program == &program && process->parent == nullptr && !process->status)
      send_signal(*this, *process, 0, number);
  }
}

Process& Sandbox::adopt(pid_t pid, Process* parent, Host& host, Program& program,
                        std::string name) {
  auto& process = *processes_.emplace_back(std::make_unique<Process>());
  process.pid = pid;
  process.number = tracee::number_of(pid);
  note_deed();
  process.parent = parent;
  process.host = &host;
  process.program = &program;
  if (parent != nullptr) {
    process.clock = parent->clock;
    process.code = parent->code;
    process.limits = parent->limits;
    process.is_static = parent->is_static;
  }
  process.name = std::move(name);
  process.full_name = host.name() + "/" + process.name + "[" + std::to_string(process.number) + "]";
  process.pidfd = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return process;
}

TracedThread& Sandbox::add_thread(Process& process, pid_t tid, bool is_new, Duration delay) {
  const unsigned number = ++process.threads_made;
  const std::string name = process.name + (number == 1 ? "" : "/" + std::to_string(number));
  auto made = std::make_unique<TracedThread>(*this, process, process.host->name() + "/" + name, tid,
                                             is_new);
  TracedThread& thread = *made;
  process.threads.push_back(std::move(made));
  // A process ends with its first thread as a rule; others may serve it for ever.
  process.host->spawn(
      name, [&thread, delay] { thread.live(delay); },
      number == 1 ? Ending::kMustEnd : Ending::kMayServe);
  process.fibers.push_back(world_.scheduler().fibers().all().back()->number());
  return thread;
}

Process* Sandbox::find_process(pid_t pid) {
  const auto found = std::find_if(processes_.begin(), processes_.end(), [pid](const auto& each) {
    return each->pid == pid && !each->status;
  });
  return found == processes_.end() ? nullptr : found->get();
}

TracedThread* Sandbox::find_thread_by_tid(pid_t tid) {
  for (const auto& process : processes_) {
    if (process->status) continue;
    for (const auto& thread : process->threads) {
      if (thread->tid() == tid) return &traced(*thread);
    }
  }
  return nullptr;
}

void Sandbox::on_new_thread(Thread& maker, pid_t tid) {
  // clone(2) without CLONE_THREAD makes a process, whatever signal it is to send at its end.
  if (const std::string group = "/proc/" + std::to_string(tid) + "/task/" + std::to_string(tid);
      ::access(group.c_str(), F_OK) == 0 &&
      ::access(
          ("/proc/" + std::to_string(maker.process().pid) + "/task/" + std::to_string(tid)).c_str(),
          F_OK) != 0) {
    (void)on_new_process(maker, tid);
    return;
  }
  kernel_.affinities.inherit(maker, add_thread(maker.process(), tid, true));
}

Process& Sandbox::on_new_process(Thread& maker, pid_t pid) {
  Process& parent = maker.process();
  Process* first = &parent;
  while (first->parent != nullptr) first = first->parent;
  const std::string name = first->name + "." + std::to_string(++first->children_made + 1);
  Process& child = adopt(pid, &parent, *parent.host, *parent.program, name);
  child.writes_shared = parent.writes_shared;
  kernel_.affinities.inherit(maker, add_thread(child, pid, true));
  return child;
}

/// Whoever had lent the process its memory goes on from here: when the kernel gets to that is the
/// machine's choice.
void Sandbox::await_lender(Process& process) {
  const Thread* const lender = std::exchange(process.lender, nullptr);
  while (lender != nullptr && traced(*lender).lends() && !lender->is_over()) {
    const auto heard = waiter_.next();
    if (!heard && heard.error().value() != EINTR) return;
    if (heard) on_other(*heard);
  }
}

// --- stops --------------------------------------------------------------------------------------

Stop Sandbox::run(Thread& thread, int signal) {
  open_pages(traced(thread));
  Stop stop;
  if (options_.debugger != nullptr) {
    stop = options_.debugger->run(thread, signal);
  } else {
    thread.tracee().run(signal);
    stop = await(thread);
  }
  if (processor_.is_crowded()) processor_.move(living_threads());
  return stop;
}

Stop Sandbox::run_to_return(Thread& thread) {
  close_pages();
  thread.tracee().run_to_return();
  return await(thread);
}

Stop Sandbox::await(Thread& thread) {
  const auto early = std::find_if(early_.begin(), early_.end(), [&](const Stop& stop) {
    return stop.tid == thread.tracee().tid();
  });
  if (early != early_.end()) {
    const Stop stop = *early;
    early_.erase(early);
    return stop;
  }
  ticks_ = 0;
  still_ = 0;
  for (;;) {
    const auto heard = waiter_.next();
    if (!heard && (heard.error().value() != EINTR || thread.is_over()))
      return {thread.tracee().tid(), StopKind::kGone, SIGKILL};
    if (!heard) {
      on_tick(traced(thread));
      continue;
    }
    if (heard->kind == StopKind::kProgram && heard->detail == thread.tracee().tid()) {
      thread.tracee().rename(heard->tid);
      return *heard;
    }
    if (heard->tid == thread.tracee().tid()) return *heard;
    on_other(*heard);
  }
}

std::vector<pid_t> Sandbox::living_threads() const {
  std::vector<pid_t> threads;
  for (const auto& process : processes_) {
    if (process->status) continue;
    for (const auto& thread : process->threads) threads.push_back(thread->tracee().tid());
  }
  return threads;
}

/// Of a thread that has not got the turn.
void Sandbox::on_other(const Stop& stop) {
  TracedThread* const thread = find_thread_by_tid(stop.tid);
  switch (stop.kind) {
    case StopKind::kEnding:
      if (thread != nullptr) thread->tracee().run();
      return;
    case StopKind::kGone:
      if (thread != nullptr) thread->on_gone(stop.detail);
      return;
    case StopKind::kVforkOver:
      if (thread != nullptr) thread->on_memory_back();
      return;
    default:
      early_.push_back(stop);
      return;
  }
}

void Sandbox::on_tick(TracedThread& running) {
  constexpr unsigned kTicksUntilBlocked = 1000;
  constexpr unsigned kTicksUntilOpening = 2;
  constexpr unsigned kTicksUntilCalledBack = 4;
  const pid_t tid = running.tracee().tid();
  const std::uint64_t used = time_used(tid);
  if (ticks_++ == 0) used_ = used;
  const auto patience = std::chrono::nanoseconds(options_.patience).count();
  running.note_used(used);
  if (is_interrupted() || (options_.debugger != nullptr && options_.debugger->wants_stop()) ||
      used > used_ + static_cast<std::uint64_t>(patience) * running.patience()) {
    ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
    used_ = used;
  }
  const bool stands_still = used == last_used_ && is_asleep(tid);
  still_ = stands_still ? still_ + 1 : 0;
  last_used_ = used;
  if (still_ == kTicksUntilOpening && running.may_wait_to_open() && is_opening(tid))
    ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  const unsigned called_back = running.repeats_call() ? 1 : kTicksUntilCalledBack;
  if (still_ == called_back && may_interrupt_call(tid))
    ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  if (still_ == kTicksUntilBlocked) {
    ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
    remark(running.process().name +
           " was blocked for seconds in a system call that takes no virtual time. "
           "The call was interrupted:\n" +
           running.describe());
  }
}

void Sandbox::note_overrun(const TracedThread& thread) {
  if (!overrun_.empty()) return;
  const auto seconds = std::chrono::duration<double>(options_.processor_time).count();
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%g", seconds);
  overrun_ = thread.process().host->name() + "/" + thread.process().name +
             " computes without end: it has used a processor for " + text.data() +
             " s without a system call";
}

/// The thread is about to end, alone or with all of its process.
void Sandbox::end(TracedThread& thread, int status) {
  read_output();  // a report that it has just written has its stack as long as it stands here
  note_ending(thread, status);
  thread.tracee().run();
  const pid_t tid = thread.tracee().tid();
  Process& process = thread.process();
  if (!thread.ends_alone() || !others_live(thread)) return await_end(process);
  // Of a first thread that ends alone wait(2) says nothing until all others have ended.
  const bool silent = tid == process.pid;
  while (!thread.is_over()) {
    const auto heard = silent ? waiter_.next_now() : waiter_.next();
    if (!heard && heard.error().value() == ECHILD) return on_process_gone(process, SIGKILL);
    if (heard) {
      on_other(*heard);
    } else if (silent && state_of(tid) == 'Z') {
      thread.leave();
    }
  }
  on_words_left(process);
}

bool Sandbox::others_live(const TracedThread& thread) {
  const auto& threads = thread.process().threads;
  return std::any_of(threads.begin(), threads.end(),
                     [&](const auto& each) { return each.get() != &thread && !each->is_over(); });
}

void Sandbox::remark(const std::string& text) {
  if (!remarks_.insert(text).second) return;
  if (options_.on_remark) options_.on_remark(text);
}

// --- output -------------------------------------------------------------------------------------

bool Sandbox::is_output(const Thread& thread, std::uint64_t descriptor) const {
  const Program* const program = thread.process().program;
  struct stat pipe {};
  struct stat its {};
  if (program == nullptr || !program->out_.from || ::fstat(program->out_.from.get(), &pipe) != 0)
    return false;
  const std::string path =
      "/proc/" + std::to_string(thread.tid()) + "/fd/" + std::to_string(descriptor);
  return ::stat(path.c_str(), &its) == 0 && its.st_dev == pipe.st_dev && its.st_ino == pipe.st_ino;
}

void Sandbox::read_output() {
  for (const auto& program : programs_) {
    read_stream(*program, program->out_, false);
    read_stream(*program, program->error_, true);
  }
}

void Sandbox::read_stream(Program& program, Program::Stream& stream, bool error) {
  std::array<char, 4096> bytes;
  while (stream.from) {
    const ssize_t size = ::read(stream.from.get(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) {
      stream.from.reset();
      if (stream.rest.empty()) return;
      stream.rest += '\n';
    } else {
      stream.rest.append(bytes.data(), static_cast<std::size_t>(size));
    }
    // Who never ends a line must not fill our memory.
    if (constexpr std::size_t kLineMax = 1 << 16;
        stream.rest.size() > kLineMax && stream.rest.find('\n') == std::string::npos)
      stream.rest.insert(kLineMax, 1, '\n');
    std::size_t begin = 0;
    for (std::size_t end; (end = stream.rest.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      const OutputLine line{.time = world_.now(),
                            .program = program.name_,
                            .source = &program,
                            .error = error,
                            .text = std::string_view(stream.rest).substr(begin, end - begin)};
      program.host_->processes().note_output(line.program, line.error, line.text);
      if (options_.on_output) options_.on_output(line);
    }
    stream.rest.erase(0, begin);
  }
}

}  // namespace anyrdma::sim::programs
