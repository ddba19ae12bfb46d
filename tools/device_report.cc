#include "tools/device_report.h"

#include <arpa/inet.h>
#include <endian.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

namespace anyrdma::tools {
namespace {

/// A value, or a bit, and its name.
struct Named {
  std::uint64_t value;
  const char* name;
};

constexpr Named kTransports[] = {{IBV_TRANSPORT_IB, "InfiniBand"},
                                 {IBV_TRANSPORT_IWARP, "iWARP"},
                                 {IBV_TRANSPORT_USNIC, "usNIC"},
                                 {IBV_TRANSPORT_USNIC_UDP, "usNIC UDP"},
                                 {IBV_TRANSPORT_UNSPECIFIED, "unspecified"}};
constexpr Named kAtomics[] = {{IBV_ATOMIC_NONE, "ATOMIC_NONE"},
                              {IBV_ATOMIC_HCA, "ATOMIC_HCA"},
                              {IBV_ATOMIC_GLOB, "ATOMIC_GLOB"}};
constexpr Named kStates[] = {{IBV_PORT_DOWN, "PORT_DOWN"},
                             {IBV_PORT_INIT, "PORT_INIT"},
                             {IBV_PORT_ARMED, "PORT_ARMED"},
                             {IBV_PORT_ACTIVE, "PORT_ACTIVE"}};
constexpr Named kMtus[] = {{IBV_MTU_256, "256"},
                           {IBV_MTU_512, "512"},
                           {IBV_MTU_1024, "1024"},
                           {IBV_MTU_2048, "2048"},
                           {IBV_MTU_4096, "4096"}};
constexpr Named kLinkLayers[] = {{IBV_LINK_LAYER_UNSPECIFIED, "Unspecified"},
                                 {IBV_LINK_LAYER_INFINIBAND, "InfiniBand"},
                                 {IBV_LINK_LAYER_ETHERNET, "Ethernet"}};
constexpr Named kVirtualLanes[] = {{1, "1"}, {2, "2"}, {3, "4"}, {4, "8"}, {5, "15"}};
constexpr Named kWidths[] = {{1, "1"}, {2, "4"}, {4, "8"}, {8, "12"}, {16, "2"}};
constexpr Named kSpeeds[] = {{1, "2.5 Gbps"},   {2, "5.0 Gbps"},    {4, "10.0 Gbps"},
                             {8, "10.0 Gbps"},  {16, "14.0 Gbps"},  {32, "25.0 Gbps"},
                             {64, "50.0 Gbps"}, {128, "100.0 Gbps"}};
constexpr Named kPhysicalStates[] = {
    {1, "SLEEP"},    {2, "POLLING"},
    {3, "DISABLED"}, {4, "PORT_CONFIGURATION TRAINNING"},  // so spelled there
    {5, "LINK_UP"},  {6, "LINK_ERROR_RECOVERY"},
    {7, "PHY TEST"}};

constexpr Named kCapabilities[] = {{IBV_DEVICE_RESIZE_MAX_WR, "RESIZE_MAX_WR"},
                                   {IBV_DEVICE_BAD_PKEY_CNTR, "BAD_PKEY_CNTR"},
                                   {IBV_DEVICE_BAD_QKEY_CNTR, "BAD_QKEY_CNTR"},
                                   {IBV_DEVICE_RAW_MULTI, "RAW_MULTI"},
                                   {IBV_DEVICE_AUTO_PATH_MIG, "AUTO_PATH_MIG"},
                                   {IBV_DEVICE_CHANGE_PHY_PORT, "CHANGE_PHY_PORT"},
                                   {IBV_DEVICE_UD_AV_PORT_ENFORCE, "UD_AV_PORT_ENFORCE"},
                                   {IBV_DEVICE_CURR_QP_STATE_MOD, "CURR_QP_STATE_MOD"},
                                   {IBV_DEVICE_SHUTDOWN_PORT, "SHUTDOWN_PORT"},
                                   {IBV_DEVICE_INIT_TYPE, "INIT_TYPE"},
                                   {IBV_DEVICE_PORT_ACTIVE_EVENT, "PORT_ACTIVE_EVENT"},
                                   {IBV_DEVICE_SYS_IMAGE_GUID, "SYS_IMAGE_GUID"},
                                   {IBV_DEVICE_RC_RNR_NAK_GEN, "RC_RNR_NAK_GEN"},
                                   {IBV_DEVICE_SRQ_RESIZE, "SRQ_RESIZE"},
                                   {IBV_DEVICE_N_NOTIFY_CQ, "N_NOTIFY_CQ"},
                                   {IBV_DEVICE_MEM_WINDOW, "MEM_WINDOW"},
                                   {IBV_DEVICE_UD_IP_CSUM, "UD_IP_CSUM"},
                                   {IBV_DEVICE_XRC, "XRC"},
                                   {IBV_DEVICE_MEM_MGT_EXTENSIONS, "MEM_MGT_EXTENSIONS"},
                                   {IBV_DEVICE_MEM_WINDOW_TYPE_2A, "MEM_WINDOW_TYPE_2A"},
                                   {IBV_DEVICE_MEM_WINDOW_TYPE_2B, "MEM_WINDOW_TYPE_2B"},
                                   {IBV_DEVICE_RC_IP_CSUM, "RC_IP_CSUM"},
                                   {IBV_DEVICE_RAW_IP_CSUM, "RAW_IP_CSUM"},
                                   {IBV_DEVICE_MANAGED_FLOW_STEERING, "MANAGED_FLOW_STEERING"}};
constexpr Named kExtendedCapabilities[] = {
    {IBV_DEVICE_RAW_SCATTER_FCS, "RAW_SCATTER_FCS"},
    {IBV_DEVICE_PCI_WRITE_END_PADDING, "PCI_WRITE_END_PADDING"}};
constexpr Named kOdp[] = {{IBV_ODP_SUPPORT, "ODP_SUPPORT"},
                          {IBV_ODP_SUPPORT_IMPLICIT, "ODP_SUPPORT_IMPLICIT"}};
constexpr Named kOdpOperations[] = {
    {IBV_ODP_SUPPORT_SEND, "SUPPORT_SEND"},     {IBV_ODP_SUPPORT_RECV, "SUPPORT_RECV"},
    {IBV_ODP_SUPPORT_WRITE, "SUPPORT_WRITE"},   {IBV_ODP_SUPPORT_READ, "SUPPORT_READ"},
    {IBV_ODP_SUPPORT_ATOMIC, "SUPPORT_ATOMIC"}, {IBV_ODP_SUPPORT_SRQ_RECV, "SUPPORT_SRQ"}};
constexpr Named kRawPackets[] = {{IBV_RAW_PACKET_CAP_CVLAN_STRIPPING, "C-VLAN stripping offload"},
                                 {IBV_RAW_PACKET_CAP_SCATTER_FCS, "Scatter FCS offload"},
                                 {IBV_RAW_PACKET_CAP_IP_CSUM, "IP csum offload"},
                                 {IBV_RAW_PACKET_CAP_DELAY_DROP, "Delay drop"}};
constexpr Named kQueuePairTypes[] = {{1u << IBV_QPT_RAW_PACKET, "SUPPORT_RAW_PACKET"},
                                     {1u << IBV_QPT_UD, "SUPPORT_UD"}};

const char* name_of(std::span<const Named> names, std::uint64_t value, const char* otherwise) {
  for (const Named& each : names) {
    if (each.value == value) return each.name;
  }
  return otherwise;
}

void print_flags(std::span<const Named> names, std::uint64_t flags) {
  for (const Named& each : names) {
    if ((flags & each.value) != 0) std::printf("\t\t\t\t\t%s\n", each.name);
    flags &= ~each.value;
  }
  if (flags != 0) {
    std::printf("\t\t\t\t\tUnknown flags: 0x%llX\n", static_cast<unsigned long long>(flags));
  }
}

std::string guid_text(__be64 guid) {
  const std::uint64_t value = be64toh(guid);
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "%04x:%04x:%04x:%04x",
                static_cast<unsigned>(value >> 48 & 0xffff),
                static_cast<unsigned>(value >> 32 & 0xffff),
                static_cast<unsigned>(value >> 16 & 0xffff), static_cast<unsigned>(value & 0xffff));
  return text.data();
}

/// A name, tabs, a number: most of the report.
struct Count {
  const char* label;
  int value;
};

void print_counts(std::span<const Count> counts) {
  for (const Count& each : counts) std::printf("\t%s%d\n", each.label, each.value);
}

void print_limits(const ibv_device_attr& attr) {
  std::printf("\tphys_port_cnt:\t\t\t%d\n", attr.phys_port_cnt);
  std::printf("\tmax_mr_size:\t\t\t0x%llx\n", static_cast<unsigned long long>(attr.max_mr_size));
  std::printf("\tpage_size_cap:\t\t\t0x%llx\n",
              static_cast<unsigned long long>(attr.page_size_cap));
  print_counts(
      std::array{Count{"max_qp:\t\t\t\t", attr.max_qp}, Count{"max_qp_wr:\t\t\t", attr.max_qp_wr}});
  std::printf("\tdevice_cap_flags:\t\t0x%08x\n", attr.device_cap_flags);
  print_flags(kCapabilities, attr.device_cap_flags);
  print_counts(
      std::array{Count{"max_sge:\t\t\t", attr.max_sge}, Count{"max_sge_rd:\t\t\t", attr.max_sge_rd},
                 Count{"max_cq:\t\t\t\t", attr.max_cq}, Count{"max_cqe:\t\t\t", attr.max_cqe},
                 Count{"max_mr:\t\t\t\t", attr.max_mr}, Count{"max_pd:\t\t\t\t", attr.max_pd},
                 Count{"max_qp_rd_atom:\t\t\t", attr.max_qp_rd_atom},
                 Count{"max_ee_rd_atom:\t\t\t", attr.max_ee_rd_atom},
                 Count{"max_res_rd_atom:\t\t", attr.max_res_rd_atom},
                 Count{"max_qp_init_rd_atom:\t\t", attr.max_qp_init_rd_atom},
                 Count{"max_ee_init_rd_atom:\t\t", attr.max_ee_init_rd_atom}});
  std::printf("\tatomic_cap:\t\t\t%s (%d)\n",
              name_of(kAtomics, attr.atomic_cap, "invalid atomic capability"), attr.atomic_cap);
  print_counts(std::array{
      Count{"max_ee:\t\t\t\t", attr.max_ee}, Count{"max_rdd:\t\t\t", attr.max_rdd},
      Count{"max_mw:\t\t\t\t", attr.max_mw}, Count{"max_raw_ipv6_qp:\t\t", attr.max_raw_ipv6_qp},
      Count{"max_raw_ethy_qp:\t\t", attr.max_raw_ethy_qp},
      Count{"max_mcast_grp:\t\t\t", attr.max_mcast_grp},
      Count{"max_mcast_qp_attach:\t\t", attr.max_mcast_qp_attach},
      Count{"max_total_mcast_qp_attach:\t", attr.max_total_mcast_qp_attach},
      Count{"max_ah:\t\t\t\t", attr.max_ah}, Count{"max_fmr:\t\t\t", attr.max_fmr}});
  if (attr.max_fmr != 0) std::printf("\tmax_map_per_fmr:\t\t%d\n", attr.max_map_per_fmr);
  print_counts(std::array{Count{"max_srq:\t\t\t", attr.max_srq}});
  if (attr.max_srq != 0) {
    print_counts(std::array{Count{"max_srq_wr:\t\t\t", attr.max_srq_wr},
                            Count{"max_srq_sge:\t\t\t", attr.max_srq_sge}});
  }
  print_counts(std::array{Count{"max_pkeys:\t\t\t", attr.max_pkeys},
                          Count{"local_ca_ack_delay:\t\t", attr.local_ca_ack_delay}});
}

void print_odp(const ibv_device_attr_ex& attr) {
  std::printf("\tgeneral_odp_caps:\n");
  print_flags(kOdp, attr.odp_caps.general_caps);
  const auto& caps = attr.odp_caps.per_transport_caps;
  const Named services[] = {{caps.rc_odp_caps, "rc"},
                            {caps.uc_odp_caps, "uc"},
                            {caps.ud_odp_caps, "ud"},
                            {attr.xrc_odp_caps, "xrc"}};
  for (const Named& service : services) {
    std::printf("\t%s_odp_caps:\n", service.name);
    if (service.value == 0) std::printf("\t\t\t\t\tNO SUPPORT\n");
    print_flags(kOdpOperations, service.value);
  }
}

void print_supported(std::uint32_t types) {
  std::printf("\t\tsupported_qp:\n");
  print_flags(kQueuePairTypes, types);
}

void print_offloads(const ibv_device_attr_ex& attr) {
  if (attr.raw_packet_caps != 0) {
    std::printf("\traw packet caps:\n");
    print_flags(kRawPackets, attr.raw_packet_caps);
  }
  std::printf("\tdevice_cap_flags_ex:\t\t0x%llX\n",
              static_cast<unsigned long long>(attr.device_cap_flags_ex));
  print_flags(kExtendedCapabilities, attr.device_cap_flags_ex & ~std::uint64_t{UINT32_MAX});
  std::printf("\ttso_caps:\n\t\tmax_tso:\t\t\t%d\n", static_cast<int>(attr.tso_caps.max_tso));
  if (attr.tso_caps.max_tso != 0) print_supported(attr.tso_caps.supported_qpts);
  const ibv_rss_caps& rss = attr.rss_caps;
  std::printf("\trss_caps:\n\t\tmax_rwq_indirection_tables:\t\t\t%u\n",
              rss.max_rwq_indirection_tables);
  std::printf("\t\tmax_rwq_indirection_table_size:\t\t\t%u\n", rss.max_rwq_indirection_table_size);
  std::printf("\t\trx_hash_function:\t\t\t\t0x%x\n", rss.rx_hash_function);
  std::printf("\t\trx_hash_fields_mask:\t\t\t\t0x%llX\n",
              static_cast<unsigned long long>(rss.rx_hash_fields_mask));
  if (rss.supported_qpts != 0) print_supported(rss.supported_qpts);
  std::printf("\tmax_wq_type_rq:\t\t\t%u\n", attr.max_wq_type_rq);
  std::printf("\tpacket_pacing_caps:\n\t\tqp_rate_limit_min:\t%ukbps\n",
              attr.packet_pacing_caps.qp_rate_limit_min);
  std::printf("\t\tqp_rate_limit_max:\t%ukbps\n", attr.packet_pacing_caps.qp_rate_limit_max);
  if (attr.packet_pacing_caps.qp_rate_limit_max != 0)
    print_supported(attr.packet_pacing_caps.supported_qpts);
}

void print_extensions(const ibv_device_attr_ex& attr, int completion_vectors) {
  print_odp(attr);
  if (attr.completion_timestamp_mask != 0) {
    std::printf("\tcompletion timestamp_mask:\t\t\t0x%016llx\n",
                static_cast<unsigned long long>(attr.completion_timestamp_mask));
  } else {
    std::printf("\tcompletion_timestamp_mask not supported\n");
  }
  if (attr.hca_core_clock != 0) {
    std::printf("\thca_core_clock:\t\t\t%llukHZ\n",
                static_cast<unsigned long long>(attr.hca_core_clock));
  } else {
    std::printf("\tcore clock not supported\n");
  }
  print_offloads(attr);
  const ibv_tm_caps& matching = attr.tm_caps;
  if (matching.max_num_tags != 0) {
    std::printf("\tmax_rndv_hdr_size:\t\t%u\n\tmax_num_tags:\t\t\t%u\n", matching.max_rndv_hdr_size,
                matching.max_num_tags);
    std::printf("\tmax_ops:\t\t\t%u\n\tmax_sge:\t\t\t%u\n\tflags:\n", matching.max_ops,
                matching.max_sge);
    if ((matching.flags & IBV_TM_CAP_RC) != 0) std::printf("\t\t\t\t\tIBV_TM_CAP_RC\n");
  } else {
    std::printf("\ttag matching not supported\n");
  }
  if (attr.cq_mod_caps.max_cq_count != 0) {
    std::printf("\n\tcq moderation caps:\n\t\tmax_cq_count:\t%u\n\t\tmax_cq_period:\t%u us\n\n",
                attr.cq_mod_caps.max_cq_count, attr.cq_mod_caps.max_cq_period);
  }
  if (attr.max_dm_size != 0) {
    std::printf("\tmaximum available device memory:\t%lluBytes\n\n",
                static_cast<unsigned long long>(attr.max_dm_size));
  }
  std::printf("\tnum_comp_vectors:\t\t%d\n", completion_vectors);
}

}  // namespace

void print_device(const ibv_device& device, __be64 guid, const ibv_device_attr_ex& attr,
                  int completion_vectors, const std::string& board_id) {
  const ibv_device_attr& basic = attr.orig_attr;
  std::printf("hca_id:\t%s\n", device.name);
  std::printf(
      "\ttransport:\t\t\t%s (%d)\n",
      name_of(kTransports, static_cast<std::uint64_t>(device.transport_type), "invalid transport"),
      device.transport_type);
  std::printf("\tfw_ver:\t\t\t\t%s\n", basic.fw_ver);
  std::printf("\tnode_guid:\t\t\t%s\n", guid_text(guid).c_str());
  std::printf("\tsys_image_guid:\t\t\t%s\n", guid_text(basic.sys_image_guid).c_str());
  std::printf("\tvendor_id:\t\t\t0x%04x\n", basic.vendor_id);
  std::printf("\tvendor_part_id:\t\t\t%d\n", static_cast<int>(basic.vendor_part_id));
  std::printf("\thw_ver:\t\t\t\t0x%X\n", basic.hw_ver);
  if (!board_id.empty()) std::printf("\tboard_id:\t\t\t%s\n", board_id.c_str());
  print_limits(basic);
  print_extensions(attr, completion_vectors);
}

void print_port(unsigned number, const ibv_port_attr& attr) {
  std::printf("\t\tport:\t%u\n", number);
  std::printf("\t\t\tstate:\t\t\t%s (%d)\n", name_of(kStates, attr.state, "invalid state"),
              attr.state);
  std::printf("\t\t\tmax_mtu:\t\t%s (%d)\n", name_of(kMtus, attr.max_mtu, "invalid MTU"),
              attr.max_mtu);
  std::printf("\t\t\tactive_mtu:\t\t%s (%d)\n", name_of(kMtus, attr.active_mtu, "invalid MTU"),
              attr.active_mtu);
  std::printf("\t\t\tsm_lid:\t\t\t%d\n", attr.sm_lid);
  std::printf("\t\t\tport_lid:\t\t%d\n", attr.lid);
  std::printf("\t\t\tport_lmc:\t\t0x%02x\n", attr.lmc);
  std::printf("\t\t\tlink_layer:\t\t%s\n", name_of(kLinkLayers, attr.link_layer, "Unknown"));
  std::printf("\t\t\tmax_msg_sz:\t\t0x%x\n", attr.max_msg_sz);
  std::printf("\t\t\tport_cap_flags:\t\t0x%08x\n", attr.port_cap_flags);
  std::printf("\t\t\tport_cap_flags2:\t0x%04x\n", attr.port_cap_flags2);
  std::printf("\t\t\tmax_vl_num:\t\t%s (%d)\n",
              name_of(kVirtualLanes, attr.max_vl_num, "invalid value"), attr.max_vl_num);
  std::printf("\t\t\tbad_pkey_cntr:\t\t0x%x\n", attr.bad_pkey_cntr);
  std::printf("\t\t\tqkey_viol_cntr:\t\t0x%x\n", attr.qkey_viol_cntr);
  std::printf("\t\t\tsm_sl:\t\t\t%d\n", attr.sm_sl);
  std::printf("\t\t\tpkey_tbl_len:\t\t%d\n", attr.pkey_tbl_len);
  std::printf("\t\t\tgid_tbl_len:\t\t%d\n", attr.gid_tbl_len);
  std::printf("\t\t\tsubnet_timeout:\t\t%d\n", attr.subnet_timeout);
  std::printf("\t\t\tinit_type_reply:\t%d\n", attr.init_type_reply);
  std::printf("\t\t\tactive_width:\t\t%sX (%d)\n",
              name_of(kWidths, attr.active_width, "invalid width"), attr.active_width);
  std::printf("\t\t\tactive_speed:\t\t%s (%d)\n",
              name_of(kSpeeds, attr.active_speed, "invalid speed"), attr.active_speed);
  std::printf("\t\t\tphys_state:\t\t%s (%d)\n",
              name_of(kPhysicalStates, attr.phys_state, "invalid physical state"), attr.phys_state);
}

// As an IPv6 address where it is one, else in groups.
void print_gid(const ibv_gid_entry& entry, std::uint8_t link_layer) {
  std::string text;
  if (entry.gid_type == IBV_GID_TYPE_ROCE_V2) {
    std::array<char, INET6_ADDRSTRLEN> address;
    text = ::inet_ntop(AF_INET6, entry.gid.raw, address.data(), address.size());
  } else {
    std::array<char, 8> group;
    for (std::size_t i = 0; i < sizeof entry.gid.raw; i += 2) {
      std::snprintf(group.data(), group.size(), "%s%02x%02x", i == 0 ? "" : ":", entry.gid.raw[i],
                    entry.gid.raw[i + 1]);
      text += group.data();
    }
  }
  const bool named = link_layer == IBV_LINK_LAYER_ETHERNET;
  const char* const type =
      entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? ", RoCE v2" : (named ? ", RoCE v1" : "");
  std::printf("\t\t\tGID[%3u]:\t\t%s%s\n", entry.gid_index, text.c_str(), type);
}

}  // namespace anyrdma::tools
