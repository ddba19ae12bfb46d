#include "transport/open/environment.h"

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number.h"
#include "transport/fault/plan/memory_question.h"
#include "transport/fault/plan/question.h"
#include "transport/soft/prefix.h"
#include "verbs/result.h"
#include "verbs/soft/device_profile.h"

namespace anyrdma::transport {
namespace {

OpenError refused(const std::string& sentence) {
  return {verbs::errno_code(EINVAL), sentence};
}

/// Takes "mlx5_0" or "mlx5_0/2". False: the port is not the one behind that of the last rail.
bool take_device(std::string_view text, const std::vector<fabric::Rail>& before,
                 fabric::Rail& rail) {
  const std::size_t slash = text.find('/');
  rail.device = text.substr(0, slash);
  if (slash == std::string_view::npos) return true;
  const auto port = whole_number<decltype(rail.port)>(text.substr(slash + 1));
  if (!port || *port < 2) return false;
  rail.port = *port;
  return !before.empty() && before.back().device == rail.device &&
         before.back().port + 1 == rail.port;
}

/// "mlx5_0=10.0.0.1/24,fe80::1/64"; the name of the device may be missing. "mlx5_0/2=10.0.1.1/24"
/// is the next port of the same device.
boost::system::result<fabric::Rail, OpenError> rail_of(const std::string& text,
                                                       const std::vector<fabric::Rail>& before) {
  fabric::Rail rail;
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && !take_device(text.substr(0, equals), before, rail)) {
    return refused("ANYRDMA_ADDRESSES has the port '" + text.substr(0, equals) +
                   "'. Give the ports of a device one after the other, the first one without a "
                   "number.");
  }
  std::istringstream own(equals == std::string::npos ? text : text.substr(equals + 1));
  for (std::string word; std::getline(own, word, ',');) {
    const auto prefix = soft::Prefix::parse(word);
    if (!prefix) {
      return refused("ANYRDMA_ADDRESSES has '" + word +
                     "'. Give addresses such as 10.0.0.1/24, separated by commas.");
    }
    rail.addresses.push_back(*prefix);
  }
  if (rail.addresses.empty())
    return refused("ANYRDMA_ADDRESSES has an interface without an address. Give it one.");
  return rail;
}

std::optional<std::size_t> number_of_rails(const std::string& text) {
  const auto number = whole_number<std::size_t>(text);
  if (!number || *number == 0 || *number > fabric::kRailsMax) return std::nullopt;
  return number;
}

}  // namespace

std::string environment(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

std::string transport_of_environment() {
  return environment("ANYRDMA_TRANSPORT", "fabric");
}

std::size_t rails_of_environment() {
  return number_of_rails(environment("ANYRDMA_RAILS", "1")).value_or(1);
}

boost::system::result<OpenOptions, OpenError> options_of_environment() {
  OpenOptions options;
  options.fabric.name = environment("ANYRDMA_FABRIC", options.fabric.name);
  options.fabric.directory = environment("ANYRDMA_DIR");
  if (!options.fabric.directory.empty() && options.fabric.directory.front() != '/') {
    return refused("ANYRDMA_DIR is '" + options.fabric.directory +
                   "', a relative path, which processes in other directories cannot find. Give an "
                   "absolute path.");
  }
  std::istringstream interfaces(environment("ANYRDMA_ADDRESSES"));
  for (std::string interface; std::getline(interfaces, interface, ';');) {
    auto rail = rail_of(interface, options.fabric.rails);
    if (!rail) return rail.error();
    options.fabric.rails.push_back(std::move(*rail));
    if (options.fabric.rails.size() > fabric::kRailsMax) {
      return refused("ANYRDMA_ADDRESSES has more than " + std::to_string(fabric::kRailsMax) +
                     " interfaces. Give fewer.");
    }
  }
  std::istringstream lids(environment("ANYRDMA_LIDS"));
  for (std::string lid; std::getline(lids, lid, ',');) {
    const auto port = soft::Prefix::parse(lid);
    if (!port) {
      return refused("ANYRDMA_LIDS has '" + lid +
                     "'. Give the addresses of the ports with the LIDs 1, 2, 3 ..., separated by "
                     "commas.");
    }
    options.fabric.lids.push_back(port->address.gid());
  }
  const std::string link = environment("ANYRDMA_LINK_LAYER", "ethernet");
  if (link == "infiniband") {
    options.fabric.link_layer = IBV_LINK_LAYER_INFINIBAND;
  } else if (link != "ethernet") {
    return refused("ANYRDMA_LINK_LAYER is '" + link + "'. Use ethernet or infiniband.");
  }
  const std::string rails = environment("ANYRDMA_RAILS", "1");
  const auto devices_of_fabric = number_of_rails(rails);
  if (!devices_of_fabric) {
    return refused("ANYRDMA_RAILS is '" + rails + "'. Give a number of devices from 1 to " +
                   std::to_string(fabric::kRailsMax) + ".");
  }
  options.fabric.devices = *devices_of_fabric;
  std::istringstream devices(environment("ANYRDMA_UDP_ADDRESS"));
  for (std::string device; std::getline(devices, device, ';');) {
    std::vector<std::string>& own = options.udp.devices.emplace_back();
    std::istringstream addresses(device);
    for (std::string address; std::getline(addresses, address, ',');) own.push_back(address);
  }
  // Without a semicolon the interfaces decide which device has an address.
  if (options.udp.devices.size() == 1) {
    options.udp.addresses = std::move(options.udp.devices.front());
    options.udp.devices.clear();
  }
  const auto device = verbs::soft::parse_profile(environment("ANYRDMA_DEVICE"));
  if (!device)
    return refused("ANYRDMA_DEVICE is no valid device profile: " + device.error().to_string() +
                   ".");
  options.fabric.device = options.udp.device = *device;
  options.record.path = environment("ANYRDMA_RECORD");
  options.record.host = environment("ANYRDMA_RECORD_HOST");
  options.asks_world = !environment(fault::kWorldVariable).empty();
  const std::string memory = environment(fault::kMemoryVariable, "strict");
  const auto profile = verbs::soft::memory_profile_of(memory);
  if (!profile) {
    return refused(std::string(fault::kMemoryVariable) + " is '" + memory +
                   "'. Use strict, spec, relaxed or unordered.");
  }
  options.memory = *profile;
  return options;
}

}  // namespace anyrdma::transport
