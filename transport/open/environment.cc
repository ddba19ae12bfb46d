#include "transport/open/environment.h"

#include <cerrno>
#include <cstdlib>
#include <sstream>

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

}  // namespace

std::string environment(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

std::string transport_of_environment() {
  return environment("ANYRDMA_TRANSPORT", "fabric");
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
  std::istringstream own(environment("ANYRDMA_ADDRESSES"));
  for (std::string text; std::getline(own, text, ',');) {
    const auto prefix = soft::Prefix::parse(text);
    if (!prefix) {
      return refused("ANYRDMA_ADDRESSES has '" + text +
                     "'. Give addresses such as 10.0.0.1/24, separated by commas.");
    }
    options.fabric.addresses.push_back(*prefix);
  }
  const std::string link = environment("ANYRDMA_LINK_LAYER", "ethernet");
  if (link == "infiniband") {
    options.fabric.link_layer = IBV_LINK_LAYER_INFINIBAND;
  } else if (link != "ethernet") {
    return refused("ANYRDMA_LINK_LAYER is '" + link + "'. Use ethernet or infiniband.");
  }
  std::istringstream addresses(environment("ANYRDMA_UDP_ADDRESS"));
  for (std::string address; std::getline(addresses, address, ',');) {
    options.udp.addresses.push_back(address);
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
