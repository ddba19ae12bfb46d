// Address handles and multicast groups of the software HCA.
#include <cerrno>

#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

PacketPath SoftHca::path_of(const ibv_ah_attr& address) const {
  return PacketPath::of(address, gids_[address.grh.sgid_index]);
}

Result<ibv_ah*> SoftHca::create_ah(ibv_pd* pd, const ibv_ah_attr& attr) {
  CriticalSection section(core_.runtime);
  if (core_.removed) return errno_code(EIO);
  if (attr.port_num != 1) return errno_code(EINVAL);
  if (const int error = check_path(attr); error != 0) return errno_code(error);
  if (address_handles_ >= core_.config.max_ah) return errno_code(ENOMEM);
  auto* ah = new SoftAh{};
  ah->context = pd->context;
  ah->pd = pd;
  ah->handle = address_handles_++;
  ah->path = path_of(attr);
  live_address_handles_.push_back(*ah);
  ++static_cast<SoftPd*>(pd)->users;
  return ah;
}

Result<void> SoftHca::destroy_ah(ibv_ah* ah) {
  CriticalSection section(core_.runtime);
  --address_handles_;
  --static_cast<SoftPd*>(ah->pd)->users;
  delete static_cast<SoftAh*>(ah);
  return {};
}

Result<void> SoftHca::attach_mcast(ibv_qp*, const ibv_gid&, std::uint16_t) {
  return errno_code(EOPNOTSUPP);
}

Result<void> SoftHca::detach_mcast(ibv_qp*, const ibv_gid&, std::uint16_t) {
  return errno_code(EOPNOTSUPP);
}

Result<void> SoftHca::set_ece(ibv_qp*, const ibv_ece&) {
  return errno_code(EOPNOTSUPP);
}

Result<ibv_ece> SoftHca::query_ece(ibv_qp*) {
  return errno_code(EOPNOTSUPP);
}

}  // namespace anyrdma::verbs::soft
