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

/// The options of a set of namespaces.
struct RealmOptions {
  /// Files that replace others. Their content may differ from run to run.
  std::vector<std::pair<std::string, std::string>> files;
  tracee::NetworkOptions network;
};

/// Ends sets that are not in use.
class Realms {
 public:
  /// A new set of namespaces, or a used one without traces. Errors: as of tracee::Realm::create.
  [[nodiscard]] verbs::Result<std::unique_ptr<tracee::Realm>> take(const RealmOptions& options);
  /// Returns a set for reuse, after all its processes have ended. It is destroyed if they have left
  /// something.
  void give_back(const RealmOptions& options, std::unique_ptr<tracee::Realm> realm);

 private:
  std::vector<std::pair<std::string, std::unique_ptr<tracee::Realm>>> idle_;  ///< by their options
};

}  // namespace anyrdma::sim::programs
