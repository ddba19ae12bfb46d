#include "sim/testing/audit.h"

#include <gtest/gtest.h>

#include "sim/host.h"
#include "sim/legality.h"
#include "sim/monitor.h"
#include "sim/world.h"

namespace anyrdma::sim::testing {
namespace {

class Audit final : public Monitor {
 public:
  static std::unique_ptr<Monitor> make() { return std::make_unique<Audit>(); }

 private:
  void on_event(const Host& host, transport::EventObserver::Step step, std::uint64_t id,
                std::uint64_t listener, const rdma_cm_event& event) override {
    const bool datagram = event.id->qp_type == IBV_QPT_UD;
    legality_.on_event(host.name(), step, id, listener, event.event,
                       datagram ? Service::kDatagram : Service::kConnected);
  }
  void on_call(const Host& host, std::uint64_t id, std::string_view call, int error) override {
    legality_.on_call(host.name(), id, call, error);
  }
  void on_crash(const Host& host) override { legality_.on_crash(host.name()); }
  void on_rest(const World&) override { legality_.on_rest(); }
  void on_end(World& world) override {
    legality_.on_end();
    for (const std::string& violation : legality_.violations()) {
      ADD_FAILURE() << violation << " (seed " << world.seed() << ")\n" << world.faults().report();
    }
    if (!world.faults().unfired().empty()) {
      ADD_FAILURE() << "planned faults did not happen; mark them as maybe if that is fine:\n"
                    << world.faults().report();
    }
  }

  Legality legality_;
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
