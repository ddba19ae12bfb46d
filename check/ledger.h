// The checker of acknowledgements: an application must acknowledge each CM event that it fetches
// exactly once.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "check/violations.h"

namespace anyrdma::check {

class Ledger {
 public:
  explicit Ledger(Violations& violations) : violations_(violations) {}

  /// Call when the application has fetched an event. `id` is the id that counts the event: the
  /// listener for CONNECT_REQUEST, else the event's own id.
  void on_fetched(const IdName& id) { ++owed_[id]; }
  void on_acknowledged(const IdName& id);
  void on_crash(const std::string& host);
  void on_end();

 private:
  Violations& violations_;
  std::unordered_map<IdName, std::uint64_t, IdName::Hash> owed_;  ///< at least 1
};

}  // namespace anyrdma::check
