#include "sim/programs/supervisor/named_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "sim/programs/supervisor/blocked_call.h"

namespace anyrdma::sim::programs {
namespace {

using tracee::Call;
using transport::realtime::Descriptor;

struct Arguments {
  int directory = AT_FDCWD;
  std::uint64_t path = 0;
  std::uint64_t flags = 0;
};

std::optional<Arguments> arguments_of(const tracee::Tracee& thread, const Call& call) {
  const auto& given = call.arguments;
  switch (call.number) {
    case SYS_open:
      return Arguments{.path = given[0], .flags = given[1]};
    case SYS_creat:
      return Arguments{.path = given[0], .flags = O_WRONLY};
    case SYS_openat:
      return Arguments{static_cast<int>(given[0]), given[1], given[2]};
    case SYS_openat2: {
      const auto flags = thread.peek<std::uint64_t>(given[2]);  // the first of struct open_how
      if (!flags) return std::nullopt;
      return Arguments{static_cast<int>(given[0]), given[1], *flags};
    }
    default:
      return std::nullopt;
  }
}

/// As this process sees it.
std::string path_of(const tracee::Tracee& thread, const Arguments& arguments) {
  const std::string own = "/proc/" + std::to_string(thread.tid());
  const std::string path = thread.text(arguments.path);
  if (path.starts_with('/')) return own + "/root" + path;
  if (arguments.directory == AT_FDCWD) return own + "/cwd/" + path;
  return own + "/fd/" + std::to_string(arguments.directory) + "/" + path;
}

bool opens_file(long number) {
  return number == SYS_open || number == SYS_openat || number == SYS_openat2 || number == SYS_creat;
}

Descriptor open_again(const Descriptor& file, int flags) {
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  return Descriptor(::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC));
}

/// Readable once a reader has closed the pipe. A pipe shows its writers no other trace of a reader
/// that came and went.
Descriptor closings_of(const Descriptor& place) {
  Descriptor events(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const std::string path = "/proc/self/fd/" + std::to_string(place.get());
  if (events) (void)::inotify_add_watch(events.get(), path.c_str(), IN_CLOSE_NOWRITE);
  return events;
}

short events_of(const Descriptor& file) {
  pollfd state{.fd = file.get(), .events = POLLIN, .revents = 0};
  while (::poll(&state, 1, 0) < 0 && errno == EINTR) continue;
  return state.revents;
}

}  // namespace

bool is_opening(pid_t tid) {
  const auto number = call_in_kernel(tid);
  return number && opens_file(*number);
}

std::optional<Call> opening_by(const user_regs_struct& registers) {
  constexpr long kToBeMadeAgain = -512;  // ERESTARTSYS, which no program sees
  if (static_cast<long>(registers.rax) != kToBeMadeAgain) return std::nullopt;
  const auto number = static_cast<long>(registers.orig_rax);
  if (!opens_file(number)) return std::nullopt;
  return Call{
      number,
      {registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9}};
}

std::optional<NamedPipe> NamedPipe::opened_by(const tracee::Tracee& thread, const Call& call) {
  const auto arguments = arguments_of(thread, call);
  if (!arguments || (arguments->flags & O_NONBLOCK) != 0) return std::nullopt;
  const auto access = arguments->flags & O_ACCMODE;
  if (access != O_RDONLY && access != O_WRONLY) return std::nullopt;
  const Descriptor place(::open(path_of(thread, *arguments).c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!place || ::fstat(place.get(), &status) != 0 || !S_ISFIFO(status.st_mode))
    return std::nullopt;
  if (access == O_RDONLY) {
    Descriptor own = open_again(place, O_RDONLY);
    if (!own) return std::nullopt;
    return NamedPipe(std::move(own), {});
  }
  // No process writes, without waiting, where none reads.
  const Descriptor both = open_again(place, O_RDWR);
  Descriptor own = open_again(place, O_WRONLY);
  if (!own) return std::nullopt;
  return NamedPipe(std::move(own), closings_of(place));
}

bool NamedPipe::has_partner() const {
  const short state = events_of(own_);
  if (closings_) return (state & POLLERR) == 0 || events_of(closings_) != 0;
  if (state != 0) return true;
  // An empty pipe without a writer has come to its end.
  char none = 0;
  return ::read(own_.get(), &none, sizeof none) < 0 && errno == EAGAIN;
}

Descriptor NamedPipe::both_ends() const {
  return open_again(own_, O_RDWR);
}

}  // namespace anyrdma::sim::programs
