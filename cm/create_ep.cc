#include "cm/create_ep.h"

#include <chrono>
#include <cstdint>
#include <span>

namespace anyrdma::cm {
namespace {

constexpr std::chrono::milliseconds kTimeout{2000};  // of each resolution

std::span<const std::uint8_t> bytes(const void* data, std::size_t size) {
  return {static_cast<const std::uint8_t*>(data), data == nullptr ? 0 : size};
}

Result<void> find_route(Id& id, const rdma_addrinfo& info) {
  if (info.ai_route_len == 0) return id.resolve_route(kTimeout);
  Result<void> set =
      id.set_option(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, bytes(info.ai_route, info.ai_route_len));
  return set ? id.complete() : set;  // the option is an event at once (docs/facts.md, 50)
}

Result<void> prepare_passive(Id& id, const rdma_addrinfo& info, ibv_pd* pd,
                             const ibv_qp_init_attr* qp) {
  if (Result<void> bound = id.bind(info.ai_src_addr); !bound) return bound;
  return id.set_request_qp(pd, qp);
}

Result<void> prepare_active(Id& id, const rdma_addrinfo& info, ibv_pd* pd, ibv_qp_init_attr* qp) {
  Result<void> resolved = id.resolve_addr(info.ai_src_addr, info.ai_dst_addr, kTimeout);
  if (!resolved) return resolved;
  if (Result<void> routed = find_route(id, info); !routed) return routed;
  id.set_connect_prefix(bytes(info.ai_connect, info.ai_connect_len));
  if (qp == nullptr) return {};
  qp->qp_type = id.raw()->qp_type;
  return id.create_qp(pd, qp);
}

}  // namespace

Result<std::unique_ptr<Id>> create_ep(transport::Transport& transport, const rdma_addrinfo& info,
                                      ibv_pd* pd, ibv_qp_init_attr* qp) {
  auto id = Id::create_synchronous(transport, static_cast<rdma_port_space>(info.ai_port_space),
                                   nullptr, static_cast<ibv_qp_type>(info.ai_qp_type));
  if (!id) return id;
  const bool passive = (info.ai_flags & RAI_PASSIVE) != 0;
  Result<void> prepared =
      passive ? prepare_passive(**id, info, pd, qp) : prepare_active(**id, info, pd, qp);
  if (!prepared) return prepared.error();
  return id;
}

Result<void> destroy_ep(std::unique_ptr<Id> id) {
  if (id == nullptr) return verbs::errno_code(EINVAL);
  if (id->qp() != nullptr) (void)id->destroy_qp().has_value();
  if (id->raw()->srq != nullptr) (void)id->destroy_srq().has_value();
  return Id::destroy(std::move(id));
}

}  // namespace anyrdma::cm
