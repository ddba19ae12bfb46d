// One traced thread of another process: its registers, its memory and its stops. Source: ptrace(2),
// seccomp(2).
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace anyrdma::sim::tracee {

/// A system call that a thread is about to make.
struct Call {
  long number = 0;
  std::array<std::uint64_t, 6> arguments{};
};

/// Returns the id of a thread in the innermost PID namespace; if it cannot be read, `tid`.
[[nodiscard]] pid_t number_of(pid_t tid);

/// A traced thread that has stopped. No function blocks. A function fails if the thread has ended
/// or an address is invalid.
class Tracee {
 public:
  explicit Tracee(pid_t tid) : tid_(tid) {}

  [[nodiscard]] pid_t tid() const { return tid_; }
  /// Sets a new thread id. Call after execve(2) by a thread that was not the first one of its
  /// process: the kernel gives it the id of the process.
  void rename(pid_t tid) {
    tid_ = tid;
    known_.reset();
  }

  /// Returns the system call that the thread is about to make.
  [[nodiscard]] std::optional<Call> call() const;
  /// The call is not made; it returns that.
  void answer(long result) const;
  /// The call is made with another argument.
  void set_argument(unsigned index, std::uint64_t value) const;
  /// Makes the thread execute the call that has just returned once more, with the arguments in
  /// `call`.
  void repeat(const Call& call) const;
  /// The result of the call. Only after run_to_return().
  [[nodiscard]] long result() const;
  void set_result(long result) const;

  [[nodiscard]] std::optional<user_regs_struct> registers() const;
  void set_registers(const user_regs_struct& registers) const;

  /// Returns the signal that is about to be delivered to the thread. nullopt: the thread stopped
  /// for another reason.
  [[nodiscard]] std::optional<siginfo_t> signal_info() const;

  /// All or nothing.
  [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> into) const;
  [[nodiscard]] bool write(std::uint64_t address, std::span<const std::byte> from) const;
  template <class Value>
  [[nodiscard]] std::optional<Value> peek(std::uint64_t address) const {
    static_assert(std::is_trivially_copyable_v<Value>);
    Value value;
    if (!read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
  template <class Value>
  [[nodiscard]] bool poke(std::uint64_t address, const Value& value) const {
    static_assert(std::is_trivially_copyable_v<Value>);
    return write(address, std::as_bytes(std::span(&value, 1)));
  }
  /// Reads a C string from the thread's memory: the bytes before the first zero, `at_most` bytes at
  /// most.
  [[nodiscard]] std::string text(std::uint64_t address, std::size_t at_most = 4096) const;

  /// Continues the thread until its next stop, delivering the signal `signal` if that is not 0.
  void run(int signal = 0) const;
  /// Continues the thread until the system call that it is about to make has returned.
  void run_to_return() const;
  /// By one instruction, or into the handler of a signal that it takes.
  void step(int signal = 0) const;
  /// All registers of the processor that are not general, as NT_X86_XSTATE has them; empty: the
  /// thread has ended.
  [[nodiscard]] std::vector<std::byte> extended_registers() const;
  void set_extended_registers(std::span<const std::byte> state) const;
  /// One of the eight registers for hardware breakpoints. 0 if the thread has ended.
  [[nodiscard]] std::uint64_t debug_register(unsigned number) const;
  /// False: the processor refuses it.
  [[nodiscard]] bool set_debug_register(unsigned number, std::uint64_t value) const;
  /// Like read and write, whatever the rights of the memory are.
  [[nodiscard]] bool read_any(std::uint64_t address, std::span<std::byte> into) const;
  [[nodiscard]] bool write_any(std::uint64_t address, std::span<const std::byte> from) const;

 private:
  pid_t tid_;
  mutable std::optional<user_regs_struct> known_;  ///< its registers, since it has stopped
};

enum class StopKind : std::uint8_t {
  kCall,        ///< it is about to make a system call
  kReturn,      ///< it has made one
  kSignal,      ///< `detail` is about to be delivered
  kNewThread,   ///< it has made a thread: `detail`
  kNewProcess,  ///< it has made a process: `detail`
  kVfork,       ///< the thread has created the process `detail` by vfork(2)
  kVforkOver,   ///< the thread's vfork(2) child no longer uses its memory
  kProgram,     ///< the thread executes a new program; its id was `detail`
  kStarted,     ///< it is new
  kGroupStop,   ///< its process has been stopped by signal `detail`
  kEnding,      ///< it is about to end
  kGone,        ///< the thread has ended: `detail` is a status as of wait(2)
};

struct Stop {
  pid_t tid = 0;
  StopKind kind{};
  int detail = 0;
};

/// Returns why a traced thread has stopped, from its status of waitpid(2).
[[nodiscard]] Stop stop_of(pid_t tid, int status);

/// Returns the ptrace(2) options for tracing a thread and all threads and processes that it
/// creates.
[[nodiscard]] long trace_options();

}  // namespace anyrdma::sim::tracee
