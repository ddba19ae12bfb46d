#include "tests/conformance/event_text.h"

#include <cstring>
#include <span>

#include "tests/conformance/party.h"
#include "tests/conformance/stage.h"

namespace anyrdma::conformance {
namespace {

constexpr std::size_t kMappedAt = 12;  // an IPv4 address in a GID

std::string field(const char* name, unsigned value, unsigned usual = 0) {
  return value == usual ? "" : " " + std::string(name) + "=" + std::to_string(value);
}

std::string data_text(const void* data, std::size_t length) {
  if (length == 0) return {};
  const std::span bytes(static_cast<const std::uint8_t*>(data), length);
  return " data=" + std::to_string(length) + " " + bytes_text(bytes);
}

std::string qp_text(Stage& stage, const Party& reader, std::uint32_t qpn) {
  if (qpn == 0) return {};
  return " qp=" + (qpn == 0xffffff ? "multicast" : stage.qpn_text(reader, qpn));
}

std::string depth_field(const char* name, unsigned value, unsigned maximum) {
  return value == 0 ? "" : " " + std::string(name) + "=" + depth_text(value, maximum);
}

std::string conn_text(Stage& stage, const Party& reader, const rdma_cm_event& event) {
  const rdma_conn_param& conn = event.param.conn;
  const DepthLimits limits = depth_limits(reader.calls(), event.id->verbs);
  return depth_field("resources", conn.responder_resources, limits.serves) +
         depth_field("depth", conn.initiator_depth, limits.starts) +
         field("flow", conn.flow_control) + field("retry", conn.retry_count) +
         field("rnr", conn.rnr_retry_count) + field("srq", conn.srq) +
         qp_text(stage, reader, conn.qp_num) + data_text(conn.private_data, conn.private_data_len);
}

/// By whose address a GID names it.
std::string gid_text(Stage& stage, const ibv_gid& gid) {
  sockaddr_in six_as_four{};
  std::uint8_t zeros[10] = {};
  if (std::memcmp(gid.raw, zeros, sizeof zeros) == 0 && gid.raw[10] == 0xff) {
    six_as_four.sin_family = AF_INET;
    std::memcpy(&six_as_four.sin_addr, gid.raw + kMappedAt, sizeof six_as_four.sin_addr);
    return stage.place_text(reinterpret_cast<const sockaddr&>(six_as_four));
  }
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  std::memcpy(&six.sin6_addr, gid.raw, sizeof six.sin6_addr);
  return stage.place_text(reinterpret_cast<const sockaddr&>(six));
}

std::string ud_text(Stage& stage, const Party& reader, const rdma_ud_param& ud) {
  std::string text = qp_text(stage, reader, ud.qp_num);
  if (ud.qkey != 0) text += ud.qkey == RDMA_UDP_QKEY ? " qkey=usual" : " qkey=unusual";
  if (ud.ah_attr.is_global != 0) {
    text += " to=" + gid_text(stage, ud.ah_attr.grh.dgid);
    text += field("hop", ud.ah_attr.grh.hop_limit) + field("class", ud.ah_attr.grh.traffic_class);
  }
  text += field("dlid", ud.ah_attr.dlid) + field("sl", ud.ah_attr.sl);
  return text + data_text(ud.private_data, ud.private_data_len);
}

bool is_about_multicast(rdma_cm_event_type type) {
  return type == RDMA_CM_EVENT_MULTICAST_JOIN || type == RDMA_CM_EVENT_MULTICAST_ERROR;
}

}  // namespace

std::string depth_text(unsigned value, unsigned maximum) {
  return value != 0 && value == maximum ? "max" : std::to_string(value);
}

DepthLimits depth_limits(const Calls& calls, ibv_context* device) {
  ibv_device_attr attr{};
  if (device == nullptr || calls.verbs.query_device(device, &attr) != 0) return {};
  return {.serves = static_cast<unsigned>(attr.max_qp_rd_atom),
          .starts = static_cast<unsigned>(attr.max_qp_init_rd_atom)};
}

std::string describe_event(Stage& stage, const Party& reader, const rdma_cm_event& event) {
  std::string text = event_text(event.event);
  if (event.status != 0) text += " " + status_text(event.status);
  const bool multicast = is_about_multicast(event.event);
  if (!multicast && event.id->qp_type != IBV_QPT_UD) {
    return text + conn_text(stage, reader, event);
  }
  text += ud_text(stage, reader, event.param.ud);
  // What join was given, though no length says so.
  if (multicast && event.param.ud.private_data == &reader) text += " context";
  return text;
}

std::string space_text(rdma_port_space space) {
  switch (space) {
    case RDMA_PS_IPOIB:
      return "IPOIB";
    case RDMA_PS_TCP:
      return "TCP";
    case RDMA_PS_UDP:
      return "UDP";
    case RDMA_PS_IB:
      return "IB";
  }
  return std::to_string(space);
}

std::string param_text(const Param& param) {
  const auto number = [](int value) { return static_cast<unsigned>(value); };
  std::string text = field("resources", number(param.resources)) +
                     field("depth", number(param.depth)) + field("flow", number(param.flow)) +
                     field("retry", number(param.retry), 7) + field("rnr", number(param.rnr), 7) +
                     field("srq", number(param.srq));
  if (param.as != nullptr) text += " qp=" + param.as->name();
  text += data_text(param.data.data(), param.data.size());
  return text.empty() ? text : text.substr(1);
}

}  // namespace anyrdma::conformance
