#include "cm/rsocket/sockets.h"

#include <fcntl.h>
#include <netinet/in.h>

#include <cerrno>

#include "cm/rsocket/stream.h"

namespace anyrdma::rsocket {

Numbered<Socket>& sockets() {
  static auto* const all = new Numbered<Socket>;
  return *all;
}

Result<int> make_socket(int family, int type, int protocol) {
  if (family != AF_INET && family != AF_INET6) return errno_code(EAFNOSUPPORT);
  const int flags = type & (SOCK_NONBLOCK | SOCK_CLOEXEC);
  if ((type & ~flags) != SOCK_STREAM) return errno_code(ENOTSUP);
  if (protocol != 0 && protocol != IPPROTO_TCP) return errno_code(ENOTSUP);
  auto stream = Stream::create(family);
  if (!stream) return stream.error();
  (*stream)->set_status_flags((flags & SOCK_NONBLOCK) != 0 ? O_NONBLOCK : 0);
  const int number = (*stream)->fd();
  sockets().add(number, std::move(*stream));
  return number;
}

// The number is free as soon as the socket is gone, so it must be taken out first.
Result<void> close_socket(int number) {
  const auto socket = sockets().take(number);
  if (socket == nullptr) return errno_code(EBADF);
  socket->close();
  return {};
}

}  // namespace anyrdma::rsocket
