// The conversation of the examples with a device removed at every step, and a client with a bug
// that nothing but a removal at the right moment shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "examples/conversation.h"
#include "examples/talker.h"
#include "sim/explore/explore.h"
#include "sim/world.h"

namespace anyrdma::examples {
namespace {

using namespace std::chrono_literals;
using Client = void (*)(sim::Host& host, const sim::Address& server, Diary& diary);

sim::Scenario conversation_with(Client client_program) {
  return [client_program](const sim::Trial& trial) {
    Diary diary;
    sim::World world(trial.seed, trial.options());
    sim::Host& server = world.add_host("server", {"10.0.0.1"});
    sim::Host& client = world.add_host("client", {"10.0.0.2"});
    world.faults().inject(trial.plan).value();
    server.spawn(
        "serve", [&] { serve(server, diary); }, sim::Ending::kMayServe);
    client.spawn("ask", [&] { client_program(client, server.address(7471), diary); });
    world.run_for(30s);
    sim::heal(world);
    return sim::finish(world);
  };
}

sim::StepOptions removals() {
  return {
      .actions = {sim::RemoveDevice{"client", "anyrdma0"}, sim::RemoveDevice{"server", "anyrdma0"}},
      .faults_max = 2};
}

/// Like ask(), but once connected it knows one end of a connection only.
void ask_for_ever(sim::Host& host, const sim::Address& server, Diary& diary) {
  Talker self(host, diary);
  const auto id = self.make_id();
  const sockaddr_storage address = server.to_sockaddr();
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  if (!id->resolve_addr(nullptr, to, 2s)) return;
  if (!self.next_is(RDMA_CM_EVENT_ADDR_RESOLVED) || !id->resolve_route(2s)) return;
  if (!self.next_is(RDMA_CM_EVENT_ROUTE_RESOLVED)) return;
  Line line(*id);
  const rdma_conn_param param = parameters("hello");
  if (!id->connect(&param) || !self.next_is(RDMA_CM_EVENT_ESTABLISHED)) return;
  if (!host.sleep(1s)) return;
  static_cast<void>(id->disconnect().has_value());
  while (const std::optional<cm::Event> event = self.next()) {
    if (event->type() == RDMA_CM_EVENT_DISCONNECTED) return;
  }
}

TEST(Explored, TheConversationEndsWhereverADeviceIsRemoved) {
  const sim::Exploration found = sim::explore_steps(conversation_with(&ask), removals());

  EXPECT_FALSE(found.failure) << found.failure->to_string();
  EXPECT_GT(found.runs, 100u);
}

TEST(Explored, AClientThatKnowsOneEndOnlyHangs) {
  const sim::Exploration found = sim::explore_steps(conversation_with(&ask_for_ever), removals());

  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->trial.plan.faults.size(), 1u);
  EXPECT_THAT(found.failure->outcome.problem,
              ::testing::HasSubstr("client/ask waits for an event on an event channel"));
}

}  // namespace
}  // namespace anyrdma::examples
