// What checkers hear of programs in processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "sim/machines/running.h"
#include "sim/monitor.h"
#include "transport/event_name.h"

namespace anyrdma::sim {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::IsEmpty;

/// Without ids.
std::set<std::string>& heard() {
  static std::set<std::string> all;
  return all;
}

class Listener final : public Monitor {
 public:
  static std::unique_ptr<Monitor> make() { return std::make_unique<Listener>(); }

 private:
  using Kind = fault::Question::Kind;

  void on_event(const Host&, transport::EventObserver::Step, std::uint64_t, std::uint64_t,
                const rdma_cm_event&) override {}
  void on_call(const Host&, std::uint64_t, std::string_view, int) override {}
  void on_told(std::string_view process, const fault::Question& what) override {
    const auto event = static_cast<rdma_cm_event_type>(what.event);
    const std::string who(process.substr(0, process.find('[')));
    if (what.kind == Kind::kMade)
      heard().insert(who + " " + std::string(what.text()) + " " + std::to_string(what.status));
    if (what.kind == Kind::kQueued)
      heard().insert(who + " is given " + std::string(transport::short_event_name(event)) +
                     (what.listener != 0 ? " of a listener" : ""));
    if (what.kind == Kind::kFetched)
      heard().insert(who + " takes " + std::string(transport::short_event_name(event)));
  }
  void on_process_end(std::string_view process) override {
    heard().insert(std::string(process.substr(0, process.find('['))) + " is gone");
  }
  void on_rest(const World&) override {}
  void on_end(World&) override {}
};

class Watched : public ::testing::Test {
 protected:
  Watched() { heard().clear(); }
  ~Watched() override { Monitor::install(nullptr); }

  static std::uint64_t hash_of_a_run() {
    World world(7);
    Programs programs(world);
    ProgramHost& server = programs.add_host("server", {"10.0.0.1"});
    ProgramHost& client = programs.add_host("client", {"10.0.0.2"});
    (void)server.start({"rping", "-s", "-a", "10.0.0.1", "-C", "2"});
    (void)client.start({"rping", "-c", "-a", "10.0.0.1", "-C", "2"});
    EXPECT_TRUE(programs.run()) << programs.stuck_report();
    return world.trace().hash();
  }
};

TEST_F(Watched, CallsAndEventsOfProcessesAreHeardOf) {
  Monitor::install(&Listener::make);

  (void)hash_of_a_run();

  EXPECT_THAT(heard(),
              AllOf(Contains("client/rping resolve_addr 0"), Contains("client/rping connect 0"),
                    Contains("server/rping is given CONNECT_REQUEST of a listener"),
                    Contains("server/rping takes CONNECT_REQUEST"),
                    Contains("server/rping accept 0"), Contains("client/rping takes ESTABLISHED"),
                    Contains("server/rping takes DISCONNECTED"), Contains("client/rping is gone")));
}

TEST_F(Watched, ThatSomebodyListensChangesNothing) {
  const std::uint64_t alone = hash_of_a_run();
  EXPECT_THAT(heard(), IsEmpty());
  Monitor::install(&Listener::make);

  EXPECT_EQ(hash_of_a_run(), alone);
}

}  // namespace
}  // namespace anyrdma::sim
