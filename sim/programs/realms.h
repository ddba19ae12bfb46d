// Realms (sim/tracee/realm.h) that runs take one after the other: to make one takes longer than
// many a run.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/tracee/network.h"
#include "sim/tracee/realm.h"
#include "verbs/result.h"

namespace anyrdma::sim::programs {

/// What is to be known of a realm before it is made.
struct RealmOptions {
  /// What is to be found in the place of what. What is in them may differ from run to run.
  std::vector<std::pair<std::string, std::string>> files;
  tracee::NetworkOptions network;
};

/// Ends those that nobody has taken.
class Realms {
 public:
  /// One that is new, or as good as that. Errors: as of tracee::Realm::create.
  [[nodiscard]] verbs::Result<std::unique_ptr<tracee::Realm>> take(const RealmOptions& options);
  /// For somebody else, once all processes there are gone. It is ended if something is left of
  /// them.
  void give_back(const RealmOptions& options, std::unique_ptr<tracee::Realm> realm);

 private:
  std::vector<std::pair<std::string, std::unique_ptr<tracee::Realm>>> idle_;  ///< by their options
};

}  // namespace anyrdma::sim::programs
