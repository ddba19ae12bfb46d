#include "verbs/ibv/functions.h"

namespace anyrdma::verbs::ibv {

std::variant<VerbsFunctions, LoadFault> read_verbs_functions(const SystemLibraries& libraries) {
  SymbolReader read(libraries, &SystemLibraries::verbs_symbol);
  VerbsFunctions it{};
  it.errno_location = libraries.errno_location();
  read(it.get_device_list, "ibv_get_device_list", "IBVERBS_1.1");
  read(it.free_device_list, "ibv_free_device_list", "IBVERBS_1.1");
  read(it.get_device_guid, "ibv_get_device_guid", "IBVERBS_1.1");
  read(it.open_device, "ibv_open_device", "IBVERBS_1.1");
  read(it.close_device, "ibv_close_device", "IBVERBS_1.1");
  read(it.query_device, "ibv_query_device", "IBVERBS_1.1");
  read(it.query_gid_ex, "_ibv_query_gid_ex", "IBVERBS_1.11");
  read(it.query_pkey, "ibv_query_pkey", "IBVERBS_1.1");
  read(it.alloc_pd, "ibv_alloc_pd", "IBVERBS_1.1");
  read(it.dealloc_pd, "ibv_dealloc_pd", "IBVERBS_1.1");
  read(it.reg_mr_iova2, "ibv_reg_mr_iova2", "IBVERBS_1.8");
  read(it.dereg_mr, "ibv_dereg_mr", "IBVERBS_1.1");
  read(it.rereg_mr, "ibv_rereg_mr", "IBVERBS_1.1");
  read(it.create_comp_channel, "ibv_create_comp_channel", "IBVERBS_1.0");
  read(it.destroy_comp_channel, "ibv_destroy_comp_channel", "IBVERBS_1.0");
  read(it.create_cq, "ibv_create_cq", "IBVERBS_1.1");
  read(it.destroy_cq, "ibv_destroy_cq", "IBVERBS_1.1");
  read(it.get_cq_event, "ibv_get_cq_event", "IBVERBS_1.1");
  read(it.ack_cq_events, "ibv_ack_cq_events", "IBVERBS_1.1");
  read(it.resize_cq, "ibv_resize_cq", "IBVERBS_1.1");
  read(it.create_qp, "ibv_create_qp", "IBVERBS_1.1");
  read(it.modify_qp, "ibv_modify_qp", "IBVERBS_1.1");
  read(it.query_qp, "ibv_query_qp", "IBVERBS_1.1");
  read(it.destroy_qp, "ibv_destroy_qp", "IBVERBS_1.1");
  read(it.qp_to_qp_ex, "ibv_qp_to_qp_ex", "IBVERBS_1.6");
  read(it.create_ah, "ibv_create_ah", "IBVERBS_1.1");
  read(it.destroy_ah, "ibv_destroy_ah", "IBVERBS_1.1");
  read(it.attach_mcast, "ibv_attach_mcast", "IBVERBS_1.1");
  read(it.detach_mcast, "ibv_detach_mcast", "IBVERBS_1.1");
  read(it.create_srq, "ibv_create_srq", "IBVERBS_1.1");
  read(it.modify_srq, "ibv_modify_srq", "IBVERBS_1.1");
  read(it.query_srq, "ibv_query_srq", "IBVERBS_1.1");
  read(it.destroy_srq, "ibv_destroy_srq", "IBVERBS_1.1");
  read(it.set_ece, "ibv_set_ece", "IBVERBS_1.10");
  read(it.query_ece, "ibv_query_ece", "IBVERBS_1.10");
  read(it.get_async_event, "ibv_get_async_event", "IBVERBS_1.1");
  read(it.ack_async_event, "ibv_ack_async_event", "IBVERBS_1.1");
  if (!read.missing().empty()) return too_old("libibverbs.so.1", read.missing());
  return it;
}

}  // namespace anyrdma::verbs::ibv
