#include "transport/rxe/netlink.h"

#include <netlink/errno.h>
#include <netlink/handlers.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace anyrdma::transport::rxe {
namespace {

struct Conversation {
  const std::function<void(nlmsghdr&)>& on_answer;
  bool over = false;
  int error = 0;
};

int on_answer(nl_msg* message, void* conversation) {
  const auto& handler = static_cast<Conversation*>(conversation)->on_answer;
  if (handler) handler(*nlmsg_hdr(message));
  return NL_OK;
}

/// The acknowledgement, or the end of a list; a list that broke off says why there.
int on_end(nl_msg* message, void* argument) {
  auto& conversation = *static_cast<Conversation*>(argument);
  nlmsghdr* const header = nlmsg_hdr(message);
  int code = 0;
  if (header->nlmsg_type == NLMSG_DONE && nlmsg_datalen(header) >= int{sizeof code}) {
    std::memcpy(&code, nlmsg_data(header), sizeof code);
  }
  conversation.error = -code;
  conversation.over = true;
  return NL_STOP;
}

int on_error(sockaddr_nl*, nlmsgerr* refusal, void* argument) {
  auto& conversation = *static_cast<Conversation*>(argument);
  conversation.error = -refusal->error;
  conversation.over = true;
  return NL_STOP;
}

}  // namespace

Result<Netlink> Netlink::open(int protocol) {
  Socket socket(nl_socket_alloc());
  if (!socket) return verbs::errno_code(ENOMEM);
  if (const int code = nl_connect(socket.get(), protocol); code < 0) {
    // libnl has no code for a protocol that the kernel lacks.
    const int error = errno_of_netlink(code);
    return verbs::errno_code(error == EIO ? EPROTONOSUPPORT : error);
  }
  return Netlink(std::move(socket));
}

Result<void> Netlink::ask(nl_msg& request, const std::function<void(nlmsghdr&)>& handler) {
  Conversation conversation{handler};
  nl_sock* const socket = socket_.get();
  nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, on_answer, &conversation);
  nl_socket_modify_cb(socket, NL_CB_ACK, NL_CB_CUSTOM, on_end, &conversation);
  nl_socket_modify_cb(socket, NL_CB_FINISH, NL_CB_CUSTOM, on_end, &conversation);
  nl_socket_modify_err_cb(socket, NL_CB_CUSTOM, on_error, &conversation);
  int code = nl_send_auto(socket, &request);
  while (code >= 0 && !conversation.over) code = nl_recvmsgs_default(socket);
  if (conversation.error != 0) return verbs::errno_code(conversation.error);
  if (code < 0 && !conversation.over) return verbs::errno_code(errno_of_netlink(code));
  return {};
}

int errno_of_netlink(int code) {
  switch (std::abs(code)) {
    case NLE_NOMEM:
      return ENOMEM;
    case NLE_INTR:
      return EINTR;
    case NLE_EXIST:
      return EEXIST;
    case NLE_INVAL:
      return EINVAL;
    case NLE_RANGE:
      return ERANGE;
    case NLE_OPNOTSUPP:
      return EOPNOTSUPP;
    case NLE_AF_NOSUPPORT:
      return EAFNOSUPPORT;
    case NLE_OBJ_NOTFOUND:
      return ENOENT;
    case NLE_NOADDR:
      return EADDRNOTAVAIL;
    case NLE_BUSY:
      return EBUSY;
    case NLE_NOACCESS:
      return EACCES;
    case NLE_PERM:
      return EPERM;
    case NLE_NODEV:
      return ENODEV;
    case NLE_PROTO_MISMATCH:
      return EPROTONOSUPPORT;
    default:  // foreign enum
      return EIO;
  }
}

}  // namespace anyrdma::transport::rxe
