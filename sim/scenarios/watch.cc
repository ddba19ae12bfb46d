#include "sim/scenarios/watch.h"

#include <memory>

#include "sim/check/checkers.h"
#include "sim/findings.h"
#include "sim/monitor.h"

namespace anyrdma::sim::scenarios {
namespace {

class Watch final : public check::Checkers {
 public:
  static std::unique_ptr<Monitor> make() { return std::make_unique<Watch>(); }

 private:
  void on_end(World& world) override {
    Checkers::on_end(world);
    for (const std::string& violation : violations()) complain(violation);
  }
};

}  // namespace

void watch() {
  Monitor::install(&Watch::make);
}

}  // namespace anyrdma::sim::scenarios
