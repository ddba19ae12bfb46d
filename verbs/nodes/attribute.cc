#include "verbs/nodes/attribute.h"

#include <endian.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/number.h"

namespace anyrdma::verbs::nodes {
namespace {

constexpr std::string_view kPorts = "ports/";
constexpr std::string_view kOfDevice[] = {"node_type", "node_guid", "sys_image_guid",
                                          "node_desc", "fw_ver",    "hw_rev"};
constexpr std::string_view kOfPort[] = {"state",      "phys_state", "rate",
                                        "link_layer", "lid",        "lid_mask_count",
                                        "sm_lid",     "sm_sl",      "cap_mask"};

template <class... Values>
std::string text(const char* format, Values... values) {
  std::array<char, 64> buffer;
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

std::string in_groups(const std::uint8_t* bytes, std::size_t count) {
  std::string groups;
  for (std::size_t i = 0; i < count; i += 2) {
    groups += text(i == 0 ? "%02x%02x" : ":%02x%02x", bytes[i], bytes[i + 1]);
  }
  return groups;
}

std::string in_groups(__be64 guid) {
  std::array<std::uint8_t, sizeof guid> bytes;
  std::memcpy(bytes.data(), &guid, sizeof guid);
  return in_groups(bytes.data(), bytes.size());
}

Result<std::string> of_device(const Asked& asked, std::string_view name) {
  ibv_device_attr attr{};
  const auto queried = asked.provider.query_device(asked.context, &attr);
  if (!queried) return queried.error();
  if (name == "node_type") return std::string("1: CA");
  if (name == "node_guid") return in_groups(asked.provider.device_guid(&asked.device));
  if (name == "sys_image_guid") return in_groups(attr.sys_image_guid);
  if (name == "node_desc") return std::string(asked.device.name);
  if (name == "fw_ver") return std::string(attr.fw_ver);
  if (name == "hw_rev") return text("%x", attr.hw_ver);
  return errno_code(ENOENT);
}

Result<std::string> of_port(const Asked& asked, std::uint8_t port, std::string_view name) {
  ibv_port_attr attr{};
  const auto queried = asked.provider.query_port(asked.context, port, &attr);
  if (!queried) return queried.error();
  const bool active = attr.state == IBV_PORT_ACTIVE;
  const bool ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET;
  if (name == "state") return std::string(active ? "4: ACTIVE" : "1: DOWN");
  if (name == "phys_state") return std::string(active ? "5: LinkUp" : "3: Disabled");
  if (name == "rate") return std::string("100 Gb/sec (4X EDR)");  // as query_port says: 4X, 25 Gbps
  if (name == "link_layer") return std::string(ethernet ? "Ethernet" : "InfiniBand");
  if (name == "lid") return text("0x%x", attr.lid);
  if (name == "lid_mask_count") return text("%u", attr.lmc);
  if (name == "sm_lid") return text("0x%x", attr.sm_lid);
  if (name == "sm_sl") return text("%u", attr.sm_sl);
  if (name == "cap_mask") return text("0x%08x", attr.port_cap_flags);
  return errno_code(ENOENT);
}

Result<std::string> of_table(const Asked& asked, std::uint8_t port, std::string_view table,
                             std::uint32_t index) {
  if (table == "pkeys/") {
    const auto key = asked.provider.query_pkey(asked.context, port, static_cast<int>(index));
    if (!key) return errno_code(ENOENT);
    return text("0x%04x", be16toh(*key));
  }
  const auto entry = asked.provider.query_gid(asked.context, port, index);
  if (!entry && entry.error() != errno_code(ENODATA)) return errno_code(ENOENT);
  if (table == "gids/") return in_groups((entry ? entry->gid : ibv_gid{}).raw, sizeof(ibv_gid));
  if (table != "gid_attrs/types/") return errno_code(ENOENT);
  if (!entry) return errno_code(EINVAL);  // as the kernel for an empty index
  return std::string(entry->gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1");
}

}  // namespace

Result<std::string> attribute(const Asked& asked, std::string_view name) {
  if (!name.starts_with(kPorts)) return of_device(asked, name);
  name.remove_prefix(kPorts.size());
  const auto port = take_number<std::uint8_t>(name);
  if (!port || !name.starts_with('/')) return errno_code(ENOENT);
  name.remove_prefix(1);
  const std::size_t table = name.rfind('/') + 1;  // 0: none
  ibv_port_attr attr{};
  const auto queried = asked.provider.query_port(asked.context, *port, &attr);
  if (!queried && queried.error() == errno_code(EINVAL)) return errno_code(ENOENT);
  if (table == 0) return of_port(asked, *port, name);
  std::string_view rest = name.substr(table);
  const auto index = take_number<std::uint32_t>(rest);
  if (!index || !rest.empty()) return errno_code(ENOENT);
  return of_table(asked, *port, name.substr(0, table), *index);
}

Result<std::vector<std::string>> attribute_names(const Asked& asked) {
  ibv_device_attr device{};
  if (const auto queried = asked.provider.query_device(asked.context, &device); !queried)
    return queried.error();
  std::vector<std::string> names(std::begin(kOfDevice), std::end(kOfDevice));
  for (std::uint8_t number = 1; number <= device.phys_port_cnt; ++number) {
    ibv_port_attr port{};
    const auto queried = asked.provider.query_port(asked.context, number, &port);
    if (!queried) return queried.error();
    const std::string folder = std::string(kPorts) + std::to_string(number) + "/";
    for (const std::string_view name : kOfPort) names.push_back(folder + std::string(name));
    const auto add_table = [&](const char* table, int entries) {
      for (int i = 0; i < entries; ++i) names.push_back(folder + table + std::to_string(i));
    };
    add_table("pkeys/", port.pkey_tbl_len);
    add_table("gids/", port.gid_tbl_len);
    add_table("gid_attrs/types/", port.gid_tbl_len);
  }
  return names;
}

}  // namespace anyrdma::verbs::nodes
