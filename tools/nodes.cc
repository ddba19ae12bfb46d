#include "tools/nodes.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "transport/fabric/rendezvous/place.h"
#include "transport/soft/address.h"
#include "verbs/nodes/attribute.h"
#include "verbs/provider.h"

namespace anyrdma::tools {
namespace {

namespace fs = std::filesystem;
using transport::soft::Address;
using verbs::Result;
using verbs::nodes::Asked;

/// What is written, by its path; a folder that is to be empty ends with a slash.
using Files = std::map<std::string, std::string>;

constexpr const char* kDevices = "/sys/class/infiniband/";
constexpr const char* kVerbs = "/sys/class/infiniband_verbs/";
constexpr const char* kManagement = "/sys/class/infiniband_mad/";
constexpr const char* kVerbsAbi = "6";       // IB_USER_VERBS_ABI_VERSION
constexpr const char* kManagementAbi = "5";  // IB_USER_MAD_ABI_VERSION

/// The network interfaces, by address.
class Interfaces {
 public:
  Interfaces() {
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) return;
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, &::freeifaddrs);
    for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
      if (each->ifa_addr == nullptr) continue;
      const auto address = Address::from(*each->ifa_addr);
      if (!address) continue;
      names_.emplace(std::to_array(address->gid().raw), each->ifa_name);
      if (main_.empty() && (each->ifa_flags & IFF_LOOPBACK) == 0) main_ = each->ifa_name;
    }
  }
  /// Empty: no interface has it.
  [[nodiscard]] std::string with(const ibv_gid& gid) const {
    const auto found = names_.find(std::to_array(gid.raw));
    return found == names_.end() ? "" : found->second;
  }
  /// The one that the device would be on.
  [[nodiscard]] std::string main() const { return main_.empty() ? "lo" : main_; }

 private:
  std::map<std::array<std::uint8_t, sizeof(ibv_gid)>, std::string> names_;
  std::string main_;
};

std::string hex(unsigned value) {
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), "0x%04x", value);
  return text.data();
}

/// What only a device on a bus has: programs read there which device it is, and where.
Result<void> add_bus(Files& files, const std::string& folder, const Asked& asked,
                     const std::string& interface) {
  ibv_device_attr attr{};
  if (auto queried = asked.provider.query_device(asked.context, &attr); !queried)
    return queried.error();
  files[folder + "device/vendor"] = hex(attr.vendor_id);
  files[folder + "device/device"] = hex(attr.vendor_part_id);
  files[folder + "device/numa_node"] = "-1";
  files[folder + "device/net/" + interface + "/"] = "";
  files[folder + "parent"] = interface;  // of a virtual device, as rxe's
  return {};
}

Result<void> add_device(Files& files, const Asked& asked, const Interfaces& interfaces) {
  const std::string name = asked.device.name;
  const std::string folder = kDevices + name + "/";
  const auto names = verbs::nodes::attribute_names(asked);
  if (!names) return names.error();
  for (const std::string& each : *names) {
    const auto said = verbs::nodes::attribute(asked, each);
    files[folder + each] = said ? *said : "";
  }
  for (std::uint32_t index = 0;; ++index) {
    const std::string number = std::to_string(index);
    if (!files.contains(folder + "ports/1/gids/" + number)) break;
    const auto entry = asked.provider.query_gid(asked.context, 1, index);
    files[folder + "ports/1/gid_attrs/ndevs/" + number] = entry ? interfaces.with(entry->gid) : "";
  }
  return add_bus(files, folder, asked, interfaces.main());
}

Result<Files> describe(transport::Transport& transport) {
  const Interfaces interfaces;
  Files files{{std::string(kVerbs) + "abi_version", kVerbsAbi},
              {std::string(kManagement) + "abi_version", kManagementAbi}};
  int number = 0;
  for (ibv_device* const device : transport.devices()) {
    verbs::Provider& provider = transport.provider_of(device);
    const auto context = provider.open_device(device);
    if (!context) return context.error();
    const Result<void> added = add_device(files, {provider, *device, *context}, interfaces);
    const Result<void> closed = provider.close_device(*context);
    if (!added) return added.error();
    if (!closed) return closed.error();
    const std::string nth = std::to_string(number++);
    files[kVerbs + ("uverbs" + nth) + "/ibdev"] = device->name;
    files[kVerbs + ("uverbs" + nth) + "/abi_version"] = "1";
    files[kManagement + ("umad" + nth) + "/ibdev"] = device->name;
    files[kManagement + ("umad" + nth) + "/port"] = "1";
  }
  return files;
}

/// For whom it is not ours it is not there.
bool is_ours(const std::string& directory) {
  struct stat status {};
  return ::lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool write(const std::string& directory, const Files& files) {
  std::error_code error;
  for (const auto& [path, content] : files) {
    const fs::path file = directory + path;
    fs::create_directories(file.parent_path(), error);
    if (path.ends_with('/')) continue;
    std::ofstream out(file);
    if (!content.empty()) out << content << '\n';
    out.close();
    if (!out) return false;
  }
  // The nodes: what programs may do with them, they may do with this.
  const fs::path nodes = directory + "/dev/infiniband";
  fs::create_directories(nodes, error);
  for (const auto& [path, content] : files) {
    if (!path.starts_with(kVerbs) || !path.ends_with("/ibdev")) continue;
    fs::create_symlink("/dev/null", nodes / fs::path(path).parent_path().filename(), error);
    if (error) return false;
  }
  fs::create_symlink("/dev/null", nodes / "rdma_cm", error);
  return !error;
}

/// Written beside its place and moved there, so that nobody sees half of it.
std::string place(const std::string& parent, const std::string& name, const Files& files) {
  const std::string directory = parent + "/" + name;
  if (is_ours(directory)) return directory;
  std::string draft = parent + "/.anyrdma-nodes-XXXXXX";
  if (::mkdtemp(draft.data()) == nullptr) return "";
  std::error_code error;
  fs::permissions(draft, fs::perms(0755), error);
  if (!error && write(draft, files)) fs::rename(draft, directory, error);
  if (fs::exists(draft)) fs::remove_all(draft, error);
  return is_ours(directory) ? directory : "";
}

}  // namespace

std::string make_nodes(transport::Transport& transport) {
  const auto files = describe(transport);
  if (!files) return "";
  std::string all;
  for (const auto& [path, content] : *files) all += path + '\n' + content + '\n';
  const std::string name = "anyrdma-nodes-" + std::to_string(::geteuid()) + "-" +
                           std::to_string(std::hash<std::string>()(all));
  for (const std::string& parent : transport::fabric::Place::parents({})) {
    if (std::string made = place(parent, name, *files); !made.empty()) return made;
  }
  return "";
}

}  // namespace anyrdma::tools
