#include "sim/machines/host_interfaces.h"

#include <string_view>
#include <utility>

#include "sim/machines/names.h"
#include "transport/soft/prefix.h"

namespace anyrdma::sim {
namespace {

using transport::soft::Prefix;

constexpr std::size_t kInterfaceNameMax = 15;  // IFNAMSIZ has one more
constexpr std::size_t kDeviceNameMax = 63;     // IBV_SYSFS_NAME_MAX has one more
constexpr std::string_view kDigits = "0123456789";

/// Files of a device have its number: /dev/infiniband/uverbs0.
std::string_view number_of(std::string_view device) {
  return device.substr(device.find_last_not_of(kDigits) + 1);
}

verbs::WhyNot refused(std::string sentence) {
  return {std::move(sentence)};
}

/// Takes NAME or NAME/DEVICE. Returns why not; empty: it is one.
std::string take_names(std::string_view text, InterfaceOptions& interface) {
  const std::size_t slash = text.find('/');
  const std::string_view name = text.substr(0, slash);
  if (!is_name(name, kInterfaceNameMax) || name == "lo") {
    return in_quotes(name) +
           " is no name of an interface: letters, digits, '.', '-' and '_', at most 15 of them, "
           "with a letter or a digit first, and not 'lo'.";
  }
  interface.name = name;
  if (slash == std::string_view::npos) return "";
  const std::string_view device = text.substr(slash + 1);
  if (!is_name(device, kDeviceNameMax) || number_of(device).empty()) {
    return in_quotes(device) +
           " is no name of an RDMA device: letters, digits, '.', '-' and '_', at most 63 of them, "
           "with a letter or a digit first and a number at the end, as in mlx5_0.";
  }
  interface.device.emplace().name = device;
  return "";
}

/// Why the names cannot stand side by side; empty: they can.
std::string conflict(std::span<const InterfaceOptions> all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (interface_name(all[i], i) == interface_name(all[k], k))
        return "it has two interfaces " + in_quotes(interface_name(all[i], i)) + ". Rename one.";
      const std::string device = rdma_name(all[i], i);
      const std::string other = rdma_name(all[k], k);
      if (number_of(device) == number_of(other)) {
        return "its RDMA devices " + in_quotes(other) + " and " + in_quotes(device) +
               " end with one number. Give each a number of its own.";
      }
    }
  }
  return "";
}

}  // namespace

std::string interface_name(const InterfaceOptions& interface, std::size_t index) {
  return interface.name.empty() ? "eth" + std::to_string(index) : interface.name;
}

std::string rdma_name(const InterfaceOptions& interface, std::size_t index) {
  return interface.device ? interface.device->name : "anyrdma" + std::to_string(index);
}

verbs::OrWhyNot<std::vector<InterfaceOptions>> parse_interfaces(
    std::span<const std::string> words) {
  std::vector<InterfaceOptions> all;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool named = equals != std::string::npos;
    if (named && !all.empty() && all.front().name.empty()) {
      return refused("the address " + in_quotes(all.front().addresses.front()) +
                     " is before the first interface with a name. Write NAME=ADDRESS.");
    }
    if (named || all.empty()) all.push_back({.addresses = {}, .rdma = false});
    if (named) {
      std::string problem = take_names(std::string_view(word).substr(0, equals), all.back());
      if (!problem.empty()) return refused(std::move(problem));
    }
    std::string address = named ? word.substr(equals + 1) : word;
    if (!Prefix::parse(address)) return refused(in_quotes(address) + " is no IP address.");
    all.back().addresses.push_back(std::move(address));
  }
  if (all.empty()) return refused("it has no address.");
  if (all.size() > kInterfacesMax)
    return refused("it has more than " + std::to_string(kInterfacesMax) + " interfaces.");
  if (std::string problem = conflict(all); !problem.empty()) return refused(std::move(problem));
  return all;
}

}  // namespace anyrdma::sim
