// All rsockets of this process.
#pragma once

#include "cm/rsocket/numbered.h"
#include "cm/rsocket/socket.h"

namespace anyrdma::rsocket {

/// Creates a socket and gives it a number: rsocket(2). EAFNOSUPPORT, ENOTSUP: type or protocol.
[[nodiscard]] Result<int> make_socket(int family, int type, int protocol);
/// The sockets of this process, by number. Never destroyed, as threads may use them after main().
[[nodiscard]] Numbered<Socket>& sockets();
/// Closes the socket, and waits until the peer has received everything. EBADF.
[[nodiscard]] Result<void> close_socket(int number);

}  // namespace anyrdma::rsocket
