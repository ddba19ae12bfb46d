// Facts 56 to 59 of docs/facts.md: multicast groups.
#include <gtest/gtest.h>

#include <vector>

#include "tests/semantics/scenario.h"

namespace anyrdma::semantics {
namespace {

constexpr std::uint32_t kMulticastQpn = 0xffffff;
constexpr const char* kGroup = "239.1.1.1";
constexpr int kKernelsEnotsupp = 524;

class Multicast : public Scenario {
 protected:
  /// A datagram id on the host's device.
  static rdma_cm_id* bound(Party& party, const char* to) {
    rdma_cm_id* id = party.make(RDMA_PS_UDP);
    EXPECT_EQ(error_of(rdma_bind_addr(id, Address(to, 0))), 0);
    return id;
  }
  static int join(rdma_cm_id* id, const char* group = kGroup, void* context = nullptr) {
    return error_of(rdma_join_multicast(id, Address(group, 0), context));
  }
  static int join_to_send(rdma_cm_id* id, Address group) {
    rdma_cm_join_mc_attr_ex attr{};
    attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
    attr.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
    attr.addr = group;
    return error_of(rdma_join_multicast_ex(id, &attr, nullptr));
  }
  /// A member of the server whose QP has room for a datagram.
  struct Member {
    rdma_cm_id* id = nullptr;
    std::vector<char> memory = std::vector<char>(64 + sizeof(ibv_grh));
    ibv_mr* region = nullptr;

    void make_room() {
      Party::make_qp(id);
      region = rdma_reg_msgs(id, memory.data(), memory.size());
      EXPECT_EQ(rdma_post_recv(id, nullptr, memory.data(), memory.size(), region), 0);
    }
    /// Whether a datagram has come.
    [[nodiscard]] bool heard() const {
      ibv_wc completion{};
      return ibv_poll_cq(id->recv_cq, 1, &completion) == 1;
    }
    ~Member() {
      if (region != nullptr) rdma_dereg_mr(region);
    }
  };
  /// The client sends a datagram to the group, and time enough passes.
  void send_to_group() {
    rdma_cm_id* id = bound(client, kClient);
    Party::make_qp(id);
    EXPECT_EQ(join(id), 0);
    Seen joined = client.take(RDMA_CM_EVENT_MULTICAST_JOIN, 0);
    ibv_ah* ah = ibv_create_ah(id->pd, &joined.ud.ah_attr);
    ASSERT_NE(ah, nullptr);
    char text[8] = "to all";
    ibv_mr* region = rdma_reg_msgs(id, text, sizeof text);
    EXPECT_EQ(rdma_post_ud_send(id, nullptr, text, sizeof text, region, 0, ah, kMulticastQpn), 0);
    pass(1s);
    EXPECT_EQ(rdma_dereg_mr(region), 0);
    EXPECT_EQ(ibv_destroy_ah(ah), 0);
    EXPECT_EQ(error_of(rdma_leave_multicast(id, Address(kGroup, 0))), 0) << "to clean up";
  }
};

TEST_F(Multicast, Fact56JoiningIsRefusedOnceTheRouteIsResolvedAndOnAWildcard) {
  rdma_cm_id* resolved = client.make(RDMA_PS_UDP);
  EXPECT_EQ(error_of(rdma_resolve_addr(resolved, nullptr, Address(kServer), kPatienceMs)), 0);
  client.take(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
  EXPECT_EQ(join(resolved), 0);
  client.take(RDMA_CM_EVENT_MULTICAST_JOIN, 0);
  EXPECT_EQ(error_of(rdma_resolve_route(resolved, kPatienceMs)), 0);
  client.take(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
  EXPECT_EQ(join(resolved), EINVAL);

  EXPECT_EQ(join(client.make(RDMA_PS_UDP)), EINVAL) << "unbound";
  rdma_cm_id* wildcard = client.make(RDMA_PS_UDP);
  EXPECT_EQ(error_of(rdma_bind_addr(wildcard, Address("0.0.0.0", 0))), 0);
  EXPECT_EQ(join(wildcard), EINVAL);
}

TEST_F(Multicast, Fact57EventsCarryTheJoinsContextAndTheMulticastQpn) {
  int context = 0;
  rdma_cm_id* id = bound(client, kClient);
  EXPECT_EQ(join(id, kGroup, &context), 0);

  const Seen seen = client.take(RDMA_CM_EVENT_MULTICAST_JOIN, 0);

  EXPECT_EQ(seen.ud.private_data, &context);
  EXPECT_EQ(seen.ud.private_data_len, 0);
  EXPECT_EQ(seen.ud.qp_num, kMulticastQpn);
  EXPECT_EQ(error_of(rdma_leave_multicast(id, Address(kGroup, 0))), 0);
  EXPECT_EQ(error_of(rdma_leave_multicast(id, Address(kGroup, 0))), EADDRNOTAVAIL);
}

TEST_F(Multicast, Fact58FetchingAttachesTheQpThatExistsThen) {
  Member early, late, sender;
  early.id = bound(server, kServer);
  early.make_room();
  EXPECT_EQ(join(early.id), 0);
  server.take(RDMA_CM_EVENT_MULTICAST_JOIN, 0);
  late.id = bound(server, kServer);
  EXPECT_EQ(join(late.id), 0);
  server.take(RDMA_CM_EVENT_MULTICAST_JOIN, 0);
  late.make_room();
  sender.id = bound(server, kServer);
  sender.make_room();
  EXPECT_EQ(join_to_send(sender.id, Address(kGroup, 0)), 0);
  server.take(RDMA_CM_EVENT_MULTICAST_JOIN, 0);

  send_to_group();

  EXPECT_TRUE(early.heard());
  EXPECT_FALSE(late.heard()) << "its QP came after the fetch";
  EXPECT_FALSE(sender.heard()) << "it only sends";
  EXPECT_EQ(error_of(rdma_leave_multicast(early.id, Address(kGroup, 0))), 0) << "to clean up";
}

TEST_F(Multicast, Fact58AMemberThatHasNotFetchedItsEventIsNotAttached) {
  Member member;
  member.id = bound(server, kServer);
  member.make_room();
  EXPECT_EQ(join(member.id), 0);

  send_to_group();

  EXPECT_FALSE(member.heard());
  server.take(RDMA_CM_EVENT_MULTICAST_JOIN, 0);
  EXPECT_EQ(error_of(rdma_leave_multicast(member.id, Address(kGroup, 0))), 0) << "to clean up";
}

TEST_F(Multicast, Fact59AnIPv6GroupIsRefusedWithTheKernelsOwnErrno) {
  EXPECT_EQ(join(bound(client, kClient), "ff0e::1"), kKernelsEnotsupp);
}

}  // namespace
}  // namespace anyrdma::semantics
