// Address handles and multicast groups of the software HCA.
#include <cerrno>
#include <span>

#include "verbs/soft/frame.h"
#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

PacketPath SoftHca::path_of(const ibv_ah_attr& address) const {
  if (address.is_global != 0)
    return PacketPath::of(address, at(address.port_num).gids[address.grh.sgid_index]);
  ibv_ah_attr by_lid = address;
  by_lid.grh = {.dgid = gid_of_lid(address.dlid),
                .flow_label = 0,
                .sgid_index = 0,
                .hop_limit = 1,
                .traffic_class = 0};
  return PacketPath::of(by_lid, lid_gid_of(address.port_num));
}

Result<ibv_ah*> SoftHca::create_ah(ibv_pd* pd, const ibv_ah_attr& attr) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("create_ah"); error != 0) return errno_code(error);
  if (const int error = check_path(attr); error != 0) return errno_code(error);
  if (address_handles_ >= core_.config.max_ah) return errno_code(ENOMEM);
  const auto found = core_.handles.find<SoftPd>(*pd);
  if (!found) return found.error();
  auto* ah = new SoftAh{};
  ++address_handles_;
  ah->context = pd->context;
  ah->pd = &protecting(*found);
  ah->handle = core_.handles.add(*ah);
  ah->path = path_of(attr);
  live_address_handles_.push_back(*ah);
  ++static_cast<SoftPd*>(ah->pd)->users;
  return ah;
}

Result<void> SoftHca::destroy_ah(ibv_ah* ah) {
  CriticalSection section(core_.runtime);
  const auto found = core_.find_to_end<SoftAh>("ibv_destroy_ah", *ah);
  if (!found) return found.error();
  --address_handles_;
  --static_cast<SoftPd*>((*found)->pd)->users;
  delete *found;
  return {};
}

// The LID means nothing on Ethernet, as in the kernel.
Result<void> SoftHca::attach_mcast(ibv_qp* qp, const ibv_gid& gid, std::uint16_t) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("attach_mcast"); error != 0) return errno_code(error);
  if (core_.config.max_mcast_grp == 0) return errno_code(EOPNOTSUPP);
  const auto found = core_.handles.find<SoftQp>(*qp);
  if (!found) return found.error();
  if ((*found)->qp_type != IBV_QPT_UD || !roce::is_multicast(gid)) return errno_code(EINVAL);
  const HcaConfig& config = core_.config;
  const int error =
      groups_.attach(gid, **found, {config.max_mcast_grp, config.max_mcast_qp_attach});
  if (error != 0) return errno_code(error);
  return {};
}

Result<void> SoftHca::detach_mcast(ibv_qp* qp, const ibv_gid& gid, std::uint16_t) {
  CriticalSection section(core_.runtime);
  if (core_.removed) return errno_code(EIO);
  const auto found = core_.handles.find<SoftQp>(*qp);
  if (!found) return found.error();
  const int error = groups_.detach(gid, **found);
  if (error != 0) return errno_code(error);
  return {};
}

// --- packets ------------------------------------------------------------------------------------

void SoftHca::on_datagram(const roce::Envelope& envelope, const Packet& packet) {
  if (envelope.bth.destination == wire::kMulticastQpn) return on_multicast(envelope, packet);
  SoftQp* qp = find(envelope.bth.destination);
  if (qp == nullptr || qp->qp_type != IBV_QPT_UD || !own_gid(packet.destination)) {
    ++core_.counters.unknown_qp;
    return;
  }
  qp->datagrams->on_datagram(envelope, packet);
}

// Every member gets a copy, except the one that sent it (IBTA vol 1, 10.5.2.2).
void SoftHca::on_multicast(const roce::Envelope& envelope, const Packet& packet) {
  const std::span<SoftQp* const> members = groups_.members_of(packet.destination);
  if (members.empty()) {
    ++core_.counters.unknown_group;
    return;
  }
  const auto deth =
      roce::Deth::parse(roce::view<roce::Deth>(packet.payload(), envelope.bth.opcode, roce::kDeth));
  const bool from_here = own_gid(packet.source);
  for (SoftQp* member : members) {
    if (from_here && member->qp_num == value(deth.source)) continue;
    member->datagrams->on_datagram(envelope, packet);
  }
}

}  // namespace anyrdma::verbs::soft
