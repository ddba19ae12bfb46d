#include "sim/programs/io/in_pieces.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/programs/io/parts.h"
#include "sim/programs/io/socket_state.h"
#include "sim/programs/kernel/clocks.h"
#include "sim/programs/kernel/signals.h"
#include "sim/programs/process/repeated_call.h"
#include "sim/programs/process/signal_state.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

Woken wait_to_receive(Thread& thread, const Descriptor& descriptor) {
  std::vector<Watched> watched;
  watched.push_back({Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0)), POLLIN});
  if (any_ready(thread, watched)) return Woken::kReady;
  return thread.wait_for(
      std::move(watched), "something to read",
      thread.supervisor().socket_state().deadline_of(thread, descriptor, SO_RCVTIMEO));
}

}  // namespace

bool takes_all(const Descriptor& descriptor, std::uint64_t flags) {
  int type = 0;
  socklen_t size = sizeof type;
  return (flags & MSG_WAITALL) != 0 && (flags & MSG_PEEK) == 0 &&
         ::getsockopt(descriptor.get(), SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         type == SOCK_STREAM;
}

Outcome await_all(Thread& thread, const Descriptor& descriptor, std::uint64_t bytes) {
  for (;;) {
    int there = 0;
    pollfd state{.fd = descriptor.get(), .events = POLLRDHUP, .revents = 0};
    if (::ioctl(descriptor.get(), FIONREAD, &there) != 0 || ::poll(&state, 1, 0) != 0 ||
        static_cast<std::uint64_t>(there) >= bytes)
      return Outcome::made();
    thread.yield();
    if (thread.is_over()) return Outcome::over();
  }
}

Outcome receive_all(Thread& thread, const Call& call, const Descriptor& descriptor) {
  const unsigned flags = call.number == SYS_recvfrom ? 3 : 2;
  auto parts = Parts::of(thread, call);
  if (!parts || parts->left() == 0) return Outcome::made();
  Call piece = call;
  piece.arguments[flags] &= ~std::uint64_t{MSG_WAITALL};
  if (call.number == SYS_recvfrom) piece.arguments[4] = 0;  // a stream's data has no sender
  long done = 0;
  for (;;) {
    const Woken woken = wait_to_receive(thread, descriptor);
    if (woken == Woken::kOver) return Outcome::over();
    if (done == 0 && woken == Woken::kSignal) return Outcome::made();
    if (done == 0 && woken == Woken::kTimeout) return Outcome::answered(-EAGAIN);
    if (woken != Woken::kReady) break;
    parts->set(thread, piece);
    if (done == 0) {
      set_arguments(thread, piece);
    } else if (!make_again(thread, piece)) {
      if (!thread.is_over()) parts->restore(thread);
      return abandoned(thread, call, done);
    }
    const auto result = thread.finish_call();
    if (!result) return Outcome::over();
    if (*result <= 0 && done == 0) done = *result;
    if (*result <= 0) break;
    done += *result;
    parts->take(static_cast<std::uint64_t>(*result));
    if (parts->left() == 0) break;
  }
  parts->restore(thread);
  return returned(thread, call, done);
}

Outcome receive_many(Thread& thread, const Call& call, const Descriptor& descriptor) {
  const std::uint64_t count = call.arguments[2];
  std::optional<Instant> deadline;
  if (call.arguments[4] != 0) {
    const auto limit = thread.tracee().peek<timespec>(call.arguments[4]);
    if (!limit) return Outcome::answered(-EFAULT);
    deadline = thread.now() + duration_of(*limit);
  }
  Call piece = call;
  piece.arguments[3] &= ~std::uint64_t{MSG_WAITFORONE};
  piece.arguments[3] |= MSG_DONTWAIT;
  piece.arguments[4] = 0;
  std::uint64_t done = 0;
  for (bool first = true; done < count; first = false) {
    const Woken woken = wait_to_receive(thread, descriptor);
    if (woken == Woken::kOver) return Outcome::over();
    if (first && woken == Woken::kSignal) return Outcome::made();
    if (first && woken == Woken::kTimeout) return Outcome::answered(-EAGAIN);
    if (woken != Woken::kReady) break;
    piece.arguments[1] = call.arguments[1] + done * sizeof(mmsghdr);
    piece.arguments[2] = count - done;
    if (first) {
      set_arguments(thread, piece);
    } else if (!make_again(thread, piece)) {
      return abandoned(thread, call, static_cast<long>(done));
    }
    const auto result = thread.finish_call();
    if (!result) return Outcome::over();
    if (*result < 0 && *result != -EAGAIN && done == 0) return returned(thread, call, *result);
    if (*result < 0 && *result != -EAGAIN) break;
    if (*result > 0) done += static_cast<std::uint64_t>(*result);
    const bool enough = (call.arguments[3] & MSG_WAITFORONE) != 0 && done != 0;
    // As Linux has it, time is looked at when something has come.
    if (enough || (deadline && done != 0 && thread.now() >= *deadline)) break;
  }
  return returned(thread, call, static_cast<long>(done));
}

}  // namespace anyrdma::sim::programs
