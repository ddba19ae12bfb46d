#include "sim/machines/machines.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "transport/fault/plan/question.h"
#include "verbs/assert.h"

namespace anyrdma::sim {

Place::Place() {
  std::string name = std::filesystem::temp_directory_path() / "anyrdma-sim.XXXXXX";
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

Place::~Place() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

Machines::Machines(World& world, programs::SandboxOptions options)
    : world_(world), sandbox_(world, with_files(std::move(options))) {
  sandbox_.set_pump([this] { pump(); });
}

Machines::~Machines() = default;

boost::system::result<Host*, std::string> Machines::add_host(
    const std::string& name, const std::vector<std::string>& addresses) {
  Host& host = world_.add_host(name, {.interfaces = {{.addresses = addresses, .rdma = false}}});
  const std::filesystem::path directory = place_.path() / name;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error) {
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  }
  if (error) return "no place can be made for the host " + name + ": " + error.message() + ".";
  auto gateway = Gateway::create(host, directory);
  if (!gateway) {
    return "no network can be made for the host " + name + ": " + gateway.error().message() + ".";
  }
  (*gateway)->set_delivered([this] { sandbox_.look(); });
  (*gateway)->set_on_crash([this, &host] { sandbox_.crash(host); });
  gateways_.emplace_back(&host, std::move(*gateway));
  return &host;
}

std::map<std::string, std::string> Machines::variables(const Host& host) const {
  const auto gateway =
      std::ranges::find_if(gateways_, [&](const auto& each) { return each.first == &host; });
  CM_ASSERT(gateway != gateways_.end());
  std::map<std::string, std::string> all;
  for (const std::string& entry : gateway->second->environment()) {
    const std::size_t equals = entry.find('=');
    all[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  all[fault::kWorldVariable] = "1";
  return all;
}

/// What processes have sent goes into the world, and what has come for them wakes them.
void Machines::pump() {
  for (auto& [host, gateway] : gateways_) gateway->poll();
}

programs::SandboxOptions Machines::with_files(programs::SandboxOptions options) {
  options.directory = place_.path();
  options.files = [this](const Host& host) { return files_of(host); };
  return options;
}

/// Names of the world's hosts, for getaddrinfo(3).
std::vector<std::pair<std::string, std::string>> Machines::files_of(const Host& host) const {
  const std::filesystem::path names = place_.path() / (host.name() + ".hosts");
  std::ofstream file(names);
  file << "127.0.0.1 localhost\n::1 localhost\n";
  for (const auto& each : world_.hosts()) {
    for (std::size_t i = 0; i < each->interfaces(); ++i) {
      for (const Prefix& prefix : each->prefixes(i)) {
        if (prefix.address.is_link_local()) continue;  // it needs a scope as well
        const std::string text = prefix.to_string();
        file << text.substr(0, text.find('/')) << ' ' << each->name() << '\n';
      }
    }
  }
  const std::filesystem::path own = place_.path() / (host.name() + ".name");
  std::ofstream(own) << host.name() << '\n';
  return {{names.string(), "/etc/hosts"}, {own.string(), "/etc/hostname"}};
}

}  // namespace anyrdma::sim
