#include "sim/testing/audit.h"

#include <gtest/gtest.h>

#include "sim/check/checkers.h"
#include "sim/findings.h"
#include "sim/monitor.h"
#include "sim/world.h"

namespace anyrdma::sim::testing {
namespace {

class Audit final : public check::Checkers {
 public:
  static std::unique_ptr<Monitor> make() { return std::make_unique<Audit>(); }

 private:
  void on_end(World& world) override {
    Checkers::on_end(world);
    for (const std::string& violation : violations()) {
      if (complain(violation)) continue;  // an exploration tells with its seed and plan
      ADD_FAILURE() << violation << " (seed " << world.seed() << ")\n" << world.faults().report();
    }
    if (!world.faults().unfired().empty()) {
      ADD_FAILURE() << "planned faults did not happen; mark them as maybe if that is fine:\n"
                    << world.faults().report();
    }
  }
};

[[maybe_unused]] const bool kInstalled = (Monitor::install(&Audit::make), true);

}  // namespace

void require_audit() {}

Unaudited::Unaudited() {
  Monitor::install(nullptr);
}

Unaudited::~Unaudited() {
  Monitor::install(&Audit::make);
}

}  // namespace anyrdma::sim::testing
