// Requests that are refused, and by whom.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

constexpr std::size_t kRejectBytes = 148;
constexpr int kInvalidServiceId = 8;
constexpr int kConsumerDefined = 28;

class Reject : public ::testing::Test {
 protected:
  /// What the client is told after asking `to`.
  Seen ask(const Address& to) {
    auto id = client.resolve(to);
    Pipe pipe(*id);
    const rdma_conn_param param = parameters("hello");
    id->connect(&param).value();
    const std::optional<cm::Event> event = client.next();
    EXPECT_TRUE(event);
    return client.seen.back();
  }
  void inject(std::string_view plan) {
    EXPECT_TRUE(world.faults().inject(FaultPlan::parse(plan).value()));
  }

  World world{1};
  Host& client_host = world.add_host("client", {"192.0.2.1"});
  Host& server_host = world.add_host("server", {"192.0.2.2", "192.0.2.3"});
  Program client{client_host};
  Program server{server_host};
};

TEST_F(Reject, APlannedRejectionArrivesWithItsReasonAndAll148Bytes) {
  std::string hex;
  for (std::size_t i = 0; i < kRejectBytes; ++i) hex += "a5";
  inject("on server request 1: reject 28 " + hex);
  auto listener = server.listen(server_host.address(kPort));

  const Seen seen = ask(server_host.address(kPort));

  EXPECT_EQ(seen.type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(seen.status, kConsumerDefined);
  EXPECT_EQ(seen.data, std::vector<std::uint8_t>(kRejectBytes, 0xa5));
  server.take_all();
  EXPECT_TRUE(server.seen.empty());  // the listener never heard of it
  EXPECT_TRUE(world.faults().unfired().empty());
}

TEST_F(Reject, OnlyThePlannedRequestIsRejected) {
  inject("on server request 2: reject 3");
  auto listener = server.listen(server_host.address(kPort));
  server_host.spawn("main", [&] {
    while (auto request = server.expect_request()) {
      Pipe pipe(*request);
      const rdma_conn_param param = parameters("");
      request->accept(&param).value();
      if (!server.next()) return;  // ESTABLISHED
      if (!server.next()) return;  // DISCONNECTED, because the client's id is gone
    }
  });

  EXPECT_EQ(ask(server_host.address(kPort)).type, RDMA_CM_EVENT_ESTABLISHED);
  const Seen second = ask(server_host.address(kPort));
  EXPECT_EQ(ask(server_host.address(kPort)).type, RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_EQ(second.type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(second.status, 3);
}

TEST_F(Reject, WithoutAListenerTheReasonIsInvalidServiceIdAndTheDataZeros) {
  const Seen seen = ask(server_host.address(kPort));

  EXPECT_EQ(seen.type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(seen.status, kInvalidServiceId);
  EXPECT_EQ(seen.data, std::vector<std::uint8_t>(kRejectBytes));
}

TEST_F(Reject, AListenerOnAnotherAddressOfTheHostMeansConsumerDefined) {
  auto listener = server.listen(Address::ipv4(0xc0000203, kPort));

  const Seen seen = ask(server_host.address(kPort));

  EXPECT_EQ(seen.type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(seen.status, kConsumerDefined);
  EXPECT_EQ(seen.data, std::vector<std::uint8_t>(kRejectBytes));
}

TEST_F(Reject, TheUsersOwnRejectionCarriesItsData) {
  auto listener = server.listen(server_host.address(kPort));
  server_host.spawn("main", [&] {
    auto request = server.expect_request();
    const auto no = padded("no", 2);
    request->reject(no).value();
  });

  const Seen seen = ask(server_host.address(kPort));

  EXPECT_EQ(seen.status, kConsumerDefined);
  EXPECT_EQ(seen.data, padded("no", kRejectBytes));
}

TEST_F(Reject, APlanThatNamesNobodyIsRefusedWithItsLine) {
  const auto result = world.faults().inject(
      FaultPlan::parse("at 1s: remove server anyrdma0\non nobody request 1: reject 28").value());

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().line, 2u);
  EXPECT_EQ(result.error().reason, "no host 'nobody'");
  EXPECT_TRUE(world.faults().status().empty());
}

}  // namespace
}  // namespace anyrdma::sim::testing
