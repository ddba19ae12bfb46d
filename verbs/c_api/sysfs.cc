// Files of /sys. Devices of ours have no folder there, but a path below the one that they name is
// answered as the kernel would, with what the device itself says; any other path is read.
#include <endian.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/process.h"
#include "verbs/provider.h"

extern "C" int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, std::size_t size);

namespace anyrdma::c_api {
namespace {

using verbs::Provider;

constexpr std::string_view kPort = "ports/1/";

/// One device, opened for as long as it is asked.
struct Asked {
  Provider& provider;
  ibv_device& device;
  ibv_context* context;
};

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
  if (name == "fw_ver") return std::string(attr.fw_ver);
  return errno_code(ENOENT);
}

Result<std::string> of_port(const Asked& asked, std::string_view name) {
  ibv_port_attr attr{};
  const auto queried = asked.provider.query_port(asked.context, 1, &attr);
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

Result<std::string> of_table(const Asked& asked, std::string_view table, std::uint32_t index) {
  if (table == "pkeys/") {
    const auto key = asked.provider.query_pkey(asked.context, 1, static_cast<int>(index));
    if (!key) return errno_code(ENOENT);
    return text("0x%04x", be16toh(*key));
  }
  const auto entry = asked.provider.query_gid(asked.context, 1, index);
  if (!entry && entry.error() != errno_code(ENODATA)) return errno_code(ENOENT);
  if (table == "gids/") return in_groups((entry ? entry->gid : ibv_gid{}).raw, sizeof(ibv_gid));
  if (table != "gid_attrs/types/") return errno_code(ENOENT);
  if (!entry) return errno_code(EINVAL);  // as the kernel for an empty index
  return std::string(entry->gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1");
}

/// `name` is below the device's folder.
Result<std::string> answer(const Asked& asked, std::string_view name) {
  if (!name.starts_with(kPort)) return of_device(asked, name);
  name.remove_prefix(kPort.size());
  const std::size_t table = name.rfind('/') + 1;  // 0: none
  if (table == 0) return of_port(asked, name);
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(name.data() + table, name.data() + name.size(), index);
  if (error != std::errc{} || end != name.data() + name.size()) return errno_code(ENOENT);
  return of_table(asked, name.substr(0, table), index);
}

Result<std::string> answer(std::string_view path) {
  const auto transport = process_transport();
  if (!transport) return errno_code(ENOENT);
  for (ibv_device* const device : (*transport)->devices()) {
    const std::string_view own = device->ibdev_path;
    if (!path.starts_with(own) || path.size() == own.size() || path[own.size()] != '/') continue;
    Provider& provider = (*transport)->provider_of(device);
    const auto context = provider.open_device(device);
    if (!context) return context.error();
    auto said = answer({provider, *device, *context}, path.substr(own.size() + 1));
    const auto closed = provider.close_device(*context);
    if (!closed) return closed.error();
    return said;
  }
  return errno_code(ENOENT);
}

/// Without the line's end, as the callers expect it.
Result<std::string> read(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  if (!file) return errno == ENOENT ? answer(path) : errno_code(errno);
  std::array<char, 4096> buffer;  // a page: no attribute is longer
  const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get());
  if (std::ferror(file.get()) != 0) return errno_code(errno);
  std::string said(buffer.data(), count);
  if (said.ends_with('\n')) said.pop_back();
  return said;
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;

extern "C" {

// Cut to the buffer's size, and ended by a zero if there is room.
int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, std::size_t size) {
  if (dir == nullptr || file == nullptr || buf == nullptr) return fail(EINVAL);
  const auto said = guarded([&] { return read(std::string(dir) + "/" + file); });
  if (!said) return fail(said.error().value());
  const std::size_t length = std::min(said->size(), size);
  std::memcpy(buf, said->data(), length);
  if (length < size) buf[length] = '\0';
  return static_cast<int>(length);
}

const char* ibv_get_sysfs_path() {
  return "/sys";
}

}  // extern "C"
