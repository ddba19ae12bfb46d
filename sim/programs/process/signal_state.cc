#include "sim/programs/process/signal_state.h"

#include <csignal>
#include <fstream>
#include <string>

namespace anyrdma::sim::programs {
namespace {

constexpr std::uint64_t bit_of(int signal) {
  return std::uint64_t{1} << (signal - 1);
}

constexpr std::uint64_t kIgnoredByDefault =
    bit_of(SIGCHLD) | bit_of(SIGURG) | bit_of(SIGWINCH) | bit_of(SIGCONT);

/// The kernel's account of a thread's signals.
struct Account {
  std::uint64_t pending = 0;  ///< for it or for any thread
  std::uint64_t blocked = 0;
  std::uint64_t ignored = 0;
  std::uint64_t caught = 0;

  [[nodiscard]] std::uint64_t without_effect() const {
    return ignored | (kIgnoredByDefault & ~caught);
  }
};

Account account_of(pid_t tid) {
  Account account;
  std::ifstream status("/proc/" + std::to_string(tid) + "/status");
  for (std::string line; std::getline(status, line);) {
    const auto mask = [&] { return std::stoull(line.substr(line.find('\t') + 1), nullptr, 16); };
    if (line.starts_with("SigPnd:") || line.starts_with("ShdPnd:")) account.pending |= mask();
    if (line.starts_with("SigBlk:")) account.blocked = mask();
    if (line.starts_with("SigIgn:")) account.ignored = mask();
    if (line.starts_with("SigCgt:")) account.caught = mask();
  }
  return account;
}

}  // namespace

bool takes_signal(const Thread& thread, std::optional<std::uint64_t> mask) {
  const Account account = account_of(thread.tid());
  const std::uint64_t mask_now = mask.value_or(account.blocked);
  // The kernel keeps a blocked signal even if it is ignored: sigwaitinfo(2) returns it, and a call
  // with a mask of its own begins anew when the signal has been dropped.
  const std::uint64_t effective = account.blocked | ~account.without_effect();
  return (account.pending & ~mask_now & effective) != 0;
}

bool ignores(const Thread& thread, int signal) {
  return (account_of(thread.tid()).without_effect() & bit_of(signal)) != 0;
}

std::uint64_t pending_signals(const Thread& thread) {
  return account_of(thread.tid()).pending;
}

bool ends_process(const Thread& thread, int signal) {
  const Account account = account_of(thread.tid());
  return ((account.ignored | account.caught) & bit_of(signal)) == 0;
}

}  // namespace anyrdma::sim::programs
