#include "sim/tracee/tracee.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::tracee {
namespace {

using transport::realtime::Descriptor;

constexpr std::size_t kSystemCallBytes = 2;  // of the instruction
constexpr int kStoppedInCall = SIGTRAP | 0x80;

void request(int what, pid_t tid, std::uintptr_t address, std::uintptr_t data) {
  // A thread that was killed meanwhile answers ESRCH; its end is reported like any other.
  (void)::ptrace(static_cast<__ptrace_request>(what), tid, reinterpret_cast<void*>(address),
                 reinterpret_cast<void*>(data));
}

unsigned long long& argument_of(user_regs_struct& registers, unsigned index) {
  switch (index) {
    case 0:
      return registers.rdi;
    case 1:
      return registers.rsi;
    case 2:
      return registers.rdx;
    case 3:
      return registers.r10;
    case 4:
      return registers.r8;
    default:
      return registers.r9;
  }
}

int message_of(pid_t tid) {
  unsigned long message = 0;
  request(PTRACE_GETEVENTMSG, tid, 0, reinterpret_cast<std::uintptr_t>(&message));
  return static_cast<int>(message);
}

std::size_t debug_register_at(unsigned number) {
  return offsetof(user, u_debugreg) + number * sizeof(user::u_debugreg[0]);
}

std::string memory_of(pid_t tid) {
  return "/proc/" + std::to_string(tid) + "/mem";
}

}  // namespace

pid_t number_of(pid_t tid) {
  std::ifstream file("/proc/" + std::to_string(tid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("NSpid:")) return std::stoi(line.substr(line.find_last_of("\t ") + 1));
  }
  return tid;
}

std::optional<user_regs_struct> Tracee::registers() const {
  if (known_) return known_;
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, tid_, nullptr, &registers) != 0) return std::nullopt;
  known_ = registers;
  return registers;
}

std::optional<siginfo_t> Tracee::signal_info() const {
  siginfo_t info{};
  if (::ptrace(PTRACE_GETSIGINFO, tid_, nullptr, &info) != 0) return std::nullopt;
  return info;
}

void Tracee::set_registers(const user_regs_struct& registers) const {
  known_ = registers;
  request(PTRACE_SETREGS, tid_, 0, reinterpret_cast<std::uintptr_t>(&registers));
}

std::optional<Call> Tracee::call() const {
  const auto now = registers();
  if (!now) return std::nullopt;
  return Call{.number = static_cast<long>(now->orig_rax),
              .arguments = {now->rdi, now->rsi, now->rdx, now->r10, now->r8, now->r9}};
}

void Tracee::answer(long result) const {
  auto now = registers();
  if (!now) return;
  now->orig_rax = ~0ull;
  now->rax = static_cast<unsigned long long>(result);
  set_registers(*now);
}

void Tracee::set_argument(unsigned index, std::uint64_t value) const {
  auto now = registers();
  if (!now) return;
  argument_of(*now, index) = value;
  set_registers(*now);
}

void Tracee::repeat(const Call& call) const {
  auto now = registers();
  if (!now) return;
  now->rip -= kSystemCallBytes;
  now->rax = static_cast<unsigned long long>(call.number);
  now->orig_rax = ~0ull;
  for (unsigned i = 0; i < call.arguments.size(); ++i) argument_of(*now, i) = call.arguments[i];
  set_registers(*now);
}

long Tracee::result() const {
  const auto now = registers();
  return now ? static_cast<long>(now->rax) : -ESRCH;
}

void Tracee::set_result(long result) const {
  auto now = registers();
  if (!now) return;
  now->rax = static_cast<unsigned long long>(result);
  set_registers(*now);
}

bool Tracee::read(std::uint64_t address, std::span<std::byte> into) const {
  const iovec local{into.data(), into.size()};
  const iovec remote{reinterpret_cast<void*>(address), into.size()};
  return ::process_vm_readv(tid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(into.size());
}

bool Tracee::write(std::uint64_t address, std::span<const std::byte> from) const {
  const iovec local{const_cast<std::byte*>(from.data()), from.size()};
  const iovec remote{reinterpret_cast<void*>(address), from.size()};
  return ::process_vm_writev(tid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(from.size());
}

std::string Tracee::text(std::uint64_t address, std::size_t at_most) const {
  constexpr std::size_t kPageSize = 4096;
  std::string text;
  while (text.size() < at_most) {
    std::array<std::byte, kPageSize> bytes;
    const std::size_t rest = kPageSize - address % kPageSize;
    const auto part = std::span(bytes).first(rest);
    if (!read(address, part)) break;
    const auto* const begin = reinterpret_cast<const char*>(part.data());
    const std::size_t length = ::strnlen(begin, rest);
    text.append(begin, length);
    if (length < rest) break;
    address += rest;
  }
  if (text.size() > at_most) text.resize(at_most);
  return text;
}

void Tracee::run(int signal) const {
  known_.reset();
  request(PTRACE_CONT, tid_, 0, static_cast<std::uintptr_t>(signal));
}

void Tracee::run_to_return() const {
  known_.reset();
  request(PTRACE_SYSCALL, tid_, 0, 0);
}

void Tracee::step(int signal) const {
  known_.reset();
  request(PTRACE_SINGLESTEP, tid_, 0, static_cast<std::uintptr_t>(signal));
}

std::vector<std::byte> Tracee::extended_registers() const {
  constexpr std::size_t kBytesMax = 16384;
  std::vector<std::byte> state(kBytesMax);
  iovec place{state.data(), state.size()};
  if (::ptrace(PTRACE_GETREGSET, tid_, NT_X86_XSTATE, &place) != 0) return {};
  state.resize(place.iov_len);
  return state;
}

void Tracee::set_extended_registers(std::span<const std::byte> state) const {
  iovec place{const_cast<std::byte*>(state.data()), state.size()};
  request(PTRACE_SETREGSET, tid_, NT_X86_XSTATE, reinterpret_cast<std::uintptr_t>(&place));
}

std::uint64_t Tracee::debug_register(unsigned number) const {
  errno = 0;
  const long value = ::ptrace(PTRACE_PEEKUSER, tid_, debug_register_at(number), nullptr);
  return errno == 0 ? static_cast<std::uint64_t>(value) : 0;
}

bool Tracee::set_debug_register(unsigned number, std::uint64_t value) const {
  return ::ptrace(PTRACE_POKEUSER, tid_, debug_register_at(number), value) == 0;
}

bool Tracee::read_any(std::uint64_t address, std::span<std::byte> into) const {
  const Descriptor memory(::open(memory_of(tid_).c_str(), O_RDONLY | O_CLOEXEC));
  return ::pread(memory.get(), into.data(), into.size(), static_cast<off_t>(address)) ==
         static_cast<ssize_t>(into.size());
}

bool Tracee::write_any(std::uint64_t address, std::span<const std::byte> from) const {
  const Descriptor memory(::open(memory_of(tid_).c_str(), O_WRONLY | O_CLOEXEC));
  return ::pwrite(memory.get(), from.data(), from.size(), static_cast<off_t>(address)) ==
         static_cast<ssize_t>(from.size());
}

long trace_options() {
  return PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
         PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESYSGOOD |
         PTRACE_O_EXITKILL;
}

Stop stop_of(pid_t tid, int status) {
  if (!WIFSTOPPED(status)) return {tid, StopKind::kGone, status};
  switch (status >> 16) {
    case PTRACE_EVENT_SECCOMP:
      return {tid, StopKind::kCall, 0};
    case PTRACE_EVENT_CLONE:
      return {tid, StopKind::kNewThread, message_of(tid)};
    case PTRACE_EVENT_FORK:
      return {tid, StopKind::kNewProcess, message_of(tid)};
    case PTRACE_EVENT_VFORK:
      return {tid, StopKind::kVfork, message_of(tid)};
    case PTRACE_EVENT_VFORK_DONE:
      return {tid, StopKind::kVforkOver, 0};
    case PTRACE_EVENT_EXEC:
      return {tid, StopKind::kProgram, message_of(tid)};
    case PTRACE_EVENT_EXIT:
      return {tid, StopKind::kEnding, message_of(tid)};
    case PTRACE_EVENT_STOP:
      if (WSTOPSIG(status) == SIGTRAP) return {tid, StopKind::kStarted, 0};
      return {tid, StopKind::kGroupStop, WSTOPSIG(status)};
    default:
      break;
  }
  if (WSTOPSIG(status) == kStoppedInCall) return {tid, StopKind::kReturn, 0};
  return {tid, StopKind::kSignal, WSTOPSIG(status)};
}

}  // namespace anyrdma::sim::tracee
