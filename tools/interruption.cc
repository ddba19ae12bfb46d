#include "tools/interruption.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>

namespace anyrdma::tools {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t noted = 0;
std::array<struct sigaction, kSignals.size()> before{};

/// As the first process of a container one cannot die of a signal of one's own.
[[noreturn]] void end_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(signal);
  ::_exit(128 + signal);
}

void on_signal(int signal) {
  if (noted != 0) end_by(signal);
  noted = signal;
}

}  // namespace

Interruption::Interruption() {
  noted = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before[i], nullptr);
}

bool Interruption::came() {
  return noted != 0;
}

void Interruption::end() {
  std::fflush(nullptr);
  end_by(noted);
}

}  // namespace anyrdma::tools
