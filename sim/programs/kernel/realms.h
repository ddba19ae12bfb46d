// Sets of namespaces (sim/tracee/realm.h) that runs use one after the other, because creating one
// takes longer than many runs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/tracee/network.h"
#include "sim/tracee/realm.h"
#include "verbs/result.h"

namespace anyrdma::sim::programs {

/// The options of a set of namespaces. The content of mounted files may differ from run to run.
struct RealmOptions {
  tracee::RealmOptions realm;
  std::vector<tracee::InterfaceOptions> network;
};

/// A pool of namespace sets. Its destructor ends the sets that are not in use.
class Realms {
 public:
  /// Takes a set of namespaces from the pool: one without state of earlier runs, or a new one.
  /// Errors: as of tracee::Realm::create.
  [[nodiscard]] verbs::Result<std::unique_ptr<tracee::Realm>> take(const RealmOptions& options);
  /// Puts a set back for reuse. Call it after all processes in the set have ended. A set that
  /// cannot be restored to its initial state is destroyed.
  void give_back(const RealmOptions& options, std::unique_ptr<tracee::Realm> realm);

 private:
  std::vector<std::pair<std::string, std::unique_ptr<tracee::Realm>>> idle_;  ///< by their options
};

}  // namespace anyrdma::sim::programs
