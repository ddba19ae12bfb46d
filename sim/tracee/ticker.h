// Interrupts the long waits of one thread, and nothing else that the thread does.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <semaphore>
#include <thread>

namespace anyrdma::sim::tracee {

/// Interrupts a system call in which a thread waits, at regular intervals, with a signal. It sends
/// the signal only between begin() and end(), so that no other call of the thread fails with EINTR.
/// A thread of its own measures the intervals, so begin() and end() make no system call. All
/// functions belong to the thread that created the ticker.
class Ticker {
 public:
  /// `pause`: the real time from one tick to the next. Throws std::system_error if the process has
  /// no free real-time signal, or cannot start a thread.
  explicit Ticker(std::chrono::microseconds pause);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  /// From here on ticks come. The caller makes the call that they interrupt, and then calls end().
  void begin();
  /// Whether a tick has come since begin(). A call that returned EINTR without one was interrupted
  /// by another signal.
  [[nodiscard]] bool has_ticked() const;
  /// From here on no tick comes.
  void end();

 private:
  enum class State : std::uint8_t { kOutside, kWaiting, kSignalling };

  void measure();
  void tick();

  pid_t process_;
  pid_t thread_;
  std::chrono::microseconds pause_;
  int signal_;
  bool was_blocked_;  ///< the signal, in the thread
  std::atomic<State> state_{State::kOutside};
  std::atomic<std::uint32_t> sent_{0};  ///< how many signals, modulo 2^32
  std::uint32_t sent_before_ = 0;       ///< when the wait began
  std::uint32_t handled_before_ = 0;    ///< how many signals the thread had handled then
  std::binary_semaphore over_{0};
  std::thread measuring_;
};

}  // namespace anyrdma::sim::tracee
