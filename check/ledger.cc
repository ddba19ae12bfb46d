#include "check/ledger.h"

#include <map>

namespace anyrdma::check {
namespace {

constexpr std::string_view kLedger = "ledger";

}  // namespace

void Ledger::on_acknowledged(const IdName& id) {
  const auto found = owed_.find(id);
  if (found != owed_.end()) {
    if (--found->second == 0) owed_.erase(found);
    return;
  }
  violations_.add(kLedger, id.to_string() + ": an event was acknowledged that was not fetched");
}

void Ledger::on_crash(const std::string& host) {
  std::erase_if(owed_, [&](const auto& entry) { return entry.first.host() == host; });
}

void Ledger::on_end() {
  for (const auto& [id, owed] : std::map(owed_.begin(), owed_.end())) {
    violations_.add(kLedger, id.to_string() + ": " + std::to_string(owed) +
                                 " of its events were never acknowledged");
  }
}

}  // namespace anyrdma::check
