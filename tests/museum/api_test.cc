// Section G: Private data, options, API sharp edges
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/museum/exhibit.h"
#include "tests/semantics/scenario.h"

namespace anyrdma::museum {
namespace {

using semantics::Address;
using semantics::error_of;
using semantics::kConsumerDefined;
using semantics::parameters;
using semantics::Party;
using semantics::Seen;
using ::testing::Each;
using ::testing::Gt;

class Sharp : public semantics::Scenario {
 protected:
  rdma_cm_id* ask(std::string_view data, rdma_port_space space = RDMA_PS_TCP) {
    rdma_cm_id* id = client.routed(kServer, space);
    if (space == RDMA_PS_UDP) Party::make_qp(id);
    rdma_conn_param param = parameters(data);
    EXPECT_EQ(error_of(rdma_connect(id, &param)), 0);
    return id;
  }
  void accept(rdma_cm_id* id, std::string_view data) {
    if (id->ps == RDMA_PS_UDP) Party::make_qp(id);
    rdma_conn_param param = parameters(data);
    EXPECT_EQ(error_of(rdma_accept(id, &param)), 0);
  }
};

// --- 40: private data ---------------------------------------------------------------------------

// Exhibit 40: The private data of a program's connect request grew over the years. It fit on other
// transports, but not on InfiniBand and RoCE, where a request carries 56 bytes of private data:
// rdma_connect fails before anything is sent.
// https://github.com/ovis-hpc/ldms/pull/2258
// https://github.com/ovis-hpc/ldms/pull/2277
TEST_F(Sharp, TheConnectMessageDoesNotFit) {
  constexpr std::size_t kHeader = 5;
  server.listen(kServer);
  const auto connect_with = [this](std::size_t size) {
    const std::string message(kHeader + size, 'm');
    rdma_conn_param param = parameters(message);
    return error_of(rdma_connect(client.routed(kServer), &param));
  };

  EXPECT_EQ(connect_with(64), EINVAL) << "the long form";
  EXPECT_EQ(connect_with(51), 0) << "the short form for such links";
}

/// What a peer sends to introduce itself.
struct Introduction {
  char words[40] = "40 bytes";
};

// Exhibit 40: A CM event's private_data_len is the length of the message's field, never the length
// that the peer set. A program that compares it with a structure's size refuses every peer, and one
// that copies that many bytes overflows the structure.
// https://github.com/ofiwg/libfabric/pull/3490
TEST_F(Sharp, TheLengthIsNotThePeers) {
  const Introduction mine;
  const std::string_view data(reinterpret_cast<const char*>(&mine), sizeof mine);
  server.listen(kServer);
  server.listen(kServer, 8, RDMA_PS_UDP);
  std::vector<std::size_t> lengths;
  const auto hear = [&](Party& party, rdma_cm_event_type type) {
    const Seen seen = party.take(type);
    lengths.push_back(seen.data.size());
    EXPECT_EQ(std::memcmp(seen.data.data(), &mine, sizeof mine), 0) << "the first bytes are";
    return seen.id;
  };

  ask(data);
  EXPECT_EQ(error_of(rdma_reject(hear(server, RDMA_CM_EVENT_CONNECT_REQUEST), &mine, sizeof mine)),
            0);
  hear(client, RDMA_CM_EVENT_REJECTED);
  ask(data);
  accept(hear(server, RDMA_CM_EVENT_CONNECT_REQUEST), data);
  hear(client, RDMA_CM_EVENT_CONNECT_RESPONSE);
  ask(data, RDMA_PS_UDP);
  accept(hear(server, RDMA_CM_EVENT_CONNECT_REQUEST), data);
  hear(client, RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_EQ(lengths, (std::vector<std::size_t>{56, 148, 56, 196, 180, 136}));
  EXPECT_THAT(lengths, Each(Gt(sizeof mine)));
}

// --- 41: fakes that are made by hand ------------------------------------------------------------

/// A fake connection manager as applications carry them with their tests.
struct HandMadeFake {
  bool refuses = false;

  [[nodiscard]] Seen connect(std::string_view asked) const {
    [[maybe_unused]] const std::string refusal = "E";  // made with care; then the other is sent
    Seen seen;
    seen.event = refuses ? RDMA_CM_EVENT_REJECTED : RDMA_CM_EVENT_ESTABLISHED;
    seen.data.assign(asked.begin(), asked.end());
    return seen;
  }
};

/// The application under test: asks once more if the server had an error, which 'E' says.
bool asks_again(const Seen& refused) {
  return !refused.data.empty() && refused.data[0] == 'E';
}

// Exhibit 41: A storage product tests with a fake librdmacm that answers a refused connect with the
// client's own private data instead of the server's. With that fake, a client that reads its own
// data passes the test.
// https://github.com/ydb-platform/nbs/blob/ea40db9/cloud/blockstore/libs/rdma/impl/test_verbs.cpp
TEST_F(Sharp, AFakeEchoesWhereTheServerAnswers) {
  EXPECT_TRUE(asks_again(HandMadeFake{.refuses = true}.connect("Early bird")));
  EXPECT_EQ(HandMadeFake{}.connect("Early bird").event, RDMA_CM_EVENT_ESTABLISHED);

  server.listen(kServer);
  ask("Early bird");
  EXPECT_EQ(error_of(rdma_reject(server.take_request(), "no", 2)), 0);
  EXPECT_FALSE(asks_again(client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined)));

  rdma_cm_id* impatient = ask("Early bird");
  rdma_cm_id* request = server.take_request();
  client.destroy(impatient);
  pass(1ms);
  rdma_conn_param param = parameters();
  EXPECT_EQ(error_of(rdma_accept(request, &param)), EINVAL) << "no connection without a peer";
}

// Exhibit 41: In a storage product's fake libraries, creating and modifying queue pairs does
// nothing and always succeeds. In anyrdma queue pairs have states.
// https://github.com/ydb-platform/nbs/blob/ea40db9/cloud/blockstore/libs/rdma/impl/test_verbs.cpp
TEST_F(Sharp, AQueuePairHasStates) {
  const Connection connection = request();
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;

  EXPECT_EQ(Party::qp_state(connection.passive), IBV_QPS_INIT);
  EXPECT_EQ(ibv_modify_qp(connection.passive->qp, &attr, IBV_QP_STATE), EINVAL);
  EXPECT_EQ(rdma_post_send(connection.passive, nullptr, nullptr, 0, nullptr, 0), -1);
  EXPECT_EQ(errno, EINVAL) << "not before it is in RTS";
}

// --- 42: fork -----------------------------------------------------------------------------------

// Not shown 42: A child process that uses its parent's ids and queue pairs crashes, or sees wr_ids
// that no program posted. Fibers of a C++ test cannot fork. The drop-in gives a child a new device;
// transport/fabric (FabricFork, UdpFork) and tests/rxe_vm test that.
// https://github.com/pmem/rpma/issues/751
// https://github.com/ofiwg/libfabric/issues/9792
// https://github.com/linux-rdma/rdma-core/pull/991
// https://github.com/ceph/ceph/pull/13525

// --- 43: errno ----------------------------------------------------------------------------------

// Exhibit 43: An event's status is a negative errno or a positive reason. Synchronous calls of
// librdmacm set errno to a negative value. In anyrdma errno is positive, as the manual pages say.
// https://github.com/linux-rdma/rdma-core/pull/966
// https://github.com/linux-rdma/rdma-core/pull/959
TEST_F(Sharp, ErrnoIsPositiveWhereAStatusIsNot) {
  plan("at 5s: remove client anyrdma0");
  client.as_program([&] {
    const auto made = [] {
      rdma_cm_id* id = nullptr;
      EXPECT_EQ(error_of(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP)), 0);
      return id;
    };
    rdma_cm_id* id = made();
    EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address("192.0.2.200"), 2000)), ETIMEDOUT);
    EXPECT_EQ(id->event->status, -ETIMEDOUT);
    EXPECT_EQ(error_of(rdma_destroy_id(id)), 0);

    id = made();
    EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(kServer), 2000)), 0);
    EXPECT_EQ(error_of(rdma_resolve_route(id, 2000)), 0);
    rdma_conn_param param = parameters();
    EXPECT_EQ(error_of(rdma_connect(id, &param)), ECONNREFUSED);
    EXPECT_EQ(id->event->status, semantics::kInvalidServiceId);
    EXPECT_EQ(error_of(rdma_destroy_id(id)), 0);

    id = made();
    rdma_cm_id* request = nullptr;
    EXPECT_EQ(error_of(rdma_bind_addr(id, Address(kClient))), 0);
    EXPECT_EQ(error_of(rdma_listen(id, 1)), 0);
    EXPECT_EQ(error_of(rdma_get_request(id, &request)), EINVAL) << "the device was removed";
    EXPECT_EQ(error_of(rdma_destroy_id(id)), 0);
  });
}

// --- 44: the second resolution ------------------------------------------------------------------

// Exhibit 44: An initiator with a fixed source address and port resolves once for discovery and
// again for each queue pair. The second rdma_resolve_addr fails with EADDRINUSE, unlike TCP.
// REUSEADDR, or a source without port, avoids that.
// https://github.com/spdk/spdk/issues/2604
TEST_F(Sharp, TheSecondIdCannotHaveTheSameSource) {
  const auto resolve = [](rdma_cm_id* id, std::uint16_t port) {
    return error_of(rdma_resolve_addr(id, Address(kClient, port), Address(kServer), 2000));
  };
  const auto reusing = [this] {
    rdma_cm_id* id = client.make();
    int yes = 1;
    EXPECT_EQ(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof yes), 0);
    return id;
  };

  EXPECT_EQ(resolve(client.make(), 4420), 0);
  EXPECT_EQ(resolve(client.make(), 4420), EADDRINUSE);

  EXPECT_EQ(resolve(client.make(), 0), 0);
  EXPECT_EQ(resolve(reusing(), 4421), 0);
  EXPECT_EQ(resolve(reusing(), 4421), 0);
}

}  // namespace
}  // namespace anyrdma::museum
