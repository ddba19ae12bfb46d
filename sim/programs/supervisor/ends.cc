// How processes of programs end, by a signal or by themselves. The kernel ends the threads of a
// process in an order of its own, and the processes that one signal kills as well; the world hears
// of all of them at once, in the order in which they were made.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <span>
#include <vector>

#include "base/text.h"
#include "sim/mistakes.h"
#include "sim/programs/supervisor/sandbox.h"

namespace anyrdma::sim::programs {

void Sandbox::crash(const Host& host) {
  for (const auto& program : programs_) program->crashed_ |= program->host_ == &host;
  kill(host);
  sockets_.on_crash(host);
}

void Sandbox::kill(const Host& host) {
  const auto lives = [&host](const auto& process) {
    return process->host == &host && !process->status;
  };
  std::vector<Process*> killed;
  for (const auto& process : processes_) {
    if (!lives(process)) continue;
    ::kill(process->pid, SIGKILL);
    killed.push_back(process.get());
  }
  await_ends(killed);
}

void Sandbox::await_end(Process& process) {
  Process* const one = &process;
  await_ends({&one, 1});
}

/// In which order the kernel ends them is not to be seen.
void Sandbox::await_ends(std::span<Process* const> processes) {
  for (Process* const each : processes) each->awaited = true;
  for (Process* const each : processes) {
    while (!each->status && !each->end_heard) {
      const auto heard = waiter_.next();
      if (heard) {
        on_other(*heard);
      } else if (heard.error().value() != EINTR) {
        each->end_heard = SIGKILL;
      }
    }
  }
  for (Process* const each : processes) {
    each->awaited = false;
    if (each->end_heard) on_process_gone(*each, *each->end_heard);
  }
}

void Sandbox::on_thread_gone(TracedThread& thread, int status) {
  Process& process = thread.process();
  if (thread.tracee().tid() == process.pid) process.last_words = status;
  const bool all = std::all_of(process.threads.begin(), process.threads.end(),
                               [](const auto& each) { return each->is_over(); });
  if (all && process.last_words) on_process_gone(process, *process.last_words);
}

/// The kernel has written the words of the threads that ended.
void Sandbox::on_words_left(const Process& process) {
  kernel_.futexes.on_thread_gone(process);
  kernel_.lock_words.on_thread_gone(*process.host);
}

void Sandbox::on_process_gone(Process& process, int status) {
  if (process.status) return;
  if (process.awaited) {
    process.end_heard = status;
    return;
  }
  process.status = status;
  note_deed();
  await_lender(process);
  process.host->processes().forget(process.full_name);
  if (world_.mistakes() != nullptr) world_.mistakes()->on_end(process.full_name + " ");
  for (const auto& thread : process.threads) traced(*thread).leave();
  on_words_left(process);
  process.pidfd.reset();
  kernel_.timers.on_process_gone(process);
  kernel_.huge_pages.on_process_gone(process);
  if (process.parent == nullptr) {
    process.program->status_ = status;
    read_output();
    process.host->processes().note_end(process.program->name_, ending_text(status));
    if (options_.on_end) options_.on_end(*process.program);
  }
  if (process.parent != nullptr) {
    for (const auto& thread : process.parent->threads) {
      if (thread->waits_for_child()) thread->wake(Woken::kReady);
    }
  }
  // Also of a process without a parent here: it may have led a session, or its children have asked
  // for a signal by PR_SET_PDEATHSIG.
  interrupt_waits();
  look();
}

}  // namespace anyrdma::sim::programs
