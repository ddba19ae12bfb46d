// Address handles, and what datagrams and their headers say of their senders.
#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "verbs/c_api/c_result.h"
#include "verbs/provider.h"
#include "verbs/soft/frame.h"

namespace anyrdma::c_api {
namespace {

using verbs::provider_of;

/// Whether a datagram with this header was sent to the address as this entry means it: hardware has
/// one for RoCE v1 and another for v2, with the same GID.
bool is_addressed(const ibv_gid_entry& entry, const roce::Routing& routing) {
  return std::memcmp(entry.gid.raw, routing.destination.raw, sizeof entry.gid.raw) == 0 &&
         (entry.gid_type != IBV_GID_TYPE_ROCE_V2) == routing.native;
}

/// Where the address that it was sent to is in a port's table. ENOENT: nowhere.
Result<std::uint32_t> gid_index(ibv_context* context, std::uint8_t port,
                                const roce::Routing& routing) {
  ibv_port_attr attr{};
  if (auto queried = provider_of(context).query_port(context, port, &attr); !queried)
    return queried.error();
  for (std::uint32_t index = 0; index < static_cast<std::uint32_t>(attr.gid_tbl_len); ++index) {
    const auto entry = provider_of(context).query_gid(context, port, index);
    if (entry && is_addressed(*entry, routing)) return index;
  }
  return errno_code(ENOENT);
}

/// The way back to the sender of a datagram.
Result<ibv_ah_attr> answer_to(ibv_context* context, std::uint8_t port, const ibv_wc& completion,
                              const ibv_grh* grh) {
  ibv_ah_attr attr{};
  attr.dlid = completion.slid;
  attr.sl = completion.sl;
  attr.src_path_bits = completion.dlid_path_bits;
  attr.port_num = port;
  if ((completion.wc_flags & IBV_WC_GRH) == 0) return attr;
  if (grh == nullptr) return errno_code(EINVAL);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(grh);
  const auto routing = roce::read_routing_header(
      std::span<const std::uint8_t, roce::kRoutingHeaderBytes>(bytes, roce::kRoutingHeaderBytes));
  if (!routing) return errno_code(EPROTONOSUPPORT);
  // Nothing in the table says by which of our addresses we got what was sent to a group.
  if (roce::is_multicast(routing->destination)) return errno_code(EINVAL);
  const auto index = gid_index(context, port, *routing);
  if (!index) return index.error();
  attr.is_global = 1;
  attr.grh.dgid = routing->source;
  attr.grh.sgid_index = static_cast<std::uint8_t>(*index);
  attr.grh.flow_label = routing->flow_label;
  attr.grh.traffic_class = routing->traffic_class;
  attr.grh.hop_limit = routing->hop_limit;
  return attr;
}

Result<ibv_ah*> create(ibv_pd* pd, const ibv_ah_attr& attr) {
  return provider_of(pd->context).create_ah(pd, attr);
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;

extern "C" {

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  return null_on_error([&]() -> Result<ibv_ah*> {
    if (pd == nullptr || attr == nullptr) return errno_code(EINVAL);
    return create(pd, *attr);
  });
}

int ibv_destroy_ah(ibv_ah* ah) {
  if (ah == nullptr) return EINVAL;
  return errno_on_error([&] { return provider_of(ah->context).destroy_ah(ah); });
}

int ibv_init_ah_from_wc(ibv_context* context, std::uint8_t port_num, ibv_wc* wc, ibv_grh* grh,
                        ibv_ah_attr* ah_attr) {
  return minus_one_on_error([&]() -> Result<void> {
    if (context == nullptr || wc == nullptr || ah_attr == nullptr) return errno_code(EINVAL);
    const auto attr = answer_to(context, port_num, *wc, grh);
    if (!attr) return attr.error();
    *ah_attr = *attr;
    return {};
  });
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port_num) {
  return null_on_error([&]() -> Result<ibv_ah*> {
    if (pd == nullptr || wc == nullptr) return errno_code(EINVAL);
    const auto attr = answer_to(pd->context, port_num, *wc, grh);
    if (!attr) return attr.error();
    return create(pd, *attr);
  });
}

// Exported, though no public header declares it. The link address is the one that our frames carry;
// nothing of ours is in a VLAN.
int ibv_resolve_eth_l2_from_gid(ibv_context* context, ibv_ah_attr* attr, std::uint8_t eth_mac[6],
                                std::uint16_t* vid);
int ibv_resolve_eth_l2_from_gid(ibv_context* context, ibv_ah_attr* attr, std::uint8_t eth_mac[6],
                                std::uint16_t* vid) {
  return minus_one_on_error([&]() -> Result<void> {
    constexpr std::uint16_t kNoVlan = 0xffff;
    if (context == nullptr || attr == nullptr || eth_mac == nullptr) return errno_code(EINVAL);
    const auto own = provider_of(context).query_gid(context, attr->port_num, attr->grh.sgid_index);
    if (!own) return own.error();
    const anyrdma::roce::Mac mac = anyrdma::roce::mac_from(attr->grh.dgid);
    std::copy(mac.begin(), mac.end(), eth_mac);
    if (vid != nullptr) *vid = kNoVlan;
    return {};
  });
}

}  // extern "C"
