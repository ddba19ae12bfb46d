// Sockets over RDMA are not offered. Their names are, because Debian's rdmacm-utils link rpoll into
// every program and would not start without it.
#include <poll.h>
#include <rdma/rsocket.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "cm/c_api/newer_functions.h"

namespace {

int refuse() {
  static std::once_flag said;
  std::call_once(said, [] {
    std::fputs(
        "anyrdma: this program uses rsockets (rsocket(7)), which anyrdma does not offer; its calls "
        "fail with ENOSYS.\n",
        stderr);
  });
  errno = ENOSYS;
  return -1;
}

}  // namespace

extern "C" {

int rsocket(int, int, int) {
  return refuse();
}
int rbind(int, const sockaddr*, socklen_t) {
  return refuse();
}
int rlisten(int, int) {
  return refuse();
}
int raccept(int, sockaddr*, socklen_t*) {
  return refuse();
}
int rconnect(int, const sockaddr*, socklen_t) {
  return refuse();
}
int rshutdown(int, int) {
  return refuse();
}
int rclose(int) {
  return refuse();
}

ssize_t rrecv(int, void*, std::size_t, int) {
  return refuse();
}
ssize_t rrecvfrom(int, void*, std::size_t, int, sockaddr*, socklen_t*) {
  return refuse();
}
ssize_t rrecvmsg(int, msghdr*, int) {
  return refuse();
}
ssize_t rsend(int, const void*, std::size_t, int) {
  return refuse();
}
ssize_t rsendto(int, const void*, std::size_t, int, const sockaddr*, socklen_t) {
  return refuse();
}
ssize_t rsendmsg(int, const msghdr*, int) {
  return refuse();
}
ssize_t rread(int, void*, std::size_t) {
  return refuse();
}
ssize_t rreadv(int, const iovec*, int) {
  return refuse();
}
ssize_t rwrite(int, const void*, std::size_t) {
  return refuse();
}
ssize_t rwritev(int, const iovec*, int) {
  return refuse();
}

int rpoll(pollfd*, nfds_t, int) {
  return refuse();
}
int rselect(int, fd_set*, fd_set*, fd_set*, timeval*) {
  return refuse();
}

int repoll_create(int) {
  return refuse();
}
int repoll_ctl(int, int, int, epoll_event*) {
  return refuse();
}
int repoll_wait(int, epoll_event*, int, int) {
  return refuse();
}

int rgetpeername(int, sockaddr*, socklen_t*) {
  return refuse();
}
int rgetsockname(int, sockaddr*, socklen_t*) {
  return refuse();
}
int rsetsockopt(int, int, int, const void*, socklen_t) {
  return refuse();
}
int rgetsockopt(int, int, int, void*, socklen_t*) {
  return refuse();
}
int rfcntl(int, int, ...) {
  return refuse();
}

off_t riomap(int, void*, std::size_t, int, int, off_t) {
  return refuse();
}
int riounmap(int, void*, std::size_t) {
  return refuse();
}
std::size_t riowrite(int, const void*, std::size_t, off_t, int) {
  return static_cast<std::size_t>(refuse());
}

}  // extern "C"
