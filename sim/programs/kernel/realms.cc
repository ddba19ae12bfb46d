#include "sim/programs/kernel/realms.h"

#include <algorithm>

namespace anyrdma::sim::programs {
namespace {

std::string text_of(const RealmOptions& options) {
  std::string text;
  for (const auto& [source, target] : options.realm.files) text += source + '\n' + target + '\n';
  text += '\n';
  for (const auto& [source, target] : options.realm.common) text += source + '\n' + target + '\n';
  text += '\n' + options.realm.name + '\n';
  for (const tracee::InterfaceOptions& interface : options.network) {
    text += interface.name + '\n';
    text.append(interface.mac.begin(), interface.mac.end());
    for (const auto& prefix : interface.addresses) text += prefix.to_string() + '\n';
  }
  return text;
}

}  // namespace

verbs::Result<std::unique_ptr<tracee::Realm>> Realms::take(const RealmOptions& options) {
  const std::string wanted = text_of(options);
  const auto found =
      std::ranges::find_if(idle_, [&](const auto& each) { return each.first == wanted; });
  if (found != idle_.end()) {
    auto realm = std::move(found->second);
    idle_.erase(found);
    return realm;
  }
  tracee::Network network(options.network);
  return tracee::Realm::create(options.realm, &network);
}

void Realms::give_back(const RealmOptions& options, std::unique_ptr<tracee::Realm> realm) {
  if (realm->renew()) idle_.emplace_back(text_of(options), std::move(realm));
}

}  // namespace anyrdma::sim::programs
