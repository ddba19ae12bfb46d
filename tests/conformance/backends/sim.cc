// Two simulated hosts, in virtual time.
#include <map>
#include <vector>

#include "sim/world.h"
#include "tests/conformance/backend.h"
#include "tests/conformance/backends/doors.h"
#include "verbs/assert.h"

namespace anyrdma::conformance {
namespace {

constexpr const char* kMoving = "192.0.2.10";

/// How often a fiber looks whether what it waits for has happened.
constexpr Duration kLook = std::chrono::microseconds(100);

class SimBackend final : public Backend {
 public:
  SimBackend() {
    // A neighbour for whom RDMA is a foreign word.
    (void)world_.add_host("deaf", {.interfaces = {{.addresses = {"192.0.2.9"}, .rdma = false}}});
    (void)world_.add_host("moving", {.interfaces = {{.addresses = {kMoving}, .rdma = false}}});
  }

  ~SimBackend() override { doors::forget_the_buried(); }

  const Calls& calls(Side side) override { return doors::enter(host(side).transport()); }
  rdma_cm_event* next_event(Side, rdma_event_channel* channel) override {
    return doors::next_event(channel);
  }
  void end(Side, rdma_event_channel* channel) override { doors::end(channel); }

  std::string address(Role role) override {
    static const std::map<Role, std::string> kAddresses = {
        {Role::kServer, "192.0.2.1"},    {Role::kServerOther, "192.0.2.3"},
        {Role::kClient, "192.0.2.2"},    {Role::kNobody, "192.0.2.77"},
        {Role::kDeaf, "192.0.2.9"},      {Role::kMoving, kMoving},
        {Role::kNowhere, "203.0.113.5"}, {Role::kForeign, "203.0.113.6"}};
    return kAddresses.at(role);
  }

  Instant now() override { return Instant(world_.now().time_since_epoch()); }

  bool wait_until(const std::function<bool()>& done, Duration patience) override {
    const verbs::Instant deadline = world_.now() + patience;
    if (sim::Host* const here = sim::Host::current(); here != nullptr) {
      while (!done()) {
        if (world_.now() >= deadline || !here->sleep(kLook)) return false;
      }
      return true;
    }
    if (world_.run_until(done, deadline)) return true;
    world_.run_for(deadline - world_.now());
    return done();
  }

  bool run_both(std::function<void()> server, std::function<void()> client,
                Duration patience) override {
    int ended = 0;
    const auto start = [&ended](sim::Host& host, std::function<void()> body) {
      host.spawn("main", [&ended, body = std::move(body)] {
        body();
        ++ended;
      });
    };
    start(server_, std::move(server));
    start(client_, std::move(client));
    if (world_.run_until([&] { return ended == 2; }, world_.now() + patience)) return true;
    CM_ASSERT(!"a scenario's both() does not end");
    return false;
  }

  void lose(Side from, Message message, unsigned count) override {
    static const std::map<Message, sim::CmMessage> kMessages = {
        {Message::kReq, sim::CmMessage::kReq},        {Message::kMra, sim::CmMessage::kMra},
        {Message::kRej, sim::CmMessage::kRej},        {Message::kRep, sim::CmMessage::kRep},
        {Message::kRtu, sim::CmMessage::kRtu},        {Message::kDreq, sim::CmMessage::kDreq},
        {Message::kDrep, sim::CmMessage::kDrep},      {Message::kSidrReq, sim::CmMessage::kSidrReq},
        {Message::kSidrRep, sim::CmMessage::kSidrRep}};
    sim::OnMessage trigger{.from = host(from).name(), .to = other(from).name()};
    trigger.message = kMessages.at(message);
    sim::FaultPlan plan;
    if (count == 0) plan.faults.push_back(with_occurrence(trigger, sim::kAll));
    for (unsigned i = 1; i <= count; ++i) plan.faults.push_back(with_occurrence(trigger, i));
    CM_ASSERT(world_.faults().inject(plan).has_value());
  }

  void remove_device(Side side) override {
    CM_ASSERT(host(side).devices().remove("anyrdma0").has_value());
  }
  void fail_over(Side side) override {
    CM_ASSERT(host(side).interfaces().fail_over("eth0").has_value());
  }
  void fail_back(Side side) override {
    CM_ASSERT(host(side).interfaces().fail_back("eth0").has_value());
  }
  void tell_of_neighbour(NeighbourNews news) override {
    sim::Host& neighbour = *world_.find_host("moving");
    switch (news) {
      case NeighbourNews::kElsewhere:
        return CM_ASSERT(neighbour.interfaces().fail_over("eth0").has_value());
      case NeighbourNews::kBack:
        return (void)neighbour.interfaces()
            .fail_back("eth0")
            .has_value();  // false: it has not been away
      case NeighbourNews::kAgain:
        return CM_ASSERT(client_.neighbours().confirm(kMoving).has_value());
      case NeighbourNews::kForgotten:
        return CM_ASSERT(client_.neighbours().forget(kMoving).has_value());
    }
  }

 private:
  [[nodiscard]] sim::Host& host(Side side) { return side == Side::kPassive ? server_ : client_; }
  [[nodiscard]] sim::Host& other(Side side) { return side == Side::kPassive ? client_ : server_; }
  [[nodiscard]] static sim::Fault with_occurrence(sim::OnMessage trigger, std::uint32_t n) {
    trigger.occurrence = n;
    return {.trigger = trigger, .action = sim::LoseMessage{}};
  }

  sim::World world_{1};
  sim::Host& server_ = world_.add_host("server", {"192.0.2.1", "192.0.2.3"});
  sim::Host& client_ = world_.add_host("client", {"192.0.2.2"});
};

}  // namespace

std::string_view backend_name() {
  return "sim";
}

std::string prepare_process() {
  return {};
}

std::unique_ptr<Backend> make_backend(unsigned) {
  return std::make_unique<SimBackend>();
}

}  // namespace anyrdma::conformance
