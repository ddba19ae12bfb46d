// cm over transport/ucma, in the machine: our Id and EventChannel on the kernel's connection
// manager and its Soft-RoCE device, both sides in this process.
#include "transport/ucma/ucma.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "tests/rxe_vm/kernel_side.h"

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

}  // namespace
}  // namespace anyrdma::tests
