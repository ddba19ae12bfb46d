// rsockets: rsocket(7).
#include <fcntl.h>
#include <poll.h>
#include <rdma/rsocket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "cm/c_api/newer_functions.h"
#include "cm/rsocket/repoll.h"
#include "cm/rsocket/sockets.h"
#include "cm/rsocket/waiting.h"
#include "verbs/c_api/c_result.h"

using namespace anyrdma::c_api;
namespace rs = anyrdma::rsocket;

namespace {

using SocketPointer = std::shared_ptr<rs::Socket>;

/// Runs `call` with the socket `number`. -1 and errno: EBADF, or what `call` returns.
template <class Call>
auto with_socket(int number, Call&& call) ->
    typename decltype(call(std::declval<rs::Socket&>()))::value_type {
  const auto result = guarded([&]() -> decltype(call(std::declval<rs::Socket&>())) {
    const SocketPointer socket = rs::sockets().find(number);
    if (socket == nullptr) return errno_code(EBADF);
    return call(*socket);
  });
  if (result) return *result;
  errno = result.error().value();
  return -1;
}

/// As with_socket(), for calls that return 0.
template <class Call>
int done_with_socket(int number, Call&& call) {
  return with_socket(number, [&](rs::Socket& socket) -> Result<int> {
    const Result<void> done = call(socket);
    if (!done) return done.error();
    return 0;
  });
}

ssize_t signed_size(const Result<std::size_t>& size) {
  return static_cast<ssize_t>(*size);
}

Result<rs::Name> given_name(const sockaddr* address, socklen_t length) {
  rs::Name name;
  if (address == nullptr) return errno_code(EFAULT);
  if (length < sizeof address->sa_family || length > sizeof name.storage) {
    return errno_code(EINVAL);
  }
  std::memcpy(&name.storage, address, length);
  name.length = length;
  return name;
}

/// Gives a name to the program, as accept(2) does: cut off if there is no room.
Result<void> give_name(const rs::Name& name, sockaddr* address, socklen_t* length) {
  if (address == nullptr) return {};
  if (length == nullptr) return errno_code(EFAULT);
  std::memcpy(address, &name.storage, std::min(*length, name.length));
  *length = name.length;
  return {};
}

Result<std::span<const iovec>> given_ranges(const iovec* ranges, std::size_t count) {
  if (count > IOV_MAX) return errno_code(EINVAL);
  if (ranges == nullptr && count != 0) return errno_code(EFAULT);
  const std::span all(ranges, count);
  std::size_t total = 0;
  for (const iovec& each : all) {
    if (each.iov_base == nullptr && each.iov_len != 0) return errno_code(EFAULT);
    if (each.iov_len > SSIZE_MAX - total) return errno_code(EINVAL);
    total += each.iov_len;
  }
  return all;
}

ssize_t receive(int number, const iovec* ranges, std::size_t count, int flags, rs::Name* from) {
  return with_socket(number, [&](rs::Socket& socket) -> Result<ssize_t> {
    const auto into = given_ranges(ranges, count);
    if (!into) return into.error();
    const auto size = socket.receive(*into, flags, from);
    if (!size) return size.error();
    return signed_size(size);
  });
}

ssize_t send(int number, const iovec* ranges, std::size_t count, int flags, const sockaddr* to,
             socklen_t length) {
  return with_socket(number, [&](rs::Socket& socket) -> Result<ssize_t> {
    const auto data = given_ranges(ranges, count);
    if (!data) return data.error();
    rs::Name name;
    if (to != nullptr) {
      const auto given = given_name(to, length);
      if (!given) return given.error();
      name = *given;
    }
    const auto size = socket.send(*data, flags, to == nullptr ? nullptr : &name);
    if (!size) return size.error();
    return signed_size(size);
  });
}

iovec range_of(const void* data, std::size_t length) {
  return {.iov_base = const_cast<void*>(data), .iov_len = length};
}

std::vector<SocketPointer> sockets_of(std::span<const pollfd> entries) {
  std::vector<SocketPointer> those;
  those.reserve(entries.size());
  for (const pollfd& each : entries) those.push_back(rs::sockets().find(each.fd));
  return those;
}

int poll_until(std::span<pollfd> entries, const rs::Deadline& deadline) {
  const auto count = guarded([&] { return rs::poll_all(entries, sockets_of(entries), deadline); });
  return count ? *count : fail(count.error().value());
}

/// One of the sets of select(2), and the events of poll(2) that it stands for.
struct SelectSet {
  fd_set* set;
  short wanted;
  short found;
};

}  // namespace

extern "C" {

int rsocket(int domain, int type, int protocol) {
  const auto number = guarded([&] { return rs::make_socket(domain, type, protocol); });
  if (number) return *number;
  if (number.error() == errno_code(ENOSYS)) {
    static std::once_flag said;
    std::call_once(said, [] {
      std::fputs(
          "anyrdma: rsocket() failed with ENOSYS: rsockets need descriptors, and the fibers of the "
          "simulator have none. Run the program as a process: anyrdma sim.\n",
          stderr);
    });
  }
  return fail(number.error().value());
}

int rbind(int socket, const sockaddr* addr, socklen_t addrlen) {
  return done_with_socket(socket, [&](rs::Socket& self) -> Result<void> {
    const auto name = given_name(addr, addrlen);
    if (!name) return name.error();
    return self.bind(name->raw(), name->length);
  });
}

int rlisten(int socket, int backlog) {
  return done_with_socket(socket, [&](rs::Socket& self) { return self.listen(backlog); });
}

int raccept(int socket, sockaddr* addr, socklen_t* addrlen) {
  return with_socket(socket, [&](rs::Socket& self) -> Result<int> {
    if (addr != nullptr && addrlen == nullptr) return errno_code(EFAULT);
    auto accepted = self.accept();
    if (!accepted) return accepted.error();
    if (addr != nullptr) {
      const auto name = (*accepted)->peer_name();
      if (name) (void)give_name(*name, addr, addrlen);
    }
    const int number = (*accepted)->fd();
    rs::sockets().add(number, std::move(*accepted));
    return number;
  });
}

int rconnect(int socket, const sockaddr* addr, socklen_t addrlen) {
  return done_with_socket(socket, [&](rs::Socket& self) -> Result<void> {
    const auto name = given_name(addr, addrlen);
    if (!name) return name.error();
    return self.connect(name->raw(), name->length);
  });
}

int rshutdown(int socket, int how) {
  return done_with_socket(socket, [&](rs::Socket& self) { return self.shutdown(how); });
}

int rclose(int socket) {
  return minus_one_on_error([&]() -> Result<void> {
    if (const auto set = rs::repolls().take(socket); set != nullptr) {
      set->close();
      return {};
    }
    return rs::close_socket(socket);
  });
}

ssize_t rrecv(int socket, void* buf, std::size_t len, int flags) {
  const iovec range = range_of(buf, len);
  return receive(socket, &range, 1, flags, nullptr);
}

ssize_t rrecvfrom(int socket, void* buf, std::size_t len, int flags, sockaddr* src_addr,
                  socklen_t* addrlen) {
  if (src_addr != nullptr && addrlen == nullptr) return fail(EFAULT);
  rs::Name from;
  const iovec range = range_of(buf, len);
  const ssize_t size = receive(socket, &range, 1, flags, &from);
  if (size >= 0) (void)give_name(from, src_addr, addrlen);
  return size;
}

ssize_t rrecvmsg(int socket, msghdr* msg, int flags) {
  if (msg == nullptr) return fail(EFAULT);
  rs::Name from;
  const ssize_t size = receive(socket, msg->msg_iov, msg->msg_iovlen, flags, &from);
  if (size < 0) return size;
  if (msg->msg_name != nullptr) {
    (void)give_name(from, static_cast<sockaddr*>(msg->msg_name), &msg->msg_namelen);
  }
  msg->msg_controllen = 0;
  msg->msg_flags = 0;
  return size;
}

ssize_t rsend(int socket, const void* buf, std::size_t len, int flags) {
  const iovec range = range_of(buf, len);
  return send(socket, &range, 1, flags, nullptr, 0);
}

ssize_t rsendto(int socket, const void* buf, std::size_t len, int flags, const sockaddr* dest_addr,
                socklen_t addrlen) {
  const iovec range = range_of(buf, len);
  return send(socket, &range, 1, flags, dest_addr, addrlen);
}

ssize_t rsendmsg(int socket, const msghdr* msg, int flags) {
  if (msg == nullptr) return fail(EFAULT);
  if (msg->msg_controllen != 0) return fail(EOPNOTSUPP);
  return send(socket, msg->msg_iov, msg->msg_iovlen, flags,
              static_cast<const sockaddr*>(msg->msg_name), msg->msg_namelen);
}

ssize_t rread(int socket, void* buf, std::size_t count) {
  return rrecv(socket, buf, count, 0);
}
ssize_t rreadv(int socket, const iovec* iov, int iovcnt) {
  if (iovcnt < 0) return fail(EINVAL);
  return receive(socket, iov, static_cast<std::size_t>(iovcnt), 0, nullptr);
}
ssize_t rwrite(int socket, const void* buf, std::size_t count) {
  return rsend(socket, buf, count, 0);
}
ssize_t rwritev(int socket, const iovec* iov, int iovcnt) {
  if (iovcnt < 0) return fail(EINVAL);
  return send(socket, iov, static_cast<std::size_t>(iovcnt), 0, nullptr, 0);
}

int rpoll(pollfd* fds, nfds_t nfds, int timeout) {
  if (fds == nullptr && nfds != 0) return fail(EFAULT);
  if (nfds > INT_MAX) return fail(EINVAL);
  return poll_until({fds, nfds}, rs::deadline_in(timeout));
}

int rselect(int nfds, fd_set* readfds, fd_set* writefds, fd_set* exceptfds, timeval* timeout) {
  if (nfds < 0 || nfds > FD_SETSIZE) return fail(EINVAL);
  rs::Deadline deadline;
  if (timeout != nullptr) {
    if (timeout->tv_sec < 0 || timeout->tv_usec < 0) return fail(EINVAL);
    deadline = std::chrono::steady_clock::now() + std::chrono::seconds(timeout->tv_sec) +
               std::chrono::microseconds(timeout->tv_usec);
  }
  const SelectSet sets[] = {{readfds, POLLIN, POLLIN | POLLHUP | POLLERR},
                            {writefds, POLLOUT, POLLOUT | POLLERR},
                            {exceptfds, POLLPRI, POLLPRI}};
  std::vector<pollfd> entries;
  for (int fd = 0; fd < nfds; ++fd) {
    int events = 0;
    for (const SelectSet& each : sets) {
      if (each.set != nullptr && FD_ISSET(fd, each.set)) events |= each.wanted;
    }
    if (events == 0) continue;
    entries.push_back({.fd = fd, .events = static_cast<short>(events), .revents = 0});
  }
  if (poll_until(entries, deadline) < 0) return -1;
  for (const pollfd& entry : entries) {
    if ((entry.revents & POLLNVAL) != 0) return fail(EBADF);
  }
  int count = 0;
  for (const SelectSet& each : sets) {
    if (each.set == nullptr) continue;
    for (const pollfd& entry : entries) {
      if (!FD_ISSET(entry.fd, each.set)) continue;
      if ((entry.revents & each.found) != 0) {
        ++count;
      } else {
        FD_CLR(entry.fd, each.set);
      }
    }
  }
  return count;
}

int repoll_create(int flags) {
  const auto set = guarded([&] { return rs::Repoll::create(flags); });
  if (!set) return fail(set.error().value());
  rs::repolls().add((*set)->fd(), *set);
  return (*set)->fd();
}

int repoll_ctl(int epfd, int op, int fd, epoll_event* event) {
  return minus_one_on_error([&]() -> Result<void> {
    const auto set = rs::repolls().find(epfd);
    if (set == nullptr) return errno_code(EBADF);
    return set->control(op, fd, event);
  });
}

int repoll_wait(int epfd, epoll_event* events, int maxevents, int timeout) {
  const auto count = guarded([&]() -> Result<int> {
    const auto set = rs::repolls().find(epfd);
    if (set == nullptr) return errno_code(EBADF);
    if (maxevents <= 0) return errno_code(EINVAL);
    if (events == nullptr) return errno_code(EFAULT);
    return set->wait({events, static_cast<std::size_t>(maxevents)}, rs::deadline_in(timeout));
  });
  return count ? *count : fail(count.error().value());
}

int rgetpeername(int socket, sockaddr* addr, socklen_t* addrlen) {
  return done_with_socket(socket, [&](rs::Socket& self) -> Result<void> {
    if (addr == nullptr || addrlen == nullptr) return errno_code(EFAULT);
    const auto name = self.peer_name();
    if (!name) return name.error();
    return give_name(*name, addr, addrlen);
  });
}

int rgetsockname(int socket, sockaddr* addr, socklen_t* addrlen) {
  return done_with_socket(socket, [&](rs::Socket& self) -> Result<void> {
    if (addr == nullptr || addrlen == nullptr) return errno_code(EFAULT);
    const auto name = self.own_name();
    if (!name) return name.error();
    return give_name(*name, addr, addrlen);
  });
}

int rsetsockopt(int socket, int level, int optname, const void* optval, socklen_t optlen) {
  return done_with_socket(socket, [&](rs::Socket& self) -> Result<void> {
    if (optval == nullptr) return errno_code(EFAULT);
    const auto* const bytes = static_cast<const std::byte*>(optval);
    return self.set_option(level, optname, {bytes, optlen});
  });
}

int rgetsockopt(int socket, int level, int optname, void* optval, socklen_t* optlen) {
  return done_with_socket(socket, [&](rs::Socket& self) -> Result<void> {
    if (optval == nullptr || optlen == nullptr) return errno_code(EFAULT);
    const auto size = self.option(level, optname, {static_cast<std::byte*>(optval), *optlen});
    if (!size) return size.error();
    *optlen = static_cast<socklen_t>(*size);
    return {};
  });
}

int rfcntl(int socket, int cmd, ...) {
  va_list arguments;
  va_start(arguments, cmd);
  const int argument = va_arg(arguments, int);  // unused by commands that have none
  va_end(arguments);
  return with_socket(socket, [&](rs::Socket& self) -> Result<int> {
    switch (cmd) {
      case F_GETFL:
        return self.status_flags();
      case F_SETFL:
        self.set_status_flags(argument);
        return 0;
      case F_GETFD:
      case F_SETFD: {
        const int answer = ::fcntl(socket, cmd, argument);
        if (answer < 0) return errno_code(errno);
        return answer;
      }
      default:
        return errno_code(ENOTSUP);
    }
  });
}

off_t riomap(int socket, void* buf, std::size_t len, int prot, int flags, off_t offset) {
  return with_socket(socket, [&](rs::Socket& self) -> Result<off_t> {
    if (buf == nullptr) return errno_code(EFAULT);
    return self.map(buf, len, prot, flags, offset);
  });
}

int riounmap(int socket, void* buf, std::size_t len) {
  return done_with_socket(socket, [&](rs::Socket& self) { return self.unmap(buf, len); });
}

std::size_t riowrite(int socket, const void* buf, std::size_t count, off_t offset, int flags) {
  return static_cast<std::size_t>(with_socket(socket, [&](rs::Socket& self) -> Result<ssize_t> {
    if (buf == nullptr && count != 0) return errno_code(EFAULT);
    const auto* const bytes = static_cast<const std::byte*>(buf);
    const auto size = self.write_mapped({bytes, count}, offset, flags);
    if (!size) return size.error();
    return signed_size(size);
  }));
}

}  // extern "C"
