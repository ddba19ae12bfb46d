// Sends requests to the kernel over a netlink socket, through libnl.
#pragma once

#include <netlink/netlink.h>

#include <functional>
#include <memory>

#include "transport/rxe/messages.h"

namespace anyrdma::transport::rxe {

/// Must not be used by two threads at once.
class Netlink {
 public:
  /// `protocol`: NETLINK_RDMA or NETLINK_ROUTE. EPROTONOSUPPORT: this kernel has none of it.
  [[nodiscard]] static Result<Netlink> open(int protocol);

  /// Sends a request, hands over each answer, and returns when the kernel has carried it out.
  /// Errors: the kernel's.
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

/// The errno for libnl's own codes (negative, of <netlink/errno.h>); EIO for those without an
/// equivalent.
[[nodiscard]] int errno_of_netlink(int code);

}  // namespace anyrdma::transport::rxe
