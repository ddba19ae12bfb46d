// What checkers hear of programs in processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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
  void on_entry(const recording::Entry& entry) override {
    using Kind = recording::EntryKind;
    const auto name = [](std::uint64_t event) {
      return std::string(transport::short_event_name(static_cast<rdma_cm_event_type>(event)));
    };
    const auto& n = entry.numbers;
    if (entry.kind == Kind::kLane) {
      const std::string_view lane = entry.texts[1];
      lanes_.emplace_back(lane.substr(0, lane.find('[')));
    } else if (entry.kind == Kind::kCalled) {
      heard().insert(lanes_.at(n[0]) + " " + std::string(entry.texts[0]) + " " +
                     std::to_string(n[2]));
    } else if (entry.kind == Kind::kQueued) {
      heard().insert(lanes_.at(n[0]) + " is given " + name(n[3]) +
                     (n[2] != 0 ? " of a listener" : ""));
    } else if (entry.kind == Kind::kFetched) {
      heard().insert(lanes_.at(n[0]) + " takes " + name(n[2]));
    } else if (entry.kind == Kind::kGone) {
      heard().insert(lanes_.at(n[0]) + " is gone");
    }
  }
  void on_end(World&) override {}

  std::vector<std::string> lanes_;
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
