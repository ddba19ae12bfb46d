#include "sim/tracee/ticker.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/no_signals.h"

namespace anyrdma::sim::tracee {
namespace {

/// Signals that this thread has handled, modulo 2^32.
constinit thread_local std::atomic<std::uint32_t> handled{0};

/// A system call that blocks returns EINTR when a handler has run.
void on_signal(int /*signal*/) {
  handled.fetch_add(1, std::memory_order_relaxed);
}

bool blocks(int signal) {
  sigset_t mask;
  ::sigemptyset(&mask);
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return ::sigismember(&mask, signal) == 1;
}

/// Returns whether the signal has our handler, which it gets if it has no handler.
bool take(int signal) {
  struct sigaction action {};
  if (::sigaction(signal, nullptr, &action) != 0) return false;
  if ((action.sa_flags & SA_SIGINFO) != 0) return false;
  if (action.sa_handler == on_signal) return true;
  if (action.sa_handler != SIG_DFL) return false;
  action = {};
  action.sa_handler = on_signal;
  return ::sigaction(signal, &action, nullptr) == 0;
}

/// Returns a real-time signal that the process does not use, with our handler. A program that
/// reads a signal from a signalfd blocks it: such a signal is taken only if all others are blocked,
/// too. The handler remains for ever, so several threads may share the signal.
int take_signal() {
  for (const bool blocked : {false, true}) {
    for (int signal = SIGRTMAX; signal >= SIGRTMIN; --signal)
      if (blocks(signal) == blocked && take(signal)) return signal;
  }
  throw std::system_error(EAGAIN, std::generic_category(), "no real-time signal is free");
}

void change_mask(int how, int signal) {
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  ::pthread_sigmask(how, &one, nullptr);
}

}  // namespace

Ticker::Ticker(std::chrono::microseconds pause)
    : process_(::getpid()),
      thread_(::gettid()),
      pause_(pause),
      signal_(take_signal()),
      was_blocked_(blocks(signal_)) {
  {
    // A signal for the process is for the threads that its program knows.
    const NoSignals inherited;
    measuring_ = std::thread([this] { measure(); });
  }
  if (was_blocked_) change_mask(SIG_UNBLOCK, signal_);
}

Ticker::~Ticker() {
  if (::getpid() != process_) {  // a child of fork(2) has no such thread
    measuring_.detach();
    return;
  }
  over_.release();
  measuring_.join();
  if (was_blocked_) change_mask(SIG_BLOCK, signal_);
}

void Ticker::begin() {
  handled_before_ = handled.load(std::memory_order_relaxed);
  sent_before_ = sent_.load(std::memory_order_relaxed);
  state_.store(State::kWaiting, std::memory_order_release);
}

bool Ticker::has_ticked() const {
  return handled.load(std::memory_order_relaxed) != handled_before_;
}

void Ticker::end() {
  for (;;) {
    State expected = State::kWaiting;
    if (state_.compare_exchange_weak(expected, State::kOutside, std::memory_order_acquire)) break;
    ::sched_yield();
  }
  // A signal that was sent interrupts the next call, if it is not handled before.
  const auto sent = sent_.load(std::memory_order_relaxed) - sent_before_;
  while (handled.load(std::memory_order_relaxed) - handled_before_ < sent) ::sched_yield();
}

void Ticker::measure() {
  (void)::pthread_setname_np(::pthread_self(), "anyrdma-ticks");
  while (!over_.try_acquire_for(pause_)) tick();
}

void Ticker::tick() {
  State expected = State::kWaiting;
  if (!state_.compare_exchange_strong(expected, State::kSignalling, std::memory_order_acquire))
    return;
  if (::tgkill(process_, thread_, signal_) == 0) sent_.fetch_add(1, std::memory_order_relaxed);
  state_.store(State::kWaiting, std::memory_order_release);
}

}  // namespace anyrdma::sim::tracee
