// Timers of programs: timerfd(2), alarm(2), setitimer(2), timer_create(2). Timers of CPU time never
// expire: the CPU time of a program depends on the machine, and in virtual time a program uses
// none.
#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

class Timers {
 public:
  explicit Timers(Supervisor& supervisor);
  ~Timers();
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  /// Handles timerfd_create(2). For the kernel, the descriptor is an eventfd, to which the
  /// supervisor adds expirations.
  [[nodiscard]] Outcome on_timerfd_create(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_timerfd_settime(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_timerfd_gettime(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_alarm(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_setitimer(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_getitimer(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_timer_create(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_timer_settime(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_timer_gettime(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_timer_getoverrun(Thread& thread, const Call& call);
  [[nodiscard]] Outcome on_timer_delete(Thread& thread, const Call& call);
  /// Call when a program sets a limit of processor time, which never expires either.
  void remark_on_limit();
  void on_process_gone(const Process& process);

 private:
  class Timer;
  void remark_on(const char* what);
  [[nodiscard]] Timer* of_descriptor(Thread& thread, int fd);
  [[nodiscard]] Timer& interval_timer(Thread& thread);
  [[nodiscard]] Timer* of_number(Thread& thread, int number);

  Supervisor& supervisor_;
  std::vector<std::unique_ptr<Timer>> timers_;
  int made_ = 0;
};

}  // namespace anyrdma::sim::programs
