// cm over transport/ucma, in the machine: our Id and EventChannel on the kernel's connection
// manager and its Soft-RoCE device, both sides in this process.
#include "transport/ucma/ucma.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tests/rxe_vm/kernel_side.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::tests {
namespace {

using transport::ucma::Ucma;

constexpr char kAddress[] = "10.9.0.1";
constexpr std::uint16_t kPort = 7471;

class UcmaOnKernel : public ::testing::Test {
 protected:
  std::unique_ptr<Ucma> ucma = Ucma::open().value();
};

std::vector<std::uint8_t> padded(std::vector<std::uint8_t> data, std::size_t size) {
  data.resize(size);
  return data;
}

TEST_F(UcmaOnKernel, ConnectsWithPrivateDataBothWays) {
  KernelSide listener(ucma->transport());
  KernelSide client(ucma->transport());
  KernelSide server(ucma->transport());
  listener.listen(kAddress, kPort);
  client.resolve(kAddress, kPort);

  client.connect({1, 2, 3});
  server.take_request(listener.channel());
  EXPECT_EQ(server.private_data, padded({1, 2, 3}, 56));
  server.accept({4, 5});

  EXPECT_EQ(client.next_type(), RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(client.private_data, padded({4, 5}, 196));
  EXPECT_EQ(server.next_type(), RDMA_CM_EVENT_ESTABLISHED);
}

TEST_F(UcmaOnKernel, SendsWritesAndReads) {
  KernelSide listener(ucma->transport());
  KernelSide client(ucma->transport());
  KernelSide server(ucma->transport());
  listener.listen(kAddress, kPort);
  join(client, server, listener, kAddress, kPort);

  server.post_recv();
  client.buffer[0] = 17;
  client.post(IBV_WR_SEND, 100);
  EXPECT_EQ(client.completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(server.completion().byte_len, 100u);
  EXPECT_EQ(server.buffer[0], 17);

  client.buffer[0] = 18;
  client.post(IBV_WR_RDMA_WRITE, 100, &server);
  EXPECT_EQ(client.completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(server.buffer[0], 18);

  server.buffer[0] = 19;
  client.post(IBV_WR_RDMA_READ, 100, &server);
  EXPECT_EQ(client.completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(client.buffer[0], 19);
}

TEST_F(UcmaOnKernel, ARejectionReachesTheClientWithItsData) {
  KernelSide listener(ucma->transport());
  KernelSide client(ucma->transport());
  KernelSide server(ucma->transport());
  listener.listen(kAddress, kPort);
  client.resolve(kAddress, kPort);
  client.connect();
  server.take_request(listener.channel());

  const std::array<std::uint8_t, 2> why{6, 7};
  ASSERT_TRUE(server.id().reject(why));

  EXPECT_EQ(client.next_type(), RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(client.status, 28);
  EXPECT_EQ(client.private_data, padded({6, 7}, 148));
}

TEST_F(UcmaOnKernel, NobodyListeningIsAnInvalidService) {
  KernelSide client(ucma->transport());
  client.resolve(kAddress, kPort);
  client.connect();
  EXPECT_EQ(client.next_type(), RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(client.status, 8);
}

TEST_F(UcmaOnKernel, DisconnectsAndLeavesTimewait) {
  KernelSide listener(ucma->transport());
  KernelSide client(ucma->transport());
  KernelSide server(ucma->transport());
  listener.listen(kAddress, kPort);
  join(client, server, listener, kAddress, kPort);
  EXPECT_EQ(verbs::testing::errno_of(client.id().notify(IBV_EVENT_COMM_EST)), EISCONN);

  ASSERT_TRUE(client.id().disconnect());
  EXPECT_EQ(server.next_type(), RDMA_CM_EVENT_DISCONNECTED);
  ASSERT_TRUE(server.id().disconnect());

  EXPECT_EQ(client.next_type(), RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(client.next_type(), RDMA_CM_EVENT_TIMEWAIT_EXIT);
  EXPECT_EQ(server.next_type(), RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

TEST_F(UcmaOnKernel, RefusesWhatTheKernelRefuses) {
  using verbs::testing::errno_of;
  KernelSide one(ucma->transport());
  KernelSide two(ucma->transport());
  one.listen(kAddress, kPort);
  const sockaddr_in taken = ipv4(kAddress, kPort);
  const sockaddr_in foreign = ipv4("192.0.2.1", kPort);
  EXPECT_EQ(errno_of(two.id().bind(raw(taken))), EADDRINUSE);
  EXPECT_EQ(errno_of(two.id().bind(nullptr)), EINVAL);
  EXPECT_EQ(errno_of(two.id().bind(raw(foreign))), ENODEV);

  KernelSide client(ucma->transport());
  client.resolve(kAddress, kPort);
  const std::array<std::uint8_t, 57> data{};
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = data.size();
  EXPECT_EQ(errno_of(client.id().connect(&param)), EINVAL);
  param.private_data_len = 56;
  EXPECT_EQ(errno_of(client.id().connect(&param)), 0);

  // It arrives here, not at the next test's listener on this port, to be withdrawn there.
  KernelSide server(ucma->transport());
  server.take_request(one.channel());
}

TEST_F(UcmaOnKernel, ARequestBeyondTheBacklogConnectsOnceThereIsRoom) {
  KernelSide listener(ucma->transport());
  KernelSide first(ucma->transport());
  KernelSide second(ucma->transport());
  KernelSide server(ucma->transport());
  KernelSide other(ucma->transport());
  listener.listen(kAddress, kPort, 1);
  for (KernelSide* client : {&first, &second}) {
    client->resolve(kAddress, kPort);
    client->connect();
  }

  for (KernelSide* each : {&server, &other}) {
    each->take_request(listener.channel());
    each->accept();
  }

  EXPECT_EQ(first.next_type(), RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(second.next_type(), RDMA_CM_EVENT_ESTABLISHED);
}

TEST_F(UcmaOnKernel, WithoutAQueuePairOfTheIdTheApplicationEstablishes) {
  KernelSide listener(ucma->transport());
  KernelSide client(ucma->transport());
  KernelSide server(ucma->transport());
  listener.listen(kAddress, kPort);
  client.resolve(kAddress, kPort);
  ASSERT_TRUE(client.id().destroy_qp());
  rdma_conn_param param{};
  param.qp_num = 0x4711;
  ASSERT_TRUE(client.id().connect(&param));
  server.take_request(listener.channel());
  server.accept();

  EXPECT_EQ(client.next_type(), RDMA_CM_EVENT_CONNECT_RESPONSE);
  EXPECT_TRUE(client.id().init_qp_attr(IBV_QPS_RTR));
  ASSERT_TRUE(client.id().establish());
  EXPECT_EQ(server.next_type(), RDMA_CM_EVENT_ESTABLISHED);
}

// --- datagrams ----------------------------------------------------------------------------------

/// Sends one datagram from where the parameters lead to.
void send_datagram(KernelSide& from, rdma_ud_param to) {
  verbs::Provider& provider = verbs::provider_of(from.id().raw()->verbs);
  ibv_ah* const handle = provider.create_ah(from.id().qp()->pd, to.ah_attr).value();
  ibv_sge piece = from.piece(64);
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.wr.ud = {.ah = handle, .remote_qpn = to.qp_num, .remote_qkey = to.qkey};
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(from.id().qp(), &request, &bad), 0);
  EXPECT_EQ(from.completion().status, IBV_WC_SUCCESS);
  EXPECT_TRUE(provider.destroy_ah(handle));
}

TEST_F(UcmaOnKernel, ADatagramServiceIsFoundAndReached) {
  KernelSide listener(ucma->transport(), RDMA_PS_UDP);
  KernelSide client(ucma->transport(), RDMA_PS_UDP);
  KernelSide server(ucma->transport(), RDMA_PS_UDP);
  listener.listen(kAddress, kPort);
  client.resolve(kAddress, kPort);
  client.connect({1});
  server.take_request(listener.channel());
  EXPECT_EQ(server.private_data, padded({1}, 180));
  server.post_recv();
  server.accept({2});

  rdma_ud_param way{};
  {
    const cm::Event established = client.next();
    ASSERT_EQ(established.type(), RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_EQ(established.private_data()[0], 2);
    way = established.ud();
  }
  EXPECT_EQ(way.qp_num, server.id().qp()->qp_num);
  client.buffer[0] = 99;
  send_datagram(client, way);
  EXPECT_EQ(server.completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(server.buffer[40], 99);
}

TEST_F(UcmaOnKernel, MembersOfAGroupHearEachOther) {
  KernelSide one(ucma->transport(), RDMA_PS_UDP);
  KernelSide two(ucma->transport(), RDMA_PS_UDP);
  const sockaddr_in group = ipv4("239.1.2.3", 0);
  rdma_ud_param way{};
  for (KernelSide* each : {&one, &two}) {
    const sockaddr_in own = ipv4(kAddress, 0);
    ASSERT_TRUE(each->id().bind(raw(own)));
    each->make_qp();
    each->post_recv();
    ASSERT_TRUE(each->id().join_multicast(raw(group), each));
    const cm::Event joined = each->next();
    ASSERT_EQ(joined.type(), RDMA_CM_EVENT_MULTICAST_JOIN);
    EXPECT_EQ(joined.ud().private_data, each);
    way = joined.ud();
  }

  one.buffer[0] = 55;
  send_datagram(one, way);

  EXPECT_EQ(two.completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(two.buffer[40], 55);
  EXPECT_TRUE(one.id().leave_multicast(raw(group)));
  EXPECT_TRUE(two.id().leave_multicast(raw(group)));
  EXPECT_EQ(verbs::testing::errno_of(two.id().leave_multicast(raw(group))), EADDRNOTAVAIL);
}

// --- processes --------------------------------------------------------------------------------

TEST_F(UcmaOnKernel, AForkedChildConnectsWithATransportOfItsOwn) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto own = Ucma::open().value();
    {
      KernelSide listener(own->transport());
      KernelSide client(own->transport());
      KernelSide server(own->transport());
      listener.listen(kAddress, kPort);
      join(client, server, listener, kAddress, kPort);
    }
    ::_exit(ucma->forked() && !HasFailure() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace anyrdma::tests
