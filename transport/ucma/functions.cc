#include "transport/ucma/functions.h"

#include <cerrno>

namespace anyrdma::transport::ucma {

using verbs::ibv::SystemLibraries;

int CmFunctions::last_error() const {
  const int error = *errno_location();
  return error > 0 ? error : EIO;
}

verbs::Result<void> CmFunctions::done(int returned) const {
  if (returned == 0) return {};
  return verbs::errno_code(returned > 0 ? returned : last_error());
}

std::variant<CmFunctions, verbs::ibv::LoadFault> read_cm_functions(
    const SystemLibraries& libraries) {
  verbs::ibv::SymbolReader read(libraries, &SystemLibraries::cm_symbol);
  CmFunctions it{};
  it.errno_location = libraries.errno_location();
  read(it.create_event_channel, "rdma_create_event_channel", "RDMACM_1.0");
  read(it.destroy_event_channel, "rdma_destroy_event_channel", "RDMACM_1.0");
  read(it.get_cm_event, "rdma_get_cm_event", "RDMACM_1.0");
  read(it.ack_cm_event, "rdma_ack_cm_event", "RDMACM_1.0");
  read(it.create_id, "rdma_create_id", "RDMACM_1.0");
  read(it.destroy_id, "rdma_destroy_id", "RDMACM_1.0");
  read(it.bind_addr, "rdma_bind_addr", "RDMACM_1.0");
  read(it.resolve_addr, "rdma_resolve_addr", "RDMACM_1.0");
  read(it.resolve_route, "rdma_resolve_route", "RDMACM_1.0");
  read(it.listen, "rdma_listen", "RDMACM_1.0");
  read(it.connect, "rdma_connect", "RDMACM_1.0");
  read(it.accept, "rdma_accept", "RDMACM_1.0");
  read(it.establish, "rdma_establish", "RDMACM_1.2");
  read(it.reject, "rdma_reject", "RDMACM_1.0");
  read(it.reject_ece, "rdma_reject_ece", "RDMACM_1.3");
  read(it.disconnect, "rdma_disconnect", "RDMACM_1.0");
  read(it.notify, "rdma_notify", "RDMACM_1.0");
  read(it.init_qp_attr, "rdma_init_qp_attr", "RDMACM_1.2");
  read(it.set_option, "rdma_set_option", "RDMACM_1.0");
  read(it.join_multicast_ex, "rdma_join_multicast_ex", "RDMACM_1.1");
  read(it.leave_multicast, "rdma_leave_multicast", "RDMACM_1.0");
  read(it.set_local_ece, "rdma_set_local_ece", "RDMACM_1.3");
  read(it.get_remote_ece, "rdma_get_remote_ece", "RDMACM_1.3");
  read(it.get_devices, "rdma_get_devices", "RDMACM_1.0");
  read(it.free_devices, "rdma_free_devices", "RDMACM_1.0");
  if (!read.missing().empty()) return verbs::ibv::too_old("librdmacm.so.1", read.missing());
  return it;
}

}  // namespace anyrdma::transport::ucma
