#include "sim/machines/host_interfaces.h"

#include <string_view>
#include <utility>

#include "base/number.h"
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

/// The reason why not; empty: it is one.
std::string take_name(std::string_view name, InterfaceOptions& interface) {
  if (!is_name(name, kInterfaceNameMax) || name == "lo") {
    return in_quotes(name) +
           " is no name of an interface: letters, digits, '.', '-' and '_', at most 15 of them, "
           "with a letter or a digit first, and not 'lo'.";
  }
  interface.name = name;
  return "";
}

std::string take_device(std::string_view device, InterfaceOptions& interface) {
  if (!is_name(device, kDeviceNameMax) || number_of(device).empty()) {
    return in_quotes(device) +
           " is no name of an RDMA device: letters, digits, '.', '-' and '_', at most 63 of them, "
           "with a letter or a digit first and a number at the end, as in mlx5_0.";
  }
  interface.device.emplace().name = device;
  return "";
}

/// Whether the text is a number, and so names no device.
bool is_number(std::string_view text) {
  return !text.empty() && number_of(text).size() == text.size();
}

std::string take_port(std::string_view text, InterfaceOptions& interface) {
  interface.port = whole_number<decltype(interface.port)>(text).value_or(0);
  if (interface.port >= 1 && interface.port <= kInterfacesMax) return "";
  return in_quotes(text) + " is no number of a port: from 1 to " + std::to_string(kInterfacesMax) +
         ".";
}

/// Takes NAME, NAME/DEVICE, DEVICE/PORT or NAME/DEVICE/PORT.
std::string take_names(std::string_view text, InterfaceOptions& interface) {
  std::vector<std::string_view> parts;
  for (std::size_t slash = 0; parts.size() < 2 && (slash = text.find('/')) < text.size();) {
    parts.push_back(text.substr(0, slash));
    text.remove_prefix(slash + 1);
  }
  parts.push_back(text);
  if (parts.size() == 1) return take_name(parts[0], interface);
  const bool has_port = parts.size() == 3 || is_number(parts[1]);
  const std::size_t device = parts.size() == 2 && has_port ? 0 : 1;
  std::string problem = device == 0 ? "" : take_name(parts[0], interface);
  if (problem.empty()) problem = take_device(parts[device], interface);
  if (problem.empty() && has_port) problem = take_port(parts[device + 1], interface);
  return problem;
}

/// Whether the interface carries the port after that of the interface before it.
bool follows(const InterfaceOptions& interface, const InterfaceOptions& before) {
  return interface.device && before.device && interface.device->name == before.device->name &&
         interface.port == before.port + 1;
}

/// Why the names cannot stand side by side; empty: they can.
std::string conflict(std::span<const InterfaceOptions> all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].port > 1 && (i == 0 || !follows(all[i], all[i - 1]))) {
      return "port " + std::to_string(all[i].port) + " of " + in_quotes(rdma_name(all[i], i)) +
             " does not follow port " + std::to_string(all[i].port - 1) +
             " of that device. Give the ports of a device one after the other, from 1.";
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (interface_name(all[i], i) == interface_name(all[k], k))
        return "it has two interfaces " + in_quotes(interface_name(all[i], i)) + ". Rename one.";
      const std::string device = rdma_name(all[i], i);
      const std::string other = rdma_name(all[k], k);
      if (all[i].port == 1 && number_of(device) == number_of(other)) {
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

std::string port_name(const InterfaceOptions& interface, std::size_t index) {
  const std::string device = rdma_name(interface, index);
  return interface.port == 1 ? device : device + "/" + std::to_string(interface.port);
}

verbs::OrWhyNot<std::vector<InterfaceOptions>> parse_interfaces(
    std::span<const std::string> words) {
  std::vector<InterfaceOptions> all;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool named = equals != std::string::npos;
    if (named && !all.empty() && all.front().name.empty() && !all.front().device) {
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
