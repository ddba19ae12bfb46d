// Sends requests to the kernel over a netlink socket, through libnl.
#pragma once

#include <netlink/netlink.h>

#include <functional>
#include <memory>

#include "transport/rxe/messages.h"

namespace anyrdma::transport::rxe {

/// A netlink socket to the kernel. Two threads must not use one object at the same time.
class Netlink {
 public:
  /// Opens a socket. `protocol` is NETLINK_RDMA or NETLINK_ROUTE. EPROTONOSUPPORT: this kernel does
  /// not support the protocol.
  [[nodiscard]] static Result<Netlink> open(int protocol);

  /// Sends a request to the kernel, passes each answer to a function of the caller, and returns
  /// when the kernel has carried out the request. Errors: the kernel's errno values.
  [[nodiscard]] Result<void> ask(nl_msg& request,
                                 const std::function<void(nlmsghdr&)>& on_answer = {});

  [[nodiscard]] nl_sock* get() const { return socket_.get(); }

 private:
  struct Deleter {
    void operator()(nl_sock* socket) const { nl_socket_free(socket); }
  };
  using Socket = std::unique_ptr<nl_sock, Deleter>;
  explicit Netlink(Socket socket) : socket_(std::move(socket)) {}

  Socket socket_;
};

/// Converts an error code of libnl (negative, see <netlink/errno.h>) to an errno value. EIO: the
/// code has no equivalent.
[[nodiscard]] int errno_of_netlink(int code);

}  // namespace anyrdma::transport::rxe
