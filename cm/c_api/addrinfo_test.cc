#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/ib.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <cstdlib>

#include "cm/newer_rdma_cma.h"
#include "transport/testing/mock_transport.h"
#include "verbs/c_api/testing/process.h"
#include "verbs/testing/fake_provider.h"
#include "verbs/testing/fake_runtime.h"

namespace anyrdma::c_api {
namespace {

class AddressInfo : public ::testing::Test {
 protected:
  AddressInfo() { testing::set_process_transport(&transport); }
  ~AddressInfo() override {
    rdma_freeaddrinfo(info);
    testing::set_process_transport(nullptr);
  }

  int resolve(const char* node, const char* service) {
    return rdma_getaddrinfo(node, service, &hints, &info);
  }
  static const sockaddr_in& ipv4(const sockaddr* address) {
    return *reinterpret_cast<const sockaddr_in*>(address);
  }

  verbs::testing::FakeRuntime runtime;
  verbs::testing::FakeProvider provider{runtime};
  ::testing::NiceMock<transport::testing::MockTransport> transport{runtime, provider};
  rdma_addrinfo hints{};
  rdma_addrinfo* info = nullptr;
};

TEST_F(AddressInfo, ActiveSideGetsADestinationForReliableConnections) {
  ASSERT_EQ(resolve("127.0.0.1", "7471"), 0);

  EXPECT_EQ(info->ai_family, AF_INET);
  EXPECT_EQ(info->ai_qp_type, IBV_QPT_RC);
  EXPECT_EQ(info->ai_port_space, RDMA_PS_TCP);
  ASSERT_EQ(info->ai_dst_len, sizeof(sockaddr_in));
  EXPECT_EQ(ntohs(ipv4(info->ai_dst_addr).sin_port), 7471);
  EXPECT_EQ(ntohl(ipv4(info->ai_dst_addr).sin_addr.s_addr), 0x7f000001u);
  EXPECT_EQ(info->ai_src_addr, nullptr);
  EXPECT_EQ(info->ai_next, nullptr);
}

TEST_F(AddressInfo, PassiveSideGetsASource) {
  hints.ai_flags = RAI_PASSIVE;
  hints.ai_family = AF_INET;

  ASSERT_EQ(resolve(nullptr, "7471"), 0);

  EXPECT_EQ(info->ai_flags, RAI_PASSIVE);
  ASSERT_EQ(info->ai_src_len, sizeof(sockaddr_in));
  EXPECT_EQ(ipv4(info->ai_src_addr).sin_addr.s_addr, INADDR_ANY);
  EXPECT_EQ(info->ai_dst_addr, nullptr);
}

TEST_F(AddressInfo, DatagramPortSpaceMeansUnreliableDatagrams) {
  hints.ai_port_space = RDMA_PS_UDP;

  ASSERT_EQ(resolve("127.0.0.1", "7471"), 0);

  EXPECT_EQ(info->ai_qp_type, IBV_QPT_UD);
  EXPECT_EQ(info->ai_port_space, RDMA_PS_UDP);
}

TEST_F(AddressInfo, SourceOfTheHintsIsCopied) {
  sockaddr_in source = transport::testing::ipv4(0x0a000001, 5);
  hints.ai_src_addr = reinterpret_cast<sockaddr*>(&source);
  hints.ai_src_len = sizeof source;

  ASSERT_EQ(resolve("127.0.0.1", "7471"), 0);

  ASSERT_EQ(info->ai_src_len, sizeof source);
  EXPECT_NE(info->ai_src_addr, hints.ai_src_addr);
  EXPECT_EQ(ntohl(ipv4(info->ai_src_addr).sin_addr.s_addr), 0x0a000001u);
}

TEST_F(AddressInfo, HintsAloneAreTheAnswer) {
  hints.ai_qp_type = IBV_QPT_UC;
  hints.ai_port_space = RDMA_PS_IB;

  ASSERT_EQ(resolve(nullptr, nullptr), 0);

  EXPECT_EQ(info->ai_qp_type, IBV_QPT_UC);
  EXPECT_EQ(info->ai_port_space, RDMA_PS_IB);
  EXPECT_EQ(info->ai_dst_addr, nullptr);
}

TEST_F(AddressInfo, NumericHostOfInfinibandsFamilyIsAGidWithAServiceId) {
  hints.ai_flags = RAI_NUMERICHOST | RAI_FAMILY;
  hints.ai_family = AF_IB;
  hints.ai_port_space = RDMA_PS_TCP;

  ASSERT_EQ(resolve("fe80::1", "7471"), 0);

  EXPECT_EQ(info->ai_family, AF_IB);
  ASSERT_EQ(info->ai_dst_len, sizeof(sockaddr_ib));
  const auto& address = *reinterpret_cast<const sockaddr_ib*>(info->ai_dst_addr);
  EXPECT_EQ(address.sib_family, AF_IB);
  EXPECT_EQ(address.sib_pkey, 0xffff);
  EXPECT_EQ(address.sib_addr.sib_raw[0], 0xfe);
  EXPECT_EQ(address.sib_addr.sib_raw[15], 1);
  EXPECT_EQ(be64toh(address.sib_sid), RDMA_IB_IP_PS_TCP + 7471);
  EXPECT_EQ(be64toh(address.sib_sid_mask), 0xffffffffffffffffu);
}

TEST_F(AddressInfo, InfinibandsFamilyForAPassiveSideIsASource) {
  hints.ai_flags = RAI_PASSIVE | RAI_NUMERICHOST | RAI_FAMILY;
  hints.ai_family = AF_IB;
  hints.ai_port_space = RDMA_PS_TCP;

  ASSERT_EQ(resolve("fe80::1", nullptr), 0);

  EXPECT_EQ(info->ai_flags, RAI_PASSIVE);
  EXPECT_EQ(info->ai_src_len, sizeof(sockaddr_ib));
  const auto& address = *reinterpret_cast<const sockaddr_ib*>(info->ai_src_addr);
  EXPECT_EQ(be64toh(address.sib_sid_mask), 0xffffffffffff0000u) << "no port given";
}

TEST_F(AddressInfo, InfinibandsFamilyCannotBeMadeOfAnIpv4Text) {
  hints.ai_flags = RAI_NUMERICHOST | RAI_FAMILY;
  hints.ai_family = AF_IB;

  EXPECT_GT(std::abs(resolve("10.0.0.1", "7471")), 1);
  EXPECT_EQ(info, nullptr);
}

TEST_F(AddressInfo, FamilyDecidesHowANumberIsRead) {
  hints.ai_flags = RAI_NUMERICHOST | RAI_FAMILY;
  hints.ai_family = AF_INET6;

  ASSERT_EQ(resolve("::1", "7471"), 0);

  EXPECT_EQ(info->ai_family, AF_INET6);
  EXPECT_EQ(info->ai_dst_len, sizeof(sockaddr_in6));
}

TEST_F(AddressInfo, WithoutRouteLookupTheAnswerIsTheSame) {
  hints.ai_flags = RAI_NOROUTE;

  ASSERT_EQ(resolve("127.0.0.1", "7471"), 0);

  EXPECT_EQ(info->ai_route_len, 0u);
  EXPECT_EQ(info->ai_connect_len, 0u);
  EXPECT_EQ(info->ai_next, nullptr);
}

TEST_F(AddressInfo, DestinationOfTheHintsIsTheAnswerOnlyWithoutNames) {
  sockaddr_in destination = transport::testing::ipv4(0x0a000002, 5);
  hints.ai_dst_addr = reinterpret_cast<sockaddr*>(&destination);
  hints.ai_dst_len = sizeof destination;

  ASSERT_EQ(resolve(nullptr, nullptr), 0);

  ASSERT_EQ(info->ai_dst_len, sizeof destination);
  EXPECT_EQ(ntohs(ipv4(info->ai_dst_addr).sin_port), 5);
}

TEST_F(AddressInfo, NamesThatDoNotResolveGiveTheSystemsCode) {
  hints.ai_flags = RAI_NUMERICHOST;

  EXPECT_EQ(resolve("not.a.number", "7471"), EAI_NONAME);
  EXPECT_EQ(info, nullptr);
}

TEST_F(AddressInfo, NoSubnetHasAnAdministratorToAsk) {
  hints.ai_flags = cm::kRaiSa;

  EXPECT_EQ(resolve(nullptr, "0x1234"), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(resolve(nullptr, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(resolve("127.0.0.1", "7471"), -1) << "an administrator knows no hosts";
  EXPECT_EQ(errno, EOPNOTSUPP);
  hints.ai_flags |= cm::kRaiDns;
  EXPECT_EQ(resolve(nullptr, "7471"), -1) << "either the one or the other";
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(info, nullptr);
}

TEST_F(AddressInfo, AskingTheResolverIsTheDefault) {
  hints.ai_flags = cm::kRaiDns;

  ASSERT_EQ(resolve("127.0.0.1", "7471"), 0);

  EXPECT_EQ(ntohs(ipv4(info->ai_dst_addr).sin_port), 7471);
}

TEST_F(AddressInfo, NothingToResolveIsEinval) {
  EXPECT_EQ(rdma_getaddrinfo(nullptr, nullptr, nullptr, &info), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_getaddrinfo("127.0.0.1", "1", nullptr, nullptr), -1);
}

}  // namespace
}  // namespace anyrdma::c_api
