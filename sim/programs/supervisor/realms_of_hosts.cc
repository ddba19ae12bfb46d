// The namespaces of hosts, as far as the sandbox takes them from the pool and gives them back.
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "sim/programs/supervisor/sandbox.h"

namespace anyrdma::sim::programs {
namespace {

/// `error`: of a namespace that cannot be made.
std::string remedy_for(int error) {
  if (error == EMFILE || error == ENFILE) return "Raise the limit of open files (ulimit -n)";
  if (error == EAGAIN) return "Raise the limit of processes (ulimit -u)";
  if (error == ENOMEM) return "Free memory";
  return "Be root, or allow user namespaces (sysctl user.max_user_namespaces)";
}

}  // namespace

/// Without one its processes have the numbers that the system gives them.
const tracee::Realm* Sandbox::realm_of(const Host& host) {
  const auto [place, is_new] = realms_.try_emplace(&host);
  Taken& taken = place->second;
  if (!is_new) return taken.realm.get();
  taken.options.realm = {.common = options_.common, .name = host.name()};
  if (options_.files) taken.options.realm.files = options_.files(host);
  for (const auto& [source, target] : taken.options.realm.files) kernel().files.note_own(source);
  for (const Interface& each : host.interfaces())
    taken.options.network.push_back({each.name, each.mac, each.prefixes});
  Realms none;
  auto realm = (options_.realms == nullptr ? none : *options_.realms).take(taken.options);
  if (realm) {
    taken.realm = std::move(*realm);
    if (taken.realm->network() == tracee::Network::Made::kNothing)
      remark(
          "programs see this machine's network interfaces, so runs differ between machines: the "
          "system refuses a network namespace");
    if (!taken.realm->has_own_directories())
      remark(
          "hosts share files in /tmp, /dev/shm or /run with each other and with this machine: the "
          "system refuses to mount tmpfs or overlay");
  } else {
    remark("process ids differ from run to run: the system refuses a PID namespace (" +
           realm.error().message() + "). " + remedy_for(realm.error().value()));
  }
  return taken.realm.get();
}

/// A host whose programs have not begun gets its addresses when they do.
void change_address(Sandbox& sandbox, const Host& host, const std::string& interface,
                    const Prefix& prefix, bool added) {
  const auto found = sandbox.realms_.find(&host);
  if (found == sandbox.realms_.end() || found->second.realm == nullptr) return;
  if (!found->second.realm->change_address(interface, prefix, added)) {
    sandbox.remark(
        "the network of a host keeps an address that a fault has changed: the system refuses " +
        prefix.to_string());
  }
}

void Sandbox::note_objects(const Host& host) {
  const auto found = realms_.find(&host);
  if (found != realms_.end() && found->second.realm != nullptr) found->second.realm->note_objects();
}

/// All processes are gone.
void Sandbox::give_realms_back() {
  if (options_.realms == nullptr || realms_spoiled_) return;
  for (auto& [host, taken] : realms_) {
    if (taken.realm != nullptr) options_.realms->give_back(taken.options, std::move(taken.realm));
  }
}

}  // namespace anyrdma::sim::programs
