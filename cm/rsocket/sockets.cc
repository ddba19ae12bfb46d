#include "cm/rsocket/sockets.h"

#include <netinet/in.h>

#include <cerrno>
#include <utility>

#include "cm/rsocket/datagram.h"
#include "cm/rsocket/stream.h"

namespace anyrdma::rsocket {
namespace {

template <class Derived>
Result<std::shared_ptr<Socket>> as_socket(Result<std::shared_ptr<Derived>> made) {
  if (!made) return made.error();
  return std::shared_ptr<Socket>(std::move(*made));
}

}  // namespace

Numbered<Socket>& sockets() {
  static auto* const all = new Numbered<Socket>;
  return *all;
}

Result<int> make_socket(int family, int type, int protocol) {
  if (family != AF_INET && family != AF_INET6) return errno_code(EAFNOSUPPORT);
  // Also with flags (SOCK_CLOEXEC), as with rdma-core: programs under librspreload.so that use
  // flags also call accept4, which it does not intercept. So they must get a TCP socket.
  if (type != SOCK_STREAM && type != SOCK_DGRAM) return errno_code(ENOTSUP);
  if (protocol != 0 && protocol != (type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP)) {
    return errno_code(ENOTSUP);
  }
  auto socket =
      type == SOCK_STREAM ? as_socket(Stream::create(family)) : as_socket(Datagram::create(family));
  if (!socket) return socket.error();
  const int number = (*socket)->fd();
  sockets().add(number, std::move(*socket));
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
