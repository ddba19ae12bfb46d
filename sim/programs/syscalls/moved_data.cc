#include "sim/programs/syscalls/moved_data.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/programs/io/chance.h"
#include "sim/programs/io/in_pieces.h"
#include "sim/programs/net/sockets.h"
#include "sim/programs/process/repeated_call.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

/// One descriptor of a call: where data comes from, or where it goes.
struct End {
  Descriptor descriptor;
  short events = 0;     ///< what the call needs: POLLIN or POLLOUT
  int flags = 0;        ///< of the open file
  bool patient = true;  ///< the program lets the call wait for it

  [[nodiscard]] std::vector<Watched> watched() const {
    std::vector<Watched> one;
    one.push_back({Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0)), events});
    return one;
  }
};

/// A call that moves data.
struct Move {
  Call call;
  std::vector<End> ends{};
  std::optional<unsigned> flags{};   ///< which argument has flags as of splice(2)
  std::optional<unsigned> length{};  ///< which argument has the number of bytes
  bool all = false;                  ///< a partial result is continued, as on a blocking socket
};

/// nullopt: the kernel says that it is none.
std::optional<End> end_of(const Thread& thread, std::uint64_t fd, short events) {
  End end{.descriptor = thread.borrow(static_cast<int>(fd)), .events = events};
  if (!end.descriptor) return std::nullopt;
  end.flags = ::fcntl(end.descriptor.get(), F_GETFL);
  if (end.flags < 0) return std::nullopt;
  end.patient = (end.flags & O_NONBLOCK) == 0;
  return end;
}

bool is_pipe(const End& end) {
  struct stat about {};
  return ::fstat(end.descriptor.get(), &about) == 0 && S_ISFIFO(about.st_mode);
}

bool is_socket(const End& end) {
  struct stat about {};
  return ::fstat(end.descriptor.get(), &about) == 0 && S_ISSOCK(about.st_mode);
}

/// Waits for each end that may be waited for. kReady: none is missing.
Woken wait_for_ends(Thread& thread, const Move& move) {
  for (bool waited = true; std::exchange(waited, false);) {
    for (const End& end : move.ends) {
      auto watched = end.watched();
      if (!end.patient || any_ready(thread, watched)) continue;
      const char* const purpose =
          end.events == POLLIN ? "data to move out of a pipe or socket" : "room to move data to";
      const Woken woken = thread.wait_for(std::move(watched), purpose);
      if (woken != Woken::kReady) return woken;
      waited = true;
    }
  }
  return Woken::kReady;
}

/// Makes the call, at whose entry the thread is, on descriptors that do not wait. The flags are
/// those of the open files, which other threads have as well, but no other thread has the turn.
std::optional<long> move_without_waiting(Thread& thread, const Move& move) {
  for (const End& end : move.ends) ::fcntl(end.descriptor.get(), F_SETFL, end.flags | O_NONBLOCK);
  if (move.flags)
    thread.tracee().set_argument(*move.flags, move.call.arguments[*move.flags] | SPLICE_F_NONBLOCK);
  const auto result = thread.finish_call();
  for (const End& end : move.ends) ::fcntl(end.descriptor.get(), F_SETFL, end.flags);
  return result;
}

bool is_ready(const Thread& thread, const End& end) {
  return any_ready(thread, end.watched());
}

/// EAGAIN is the program's to see if an end that the call may not wait for is the cause.
bool may_wait(const Thread& thread, const Move& move) {
  return std::ranges::all_of(move.ends,
                             [&](const End& end) { return end.patient || is_ready(thread, end); });
}

/// The program asked for an answer at once.
Outcome move_at_once(Thread& thread, const Move& move) {
  const bool ready =
      std::ranges::all_of(move.ends, [&](const End& end) { return is_ready(thread, end); });
  if (ready) {
    thread.idleness().note_found();
  } else if (!thread.look_in_vain()) {
    return Outcome::over();
  }
  return Outcome::made();
}

/// Whether it would move bytes of the machine's: older kernels have none to move from there.
bool is_chance(const Move& move) {
  return !move.ends.empty() && move.ends.front().events == POLLIN &&
         is_random_device(move.ends.front().descriptor);
}

Outcome move_data(Thread& thread, Move move) {
  if (is_chance(move)) return Outcome::answered(-EINVAL);
  thread.supervisor().note_deed();
  const Call call = move.call;
  if (std::ranges::none_of(move.ends, &End::patient)) return move_at_once(thread, move);
  std::uint64_t done = 0;
  for (;;) {
    const Woken woken = wait_for_ends(thread, move);
    if (woken == Woken::kOver) return Outcome::over();
    if (woken != Woken::kReady && done != 0)
      return abandoned(thread, call, static_cast<long>(done));
    // The kernel knows what the pending signal means for a call that would wait.
    if (woken != Woken::kReady) return Outcome::made();
    const auto result = move_without_waiting(thread, move);
    if (!result) return Outcome::over();
    if (*result > 0) done += static_cast<std::uint64_t>(*result);
    const bool retries = *result == -EAGAIN && may_wait(thread, move);
    const bool continues = *result > 0 && move.all && done < call.arguments[*move.length];
    if (!retries && !continues)
      return returned(thread, call, done != 0 ? static_cast<long>(done) : *result);
    if (move.all) move.call.arguments[*move.length] = call.arguments[*move.length] - done;
    // The next piece begins where this one ended: the kernel has written the offset.
    if (continues && !is_ready(thread, move.ends.front()))
      return returned(thread, call, static_cast<long>(done));
    if (!make_again(thread, move.call)) {
      return done == 0 ? Outcome::made() : abandoned(thread, call, static_cast<long>(done));
    }
    if (!retries) continue;
    // Ready, and yet it would wait: a socket wants more room than poll(2) asks for.
    thread.yield();
    if (thread.is_over()) return Outcome::over();
  }
}

bool has_no_offset(const Call& call) {
  constexpr unsigned kOffset = 3;
  return static_cast<std::int64_t>(call.arguments[kOffset]) == -1;
}

bool waits_never(const Call& call) {
  constexpr unsigned kFlags = 5;
  return (call.arguments[kFlags] & RWF_NOWAIT) != 0;
}

}  // namespace

Outcome on_splice(Thread& thread, const Call& call) {
  Move move{.call = call, .flags = 5, .length = 4};
  auto in = end_of(thread, call.arguments[0], POLLIN);
  auto out = end_of(thread, call.arguments[2], POLLOUT);
  if (!in || !out) return Outcome::made();
  const bool asked = (call.arguments[5] & SPLICE_F_NONBLOCK) == 0;
  // The flag is about pipes alone.
  for (End* const end : {&*in, &*out}) end->patient &= asked || !is_pipe(*end);
  move.all = is_socket(*out);
  move.ends.push_back(std::move(*in));
  move.ends.push_back(std::move(*out));
  return move_data(thread, std::move(move));
}

Outcome on_tee(Thread& thread, const Call& call) {
  Move move{.call = call, .flags = 3, .length = 2};
  auto in = end_of(thread, call.arguments[0], POLLIN);
  auto out = end_of(thread, call.arguments[1], POLLOUT);
  if (!in || !out) return Outcome::made();
  const bool asked = (call.arguments[3] & SPLICE_F_NONBLOCK) == 0;
  for (End* const end : {&*in, &*out}) end->patient &= asked;
  move.ends.push_back(std::move(*in));
  move.ends.push_back(std::move(*out));
  return move_data(thread, std::move(move));
}

Outcome on_vmsplice(Thread& thread, const Call& call) {
  Move move{.call = call, .flags = 3};
  auto pipe = end_of(thread, call.arguments[0], POLLOUT);
  if (!pipe) return Outcome::made();
  if ((pipe->flags & O_ACCMODE) == O_RDONLY) pipe->events = POLLIN;
  pipe->patient = (call.arguments[3] & SPLICE_F_NONBLOCK) == 0;  // all that this call looks at
  move.ends.push_back(std::move(*pipe));
  return move_data(thread, std::move(move));
}

Outcome on_sendfile(Thread& thread, const Call& call) {
  Move move{.call = call, .length = 3};
  auto in = end_of(thread, call.arguments[1], POLLIN);
  auto out = end_of(thread, call.arguments[0], POLLOUT);
  if (!in || !out) return Outcome::made();
  move.all = is_socket(*out);
  move.ends.push_back(std::move(*in));
  move.ends.push_back(std::move(*out));
  return move_data(thread, std::move(move));
}

Outcome on_preadv2(Thread& thread, const Call& call) {
  if (!has_no_offset(call) || waits_never(call)) return Outcome::made();
  return thread.supervisor().sockets().on_readv(thread, call);
}

Outcome on_pwritev2(Thread& thread, const Call& call) {
  if (!has_no_offset(call) || waits_never(call)) {
    thread.supervisor().note_deed();
    return Outcome::made();
  }
  return thread.supervisor().sockets().on_writev(thread, call);
}

}  // namespace anyrdma::sim::programs
