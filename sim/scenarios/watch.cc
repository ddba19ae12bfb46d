#include "sim/scenarios/watch.h"

#include <memory>

#include "sim/findings.h"
#include "sim/host.h"
#include "sim/legality.h"
#include "sim/monitor.h"

namespace anyrdma::sim::scenarios {
namespace {

class Watch final : public Monitor {
 public:
  static std::unique_ptr<Monitor> make() { return std::make_unique<Watch>(); }

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
  void on_end(World&) override {
    legality_.on_end();
    for (const std::string& violation : legality_.violations()) complain(violation);
  }

  Legality legality_;
};

}  // namespace

void watch() {
  Monitor::install(&Watch::make);
}

}  // namespace anyrdma::sim::scenarios
