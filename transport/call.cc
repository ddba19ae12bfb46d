#include "transport/call.h"

#include <rdma/rdma_cma.h>

#include <algorithm>

namespace anyrdma::transport {

std::string_view to_string(Call call) {
  switch (call) {
    case Call::kBind:
      return "bind_addr";
    case Call::kResolveAddr:
      return "resolve_addr";
    case Call::kResolveRoute:
      return "resolve_route";
    case Call::kListen:
      return "listen";
    case Call::kConnect:
      return "connect";
    case Call::kEstablish:
      return "establish";
    case Call::kAccept:
      return "accept";
    case Call::kReject:
      return "reject";
    case Call::kDisconnect:
      return "disconnect";
    case Call::kNotify:
      return "notify";
    case Call::kJoinMulticast:
      return "join_multicast";
    case Call::kLeaveMulticast:
      return "leave_multicast";
    case Call::kInitQpAttr:
      return "init_qp_attr";
    case Call::kSetTos:
      return "set_option(ID, TOS)";
    case Call::kSetReuseAddr:
      return "set_option(ID, REUSEADDR=1)";
    case Call::kClearReuseAddr:
      return "set_option(ID, REUSEADDR=0)";
    case Call::kSetAfOnly:
      return "set_option(ID, AFONLY)";
    case Call::kSetAckTimeout:
      return "set_option(ID, ACK_TIMEOUT)";
    case Call::kSetIbPath:
      return "set_option(IB, PATH)";
    case Call::kQuery:
      return "query";
  }
  return "unknown";
}

std::optional<Call> call_of_option(int level, int option, std::span<const std::uint8_t> value) {
  if (level == RDMA_OPTION_IB && option == RDMA_OPTION_IB_PATH) return Call::kSetIbPath;
  if (level != RDMA_OPTION_ID) return std::nullopt;
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  switch (option) {
    case RDMA_OPTION_ID_TOS:
      return Call::kSetTos;
    case RDMA_OPTION_ID_REUSEADDR:
      return std::ranges::all_of(value, is_zero) ? Call::kClearReuseAddr : Call::kSetReuseAddr;
    case RDMA_OPTION_ID_AFONLY:
      return Call::kSetAfOnly;
    case RDMA_OPTION_ID_ACK_TIMEOUT:
      return Call::kSetAckTimeout;
  }
  return std::nullopt;
}

}  // namespace anyrdma::transport
