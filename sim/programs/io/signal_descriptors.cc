#include "sim/programs/io/signal_descriptors.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/programs/kernel/kernel.h"
#include "sim/programs/process/repeated_call.h"
#include "sim/programs/process/signal_state.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

/// A descriptor in an epoll set.
struct Member {
  int fd = -1;  ///< of the program
  std::uint32_t events = 0;
  std::uint64_t data = 0;
};

/// What proc(5) says of a descriptor of ours.
std::ifstream info_of(const Descriptor& descriptor) {
  return std::ifstream("/proc/self/fdinfo/" + std::to_string(descriptor.get()));
}

/// 0: it is no signalfd.
std::uint64_t signals_of(const Descriptor& descriptor) {
  std::ifstream info = info_of(descriptor);
  for (std::string word; info >> word;) {
    std::uint64_t mask = 0;
    if (word == "sigmask:" && info >> std::hex >> mask) return mask;
  }
  return 0;
}

std::vector<Member> members_of(const Descriptor& set) {
  std::vector<Member> all;
  std::ifstream info = info_of(set);
  for (std::string line; std::getline(info, line);) {
    std::istringstream words(line);
    std::string name;
    Member member;
    if (words >> name >> member.fd && name == "tfd:" &&
        words >> name >> std::hex >> member.events && words >> name >> member.data)
      all.push_back(member);
  }
  return all;
}

}  // namespace

Watched watch(const Thread& thread, Descriptor descriptor, short events) {
  Watched watched{std::move(descriptor), events};
  if (!thread.supervisor().kernel().has_signal_descriptors || (events & POLLIN) == 0)
    return watched;
  watched.signals = signals_of(watched.descriptor);
  for (const Member& each : members_of(watched.descriptor)) {
    if ((each.events & EPOLLIN) != 0) watched.signals |= signals_of(thread.borrow(each.fd));
  }
  return watched;
}

bool put_signals_back(Thread& thread, const Call& call, const Descriptor& set,
                      std::uint64_t signals) {
  const std::uint64_t pending = pending_signals(thread) & signals;
  if (pending == 0) return true;
  const std::uint64_t scratch = call.arguments[1];  // where the kernel would put an event
  const auto before = thread.tracee().peek<epoll_event>(scratch);
  if (!before) return true;  // EFAULT, as the kernel will say
  for (const Member& each : members_of(set)) {
    if ((signals_of(thread.borrow(each.fd)) & pending) == 0) continue;
    auto registers = thread.tracee().registers();
    const epoll_event event{.events = each.events, .data = {.u64 = each.data}};
    if (!registers || !thread.tracee().poke(scratch, event)) return false;
    registers->orig_rax = SYS_epoll_ctl;
    registers->rsi = EPOLL_CTL_MOD;
    registers->rdx = static_cast<unsigned long long>(each.fd);
    registers->r10 = scratch;
    thread.tracee().set_registers(*registers);
    if (!thread.finish_call() || !make_again(thread, call)) return false;
  }
  (void)thread.tracee().poke(scratch, *before);
  return true;
}

Outcome on_signalfd(Thread& thread, const Call& /*call*/) {
  thread.supervisor().kernel().has_signal_descriptors = true;
  return Outcome::made();
}

}  // namespace anyrdma::sim::programs
