#include "tools/nodes.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <vector>

#include "sim/machines/file_tree.h"
#include "transport/fabric/rendezvous/place.h"
#include "transport/soft/address.h"
#include "verbs/nodes/tree.h"
#include "verbs/provider.h"

namespace anyrdma::tools {
namespace {

namespace fs = std::filesystem;
using transport::soft::Address;
using verbs::Result;
using verbs::nodes::Files;

/// This machine's, and the interfaces that have them.
class Addresses {
 public:
  Addresses() {
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
  [[nodiscard]] std::string interface_with(const ibv_gid& gid) const {
    const auto found = names_.find(std::to_array(gid.raw));
    return found == names_.end() ? "" : found->second;
  }
  [[nodiscard]] std::string main_interface() const { return main_.empty() ? "lo" : main_; }

 private:
  std::map<std::array<std::uint8_t, sizeof(ibv_gid)>, std::string> names_;
  std::string main_;
};

Result<Files> describe(transport::Transport& transport) {
  const Addresses addresses;
  std::vector<verbs::nodes::Shown> devices;
  for (ibv_device* const device : transport.devices())
    devices.push_back({transport.provider_of(device), *device, {addresses.main_interface()}});
  return verbs::nodes::files_of(devices,
                                [&](const ibv_gid& gid) { return addresses.interface_with(gid); });
}

/// For whom it is not ours it is not there.
bool is_ours(const std::string& directory) {
  struct stat status {};
  return ::lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Written under another name and renamed, so that no process reads half of it.
std::string place(const std::string& parent, const std::string& name, const Files& files) {
  const std::string directory = parent + "/" + name;
  if (is_ours(directory)) return directory;
  std::string draft = parent + "/.anyrdma-nodes-XXXXXX";
  if (::mkdtemp(draft.data()) == nullptr) return "";
  std::error_code error;
  fs::permissions(draft, fs::perms(0755), error);
  if (!error && sim::write_tree(draft, files)) fs::rename(draft, directory, error);
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
