// A test of somebody else's project, as docs/testing.md shows it: nothing but installed headers and
// libraries. Those of the suite Broken fail on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sim/testing/kit.h>

namespace {

using anyrdma::testing::EventIs;
using anyrdma::testing::EventuallyEstablished;
using anyrdma::testing::HasPrivateData;
using anyrdma::testing::parameters;
using anyrdma::testing::Pipe;
using anyrdma::testing::Program;
using anyrdma::testing::SimTest;

class Handshake : public SimTest {
 protected:
  Handshake() {
    serve([this] {
      Program program(server());
      const auto listener = program.listen(server().address(7471));
      const auto id = program.expect_request();
      if (!id) return;
      Pipe pipe(*id);
      const rdma_conn_param answer = parameters("welcome");
      if (!id->accept(&answer)) return;
      while (program.next()) continue;
    });
  }

  template <class Body>
  void connect_then(Body body) {
    ask([this, body] {
      Program program(client());
      const auto id = program.resolve(server().address(7471));
      Pipe pipe(*id);
      const rdma_conn_param request = parameters("hello");
      id->connect(&request).value();
      body(program.channel());
      (void)id->disconnect().has_value();
    });
    run();
  }
};

TEST_F(Handshake, EndsEstablished) {
  connect_then([](auto& channel) { EXPECT_THAT(&channel, EventuallyEstablished()); });
}

TEST_F(Handshake, SurvivesTheLossOfItsRequest) {
  inject("on client->server REQ 1: lose");

  connect_then([](auto& channel) { EXPECT_THAT(&channel, EventuallyEstablished()); });
}

TEST_F(Handshake, RefusedTellsWhy) {
  inject("on server request 1: reject 28 6275737900");

  connect_then([](auto& channel) {
    const auto event = channel.get();
    ASSERT_TRUE(event);
    EXPECT_THAT(*event, EventIs(RDMA_CM_EVENT_REJECTED, 28));
    EXPECT_THAT(*event, HasPrivateData("busy"));
  });
}

class Broken : public Handshake {};

TEST_F(Broken, ExpectsAConnectionThatIsRefused) {
  inject("on server request 1: reject 28");

  connect_then([](auto& channel) { EXPECT_THAT(&channel, EventuallyEstablished()); });
}

TEST_F(Broken, PlansAFaultThatCannotHappen) {
  inject("on client->server REQ 1000: lose");

  connect_then([](auto& channel) { EXPECT_THAT(&channel, EventuallyEstablished()); });
}

}  // namespace
