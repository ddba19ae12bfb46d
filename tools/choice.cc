#include "tools/choice.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "transport/open/environment.h"
#include "transport/open/real.h"
#include "verbs/soft/device_profile.h"

namespace anyrdma::tools {
namespace {

void say(const std::string& sentence) {
  std::fprintf(stderr, "anyrdma: %s\n", sentence.c_str());
}

/// The text of a device's profile. Nothing: said why.
std::optional<std::string> device_of(const std::string& name, const std::string& transport) {
  if (transport != "fabric" && transport != "udp") {
    say("the transport '" + transport +
        "' uses real devices, which --device cannot change. Use --device with fabric or udp.");
    return std::nullopt;
  }
  const auto names = verbs::soft::profile_names();
  if (std::ranges::find(names, name) != names.end()) return name;
  std::string known;
  for (const std::string_view each : names)
    known += (known.empty() ? "" : ", ") + std::string(each);
  std::ifstream file(name);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    say("there is no device profile and no readable file '" + name + "'. Profiles: " + known +
        ". See docs/devices.md.");
    return std::nullopt;
  }
  const auto device = verbs::soft::parse_profile(text.str());
  if (device) return text.str();
  say("the device file '" + name + "' is invalid: " + device.error().to_string() + ".");
  return std::nullopt;
}

void set(const char* variable, const std::string& value) {
  if (!value.empty()) ::setenv(variable, value.c_str(), 1);
}

}  // namespace

bool choose(const Choice& choice) {
  if (const std::string why = transport::why_not_real(choice.transport);
      !choice.transport.empty() && !why.empty()) {
    say(why);
    return false;
  }
  set("ANYRDMA_TRANSPORT", choice.transport);
  set("ANYRDMA_FABRIC", choice.fabric);
  set("ANYRDMA_LINK_LAYER", choice.link);
  set("ANYRDMA_RAILS", choice.rails);
  if (!choice.rails.empty() && transport::transport_of_environment() != "fabric") {
    say("--rails gives devices to the transport 'fabric' only. With udp each interface has a "
        "device; "
        "ANYRDMA_UDP_ADDRESS names others (docs/transports.md). With other transports the "
        "machine's devices are there. Leave out --rails, or use --transport fabric.");
    return false;
  }
  if (choice.device.empty()) return true;
  const auto device = device_of(choice.device, transport::transport_of_environment());
  if (device) set("ANYRDMA_DEVICE", *device);
  return device.has_value();
}

}  // namespace anyrdma::tools
