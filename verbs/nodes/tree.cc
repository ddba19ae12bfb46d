#include "verbs/nodes/tree.h"

#include <array>
#include <cstdint>
#include <cstdio>

#include "verbs/nodes/attribute.h"

namespace anyrdma::verbs::nodes {
namespace {

constexpr const char* kDevices = "/sys/class/infiniband/";
constexpr const char* kVerbs = "/sys/class/infiniband_verbs/";
constexpr const char* kManagement = "/sys/class/infiniband_mad/";
constexpr const char* kNodes = "/dev/infiniband/";
constexpr const char* kVerbsAbi = "6";       // IB_USER_VERBS_ABI_VERSION
constexpr const char* kManagementAbi = "5";  // IB_USER_MAD_ABI_VERSION

std::string hex(unsigned value) {
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), "0x%04x", value);
  return text.data();
}

/// What only a device on a bus has: programs read there which device it is, and where.
Result<void> add_bus(Files& files, const std::string& folder, const Asked& asked,
                     const std::vector<std::string>& interfaces) {
  ibv_device_attr attr{};
  if (auto queried = asked.provider.query_device(asked.context, &attr); !queried)
    return queried.error();
  files[folder + "device/vendor"] = hex(attr.vendor_id);
  files[folder + "device/device"] = hex(attr.vendor_part_id);
  files[folder + "device/numa_node"] = "-1";
  for (const std::string& interface : interfaces)
    files[folder + "device/net/" + interface + "/"] = "";
  files[folder + "parent"] = interfaces.front();  // of a virtual device, as rxe's
  return {};
}

Result<void> add_device(Files& files, const Asked& asked,
                        const std::vector<std::string>& interfaces, const InterfaceWith& with) {
  const std::string name = asked.device.name;
  const std::string folder = kDevices + name + "/";
  const auto names = attribute_names(asked);
  if (!names) return names.error();
  for (const std::string& each : *names) {
    const auto said = attribute(asked, each);
    files[folder + each] = said ? *said : "";
  }
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    const std::string port = folder + "ports/" + std::to_string(i + 1);
    for (std::uint32_t index = 0;; ++index) {
      const std::string number = std::to_string(index);
      if (!files.contains(port + "/gids/" + number)) break;
      const auto entry =
          asked.provider.query_gid(asked.context, static_cast<std::uint8_t>(i + 1), index);
      files[port + "/gid_attrs/ndevs/" + number] = entry ? with(entry->gid) : "";
    }
  }
  return add_bus(files, folder, asked, interfaces);
}

}  // namespace

Result<Files> files_of(std::span<const Shown> devices, const InterfaceWith& with) {
  Files files{{std::string(kNodes) + "rdma_cm", ""},
              {std::string(kVerbs) + "abi_version", kVerbsAbi},
              {std::string(kManagement) + "abi_version", kManagementAbi}};
  int number = 0;
  for (const auto& [provider, device, interfaces] : devices) {
    const auto context = provider.open_device(&device);
    if (!context) return context.error();
    const Result<void> added = add_device(files, {provider, device, *context}, interfaces, with);
    const Result<void> closed = provider.close_device(*context);
    if (!added) return added.error();
    if (!closed) return closed.error();
    const std::string verbs = device.dev_name;  // "uverbs0"
    files[kVerbs + verbs + "/ibdev"] = device.name;
    files[kVerbs + verbs + "/abi_version"] = "1";
    files[kNodes + verbs] = "";
    for (std::size_t port = 1; port <= interfaces.size(); ++port) {
      const std::string umad = kManagement + ("umad" + std::to_string(number++));
      files[umad + "/ibdev"] = device.name;
      files[umad + "/port"] = std::to_string(port);
    }
  }
  return files;
}

}  // namespace anyrdma::verbs::nodes
