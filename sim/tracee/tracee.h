// One thread of another process that this one traces: its registers, its memory, and what stops it.
// Source: ptrace(2), seccomp(2).
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

namespace anyrdma::sim::tracee {

/// A system call that a thread is about to make.
struct Call {
  long number = 0;
  std::array<std::uint64_t, 6> arguments{};
};

/// The id of a thread in the innermost PID namespace; its own id if that cannot be read.
[[nodiscard]] pid_t number_of(pid_t tid);

/// A stopped thread. No call blocks. A call fails if the thread has ended, or if an address is
/// invalid.
class Tracee {
 public:
  explicit Tracee(pid_t tid) : tid_(tid) {}

  [[nodiscard]] pid_t tid() const { return tid_; }
  /// After execve(2) by a thread that was not its process's first one.
  void rename(pid_t tid) {
    tid_ = tid;
    known_.reset();
  }

  /// The system call that it is about to make.
  [[nodiscard]] std::optional<Call> call() const;
  /// The call is not made; it returns that.
  void answer(long result) const;
  /// The call is made with another argument.
  void set_argument(unsigned index, std::uint64_t value) const;
  /// The call that has just returned is made once more, from its beginning.
  void repeat(const Call& call) const;
  /// The result of the call. Only after run_to_return().
  [[nodiscard]] long result() const;
  void set_result(long result) const;

  [[nodiscard]] std::optional<user_regs_struct> registers() const;
  void set_registers(const user_regs_struct& registers) const;

  /// The signal that is about to be delivered. nullopt: it has stopped for something else.
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
  /// Up to a zero or so many bytes.
  [[nodiscard]] std::string text(std::uint64_t address, std::size_t at_most = 4096) const;

  /// Runs to its next stop, taking a signal if that is not 0.
  void run(int signal = 0) const;
  /// Like the function above, but the thread stops when the call that it is about to make has
  /// returned.
  void run_to_return() const;
  void step() const;

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
  kVfork,       ///< the same, and lends it its memory
  kVforkOver,   ///< the process that it lent its memory to has let go of it
  kProgram,     ///< it runs another program now; `detail` was its thread
  kStarted,     ///< it is new
  kGroupStop,   ///< its process has been stopped by signal `detail`
  kEnding,      ///< it is about to end
  kGone,        ///< it has ended: `detail` is a status as of wait(2)
};

struct Stop {
  pid_t tid = 0;
  StopKind kind{};
  int detail = 0;
};

/// The meaning of a waitpid(2) status of a traced thread.
[[nodiscard]] Stop stop_of(pid_t tid, int status);

/// Options under which a thread is to be traced, and all that it makes.
[[nodiscard]] long trace_options();

}  // namespace anyrdma::sim::tracee
