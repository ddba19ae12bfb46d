#include "sim/programs/io/descriptors.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>

#include "sim/programs/io/answered_reading.h"
#include "sim/programs/io/chance.h"
#include "sim/programs/io/in_pieces.h"
#include "sim/programs/io/parts.h"
#include "sim/programs/io/signal_descriptors.h"
#include "sim/programs/io/socket_state.h"
#include "sim/programs/kernel/clocks.h"
#include "sim/programs/kernel/job_control.h"
#include "sim/programs/kernel/signals.h"
#include "sim/programs/kernel/terminals.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/repeated_call.h"
#include "sim/programs/process/signal_state.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

using std::chrono::milliseconds;

/// What a pipe or socket that is writable takes at once.
constexpr std::uint64_t kTakenAtOnce = 4096;
constexpr std::uint64_t kDescriptorsMax = 1 << 16;

bool waits(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

std::vector<Watched> alone(const Thread& thread, Descriptor descriptor, short events) {
  std::vector<Watched> watched;
  watched.push_back(watch(thread, std::move(descriptor), events));
  return watched;
}

/// A call that does not wait, whatever there is.
Outcome at_once(Thread& thread, const std::vector<Watched>& watched) {
  if (any_ready(thread, watched)) {
    thread.idleness().note_found();
  } else if (!thread.look_in_vain()) {
    return Outcome::over();
  }
  return Outcome::made();
}

Outcome once_readable(Thread& thread, const Call& call, Descriptor descriptor,
                      std::uint64_t flags) {
  const bool patient = (flags & MSG_DONTWAIT) == 0 && waits(descriptor.get());
  if (is_in_background(thread, descriptor)) {
    thread.supervisor().expect_signals();  // for each process of its group
    if (patient) return Outcome::made();
  }
  auto watched = alone(thread, std::move(descriptor), POLLIN);
  if (!patient || any_ready(thread, watched)) return at_once(thread, watched);
  const auto deadline = thread.supervisor().socket_state().deadline_of(
      thread, watched.front().descriptor, SO_RCVTIMEO);
  const bool terminal = is_terminal(watched.front().descriptor);
  const Woken woken = thread.wait_for(std::move(watched), "something to read", deadline);
  if (woken == Woken::kOver) return Outcome::over();
  if (woken == Woken::kTimeout) return Outcome::answered(-EAGAIN);
  // A read that waits when its terminal hangs up fails; one that begins afterwards reads the end.
  const bool hung_up = terminal && has_hung_up(thread.borrow(static_cast<int>(call.arguments[0])));
  return hung_up ? Outcome::answered(-EIO) : Outcome::made();
}

Outcome receiving(Thread& thread, const Call& call, std::uint64_t flags) {
  Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  if (!descriptor) return Outcome::made();
  const bool patient = (flags & MSG_DONTWAIT) == 0 && waits(descriptor.get());
  if (patient && call.number == SYS_recvmmsg) return receive_many(thread, call, descriptor);
  if (patient && takes_all(descriptor, flags)) return receive_all(thread, call, descriptor);
  return once_readable(thread, call, std::move(descriptor), flags);
}

/// Makes the call as on a descriptor that does not wait: what it returned. The description's flag
/// is everybody's, but nobody else has the turn. nullopt: the call did not return.
std::optional<long> write_without_waiting(Thread& thread, int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  const auto result = thread.finish_call();
  ::fcntl(fd, F_SETFL, flags);
  return result;
}

Woken wait_for_room(Thread& thread, std::uint64_t fd) {
  auto watched = alone(thread, thread.borrow(static_cast<int>(fd)), POLLOUT);
  if (any_ready(thread, watched)) return Woken::kReady;
  const auto deadline = thread.supervisor().socket_state().deadline_of(
      thread, watched.front().descriptor, SO_SNDTIMEO);
  return thread.wait_for(std::move(watched), "room to write", deadline);
}

/// Of writev, pwritev2 and sendmsg.
std::uint64_t length_of_parts(Thread& thread, const Call& call) {
  msghdr header{};
  if (call.number == SYS_writev || call.number == SYS_pwritev2) {
    header.msg_iov = reinterpret_cast<iovec*>(call.arguments[1]);
    header.msg_iovlen = call.arguments[2];
  } else if (const auto given = thread.tracee().peek<msghdr>(call.arguments[1])) {
    header = *given;
  }
  std::vector<iovec> parts(std::min<std::size_t>(header.msg_iovlen, 1024));
  if (!thread.tracee().read(reinterpret_cast<std::uint64_t>(header.msg_iov),
                            std::as_writable_bytes(std::span(parts))))
    return 0;
  std::uint64_t length = 0;
  for (const iovec& part : parts) length += part.iov_len;
  return length;
}

/// What is longer than there is room goes in pieces, as the kernel would have it wait.
Outcome write_in_pieces(Thread& thread, const Call& call, int fd) {
  auto parts = Parts::of(thread, call);
  if (!parts || parts->left() == 0) return Outcome::made();
  long done = 0;
  for (;;) {
    const auto result = write_without_waiting(thread, fd);
    if (!result) return Outcome::over();
    if (*result > 0) {
      done += *result;
      parts->take(static_cast<std::uint64_t>(*result));
    }
    const bool full = *result == -EAGAIN || *result > 0;
    if (parts->left() == 0 || !full) {
      parts->restore(thread);
      return returned(thread, call, done != 0 ? done : *result);
    }
    // A datagram may find no room where poll(2) sees some.
    if (*result == -EAGAIN) thread.yield();
    const Woken woken = wait_for_room(thread, call.arguments[0]);
    if (woken == Woken::kOver) return Outcome::over();
    Call rest = call;
    parts->set(thread, rest);
    const bool goes_on = woken == Woken::kReady || (woken == Woken::kSignal && done == 0);
    if (goes_on && make_again(thread, rest)) continue;
    if (!thread.is_over()) parts->restore(thread);
    if (!goes_on) return returned(thread, call, done != 0 ? done : -EAGAIN);
    return done == 0 ? Outcome::made() : abandoned(thread, call, done);
  }
}

/// `length`: nullopt where the call does not say it in an argument.
Outcome writing(Thread& thread, const Call& call, std::optional<unsigned> length,
                std::uint64_t flags) {
  thread.supervisor().note_deed();
  Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  if (!descriptor) return Outcome::made();
  if (const int error = thread.supervisor().socket_state().take_failure(descriptor); error != 0)
    return Outcome::answered(-error);
  if (thread.supervisor().socket_state().loses(descriptor)) {
    const auto bytes = length ? call.arguments[*length] : length_of_parts(thread, call);
    return Outcome::answered(static_cast<long>(bytes));
  }
  const bool types = is_other_end_of_terminal(descriptor);
  if ((flags & MSG_DONTWAIT) != 0 || !waits(descriptor.get())) {
    if (types) return type(thread, descriptor);
    return at_once(thread, alone(thread, std::move(descriptor), POLLOUT));
  }
  const Woken woken = wait_for_room(thread, call.arguments[0]);
  if (woken == Woken::kOver) return Outcome::over();
  if (woken == Woken::kSignal) return Outcome::made();
  if (woken == Woken::kTimeout) return Outcome::answered(-EAGAIN);
  if (const int error = thread.supervisor().socket_state().take_failure(descriptor); error != 0)
    return Outcome::answered(-error);
  if (types) return type(thread, descriptor);
  // TOSTOP stops each process of the writer's group.
  if (is_in_background(thread, descriptor)) thread.supervisor().expect_signals();
  if (length && call.arguments[*length] <= kTakenAtOnce) return Outcome::made();
  struct stat about {};
  if (::fstat(descriptor.get(), &about) == 0 && S_ISREG(about.st_mode)) return Outcome::made();
  if (call.number != SYS_sendmmsg) return write_in_pieces(thread, call, descriptor.get());
  const auto result = write_without_waiting(thread, descriptor.get());
  if (!result) return Outcome::over();
  if (*result == -EAGAIN) thread.tracee().repeat(call);
  return Outcome::made();
}

std::optional<Instant> deadline_in(const Thread& thread, const timespec& limit) {
  return thread.now() + duration_of(limit);
}

/// Waits as a call of poll's kind does. kReady: the kernel can make the call.
Woken wait_for_any(Thread& thread, std::vector<Watched> watched, std::optional<Instant> deadline,
                   std::optional<std::uint64_t> mask) {
  if (mask && takes_signal(thread, mask)) return Woken::kSignal;
  if (!watched.empty() && any_ready(thread, watched)) return Woken::kReady;
  thread.set_mask(mask);
  const Woken woken = thread.wait_for(std::move(watched), "descriptors (it polls them)", deadline);
  thread.set_mask(std::nullopt);
  return woken;
}

std::optional<std::uint64_t> mask_at(Thread& thread, std::uint64_t address) {
  if (address == 0) return std::nullopt;
  return thread.tracee().peek<std::uint64_t>(address);
}

/// Of a call of epoll_wait's kind, whose fourth argument may be a timeout in milliseconds. An epoll
/// instance is readable when it has something to tell.
Outcome wait_for_events(Thread& thread, const Call& call, bool patient,
                        std::optional<Instant> deadline, bool has_milliseconds) {
  Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  if (!descriptor) return Outcome::made();
  const Descriptor again = thread.borrow(static_cast<int>(call.arguments[0]));
  Outcome outcome = Outcome::made();
  auto watched = alone(thread, std::move(descriptor), POLLIN);
  const std::uint64_t signals = watched.front().signals;
  if (!patient) {
    outcome = at_once(thread, watched);
  } else {
    const Woken woken =
        wait_for_any(thread, std::move(watched), deadline, mask_at(thread, call.arguments[4]));
    if (woken == Woken::kOver) return Outcome::over();
    if (woken == Woken::kTimeout && !has_milliseconds) return Outcome::answered(0);
    if (woken == Woken::kTimeout) thread.tracee().set_argument(3, 0);
  }
  if (signals != 0 && !put_signals_back(thread, call, again, signals)) return Outcome::over();
  return outcome;
}

/// nullopt: one of them is none, which the kernel will say.
std::optional<std::vector<Watched>> polled(Thread& thread, std::uint64_t array,
                                           std::uint64_t count) {
  std::vector<Watched> watched;
  std::vector<pollfd> all(std::min(count, kDescriptorsMax));
  if (!thread.tracee().read(array, std::as_writable_bytes(std::span(all)))) return std::nullopt;
  for (const pollfd& each : all) {
    if (each.fd < 0) continue;
    Descriptor descriptor = thread.borrow(each.fd);
    if (!descriptor) return std::nullopt;
    watched.push_back(watch(thread, std::move(descriptor), each.events));
  }
  return watched;
}

/// The descriptors of up to three sets.
std::optional<std::vector<Watched>> selected(Thread& thread, const Call& call) {
  const auto count = std::min<std::uint64_t>(call.arguments[0], FD_SETSIZE);
  const std::array<short, 3> events{POLLIN, POLLOUT, POLLPRI};
  std::vector<Watched> watched;
  for (unsigned set = 0; set < events.size(); ++set) {
    if (call.arguments[set + 1] == 0) continue;
    std::vector<std::uint64_t> words((count + 63) / 64);
    if (!thread.tracee().read(call.arguments[set + 1], std::as_writable_bytes(std::span(words))))
      return std::nullopt;
    for (std::uint64_t fd = 0; fd < count; ++fd) {
      if ((words[fd / 64] >> (fd % 64) & 1) == 0) continue;
      Descriptor descriptor = thread.borrow(static_cast<int>(fd));
      if (!descriptor) return std::nullopt;
      watched.push_back(watch(thread, std::move(descriptor), events[set]));
    }
  }
  return watched;
}

}  // namespace

// --- reading and writing ------------------------------------------------------------------------

Outcome on_reading(Thread& thread, const Call& call) {
  Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  if (!descriptor) return Outcome::made();
  if (const auto chance = read_chance(thread, call, descriptor)) return *chance;
  if (const auto text = read_told(thread, call, descriptor)) return *text;
  return once_readable(thread, call, std::move(descriptor), 0);
}
Outcome on_recvfrom(Thread& thread, const Call& call) {
  return receiving(thread, call, call.arguments[3]);
}
Outcome on_recvmsg(Thread& thread, const Call& call) {
  return receiving(thread, call, call.arguments[2]);
}
Outcome on_recvmmsg(Thread& thread, const Call& call) {
  return receiving(thread, call, call.arguments[3]);
}
Outcome on_write(Thread& thread, const Call& call) {
  return writing(thread, call, 2, 0);
}
Outcome on_writev(Thread& thread, const Call& call) {
  return writing(thread, call, std::nullopt, 0);
}
Outcome on_sendto(Thread& thread, const Call& call) {
  return writing(thread, call, 2, call.arguments[3]);
}
Outcome on_sendmsg(Thread& thread, const Call& call) {
  return writing(thread, call, std::nullopt, call.arguments[2]);
}
Outcome on_sendmmsg(Thread& thread, const Call& call) {
  return writing(thread, call, std::nullopt, call.arguments[3]);
}

// --- waiting for many ---------------------------------------------------------------------------

Outcome on_poll(Thread& thread, const Call& call) {
  const auto limit = static_cast<int>(call.arguments[2]);
  auto watched = polled(thread, call.arguments[0], call.arguments[1]);
  if (!watched) return Outcome::made();
  if (limit == 0) return at_once(thread, *watched);
  std::optional<Instant> deadline;
  if (limit > 0) deadline = thread.now() + milliseconds(limit);
  const Woken woken = wait_for_any(thread, std::move(*watched), deadline, std::nullopt);
  if (woken == Woken::kOver) return Outcome::over();
  if (woken == Woken::kTimeout) thread.tracee().set_argument(2, 0);
  return Outcome::made();
}

Outcome on_ppoll(Thread& thread, const Call& call) {
  auto watched = polled(thread, call.arguments[0], call.arguments[1]);
  if (!watched) return Outcome::made();
  std::optional<Instant> deadline;
  if (call.arguments[2] != 0) {
    const auto limit = thread.tracee().peek<timespec>(call.arguments[2]);
    if (!limit) return Outcome::made();
    if (limit->tv_sec == 0 && limit->tv_nsec == 0) return at_once(thread, *watched);
    deadline = deadline_in(thread, *limit);
  }
  const Woken woken =
      wait_for_any(thread, std::move(*watched), deadline, mask_at(thread, call.arguments[3]));
  if (woken == Woken::kOver) return Outcome::over();
  if (woken == Woken::kTimeout && !thread.tracee().poke(call.arguments[2], timespec{}))
    return Outcome::answered(0);
  return Outcome::made();
}

Outcome on_select(Thread& thread, const Call& call) {
  auto watched = selected(thread, call);
  if (!watched) return Outcome::made();
  std::optional<Instant> deadline;
  if (call.arguments[4] != 0) {
    const auto limit = thread.tracee().peek<timeval>(call.arguments[4]);
    if (!limit) return Outcome::made();
    if (limit->tv_sec == 0 && limit->tv_usec == 0) return at_once(thread, *watched);
    deadline = thread.now() + std::chrono::seconds(limit->tv_sec) +
               std::chrono::microseconds(limit->tv_usec);
  }
  const Woken woken = wait_for_any(thread, std::move(*watched), deadline, std::nullopt);
  if (woken == Woken::kOver) return Outcome::over();
  if (woken == Woken::kTimeout && !thread.tracee().poke(call.arguments[4], timeval{}))
    return Outcome::answered(-EFAULT);
  return Outcome::made();
}

Outcome on_pselect(Thread& thread, const Call& call) {
  auto watched = selected(thread, call);
  if (!watched) return Outcome::made();
  std::optional<Instant> deadline;
  if (call.arguments[4] != 0) {
    const auto limit = thread.tracee().peek<timespec>(call.arguments[4]);
    if (!limit) return Outcome::made();
    if (limit->tv_sec == 0 && limit->tv_nsec == 0) return at_once(thread, *watched);
    deadline = deadline_in(thread, *limit);
  }
  std::optional<std::uint64_t> mask;
  if (call.arguments[5] != 0) {
    const auto pointer = thread.tracee().peek<std::uint64_t>(call.arguments[5]);
    if (pointer) mask = mask_at(thread, *pointer);
  }
  const Woken woken = wait_for_any(thread, std::move(*watched), deadline, mask);
  if (woken == Woken::kOver) return Outcome::over();
  if (woken == Woken::kTimeout && !thread.tracee().poke(call.arguments[4], timespec{}))
    return Outcome::answered(-EFAULT);
  return Outcome::made();
}

/// epoll_wait and epoll_pwait.
Outcome on_epoll_wait(Thread& thread, const Call& call) {
  const auto limit = static_cast<int>(call.arguments[3]);
  std::optional<Instant> deadline;
  if (limit > 0) deadline = thread.now() + milliseconds(limit);
  return wait_for_events(thread, call, limit != 0, deadline, true);
}

Outcome on_epoll_pwait2(Thread& thread, const Call& call) {
  if (call.arguments[3] == 0) return wait_for_events(thread, call, true, std::nullopt, false);
  const auto limit = thread.tracee().peek<timespec>(call.arguments[3]);
  if (!limit) return Outcome::made();
  const bool patient = limit->tv_sec != 0 || limit->tv_nsec != 0;
  return wait_for_events(thread, call, patient, deadline_in(thread, *limit), false);
}

// --- locks --------------------------------------------------------------------------------------

/// Tries, and lets others go on until it gets it: the kernel tells nobody when a lock is free.
Outcome on_flock(Thread& thread, const Call& call) {
  if ((call.arguments[1] & LOCK_NB) != 0) return Outcome::made();
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  // The lock belongs to the open file description, which we have in common.
  while (descriptor &&
         ::flock(descriptor.get(), static_cast<int>(call.arguments[1]) | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK) {
    thread.yield();
    if (thread.is_over()) return Outcome::over();
  }
  return Outcome::made();
}

Outcome on_lock(Thread& thread, const Call& call) {
  const bool of_description = call.arguments[1] == F_OFD_SETLKW;
  thread.tracee().set_argument(1, of_description ? F_OFD_SETLK : F_SETLK);
  const auto result = thread.finish_call();
  if (!result) return Outcome::over();
  if (*result != -EAGAIN && *result != -EACCES) return Outcome::made();
  thread.tracee().repeat(call);  // it comes here once more
  thread.yield();
  return thread.is_over() ? Outcome::over() : Outcome::made();
}

}  // namespace anyrdma::sim::programs
