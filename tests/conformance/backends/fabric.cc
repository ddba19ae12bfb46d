// Two members of a fabric, in one process.
#include <map>

#include "tests/conformance/backends/doors.h"
#include "tests/conformance/backends/realtime.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/rendezvous/testing/scratch.h"

namespace anyrdma::conformance {
namespace {

const std::map<Role, std::string>& addresses() {
  static const std::map<Role, std::string> kAddresses = {
      {Role::kServer, "192.0.2.1"},    {Role::kServerOther, "192.0.2.3"},
      {Role::kClient, "192.0.2.2"},    {Role::kNobody, "192.0.2.77"},
      {Role::kNowhere, "203.0.113.5"}, {Role::kForeign, "203.0.113.6"},
      {Role::kDeaf, "192.0.2.9"},      {Role::kMoving, "192.0.2.10"}};
  return kAddresses;
}

class FabricBackend final : public RealtimeBackend {
 public:
  ~FabricBackend() override { doors::forget_the_buried(); }

  const Calls& calls(Side side) override {
    return doors::enter((side == Side::kPassive ? server_ : client_)->transport());
  }
  void end(Side, rdma_event_channel* channel) override { doors::end(channel); }
  std::string address(Role role) override { return addresses().at(role); }

 private:
  transport::fabric::testing::Scratch scratch_;
  std::unique_ptr<transport::fabric::Fabric> server_ =
      transport::fabric::Fabric::open(scratch_.config()).value();
  std::unique_ptr<transport::fabric::Fabric> client_ =
      transport::fabric::Fabric::open(scratch_.config()).value();
};

}  // namespace

std::string_view backend_name() {
  return "fabric";
}

// The machine's own addresses could be anything: a network of our own has what scenarios speak of.
std::string prepare_process() {
  return enter_own_network({addresses().at(Role::kServer), addresses().at(Role::kServerOther),
                            addresses().at(Role::kClient)});
}

std::unique_ptr<Backend> make_backend(unsigned) {
  return std::make_unique<FabricBackend>();
}

}  // namespace anyrdma::conformance
