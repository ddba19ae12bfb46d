// Address handles, multicast, shared receive queues and ECE through the C functions.
#include <infiniband/verbs.h>

#include <array>
#include <cstring>
#include <utility>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/testing/software_device.h"

// Exported by rdma-core without a public declaration.
extern "C" int ibv_resolve_eth_l2_from_gid(ibv_context* context, ibv_ah_attr* attr,
                                           std::uint8_t eth_mac[6], std::uint16_t* vid);

namespace anyrdma::c_api {
namespace {

class DatagramDoor : public testing::SoftwareDevice {
 protected:
  DatagramDoor()
      : context(ibv_open_device(hca->device())),
        pd(ibv_alloc_pd(context)),
        cq(ibv_create_cq(context, 10, nullptr, nullptr, 0)) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = {4, 4, 1, 1, 0};
    init.qp_type = IBV_QPT_UD;
    qp = ibv_create_qp(pd, &init);
    path.is_global = 1;
    path.port_num = 1;
    path.grh.sgid_index = 1;
    path.grh.dgid = own();
  }
  ~DatagramDoor() override {
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
    EXPECT_EQ(ibv_close_device(context), 0);
  }

  [[nodiscard]] ibv_gid own() const { return hca->gids()[1]; }
  static ibv_gid group() {
    ibv_gid gid{};
    gid.raw[10] = gid.raw[11] = 0xff;
    gid.raw[12] = 239;
    gid.raw[14] = gid.raw[15] = 1;
    return gid;
  }
  void to_rts() {
    ibv_qp_attr attr{};
    attr.port_num = 1;
    attr.qkey = 5;
    attr.qp_state = IBV_QPS_INIT;
    constexpr int kInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
    ASSERT_EQ(ibv_modify_qp(qp, &attr, kInit), 0);
    attr.qp_state = IBV_QPS_RTR;
    ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    attr.qp_state = IBV_QPS_RTS;
    ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
  }
  /// What comes out of the device goes in again.
  void carry() {
    while (auto packet = hca->next_packet()) hca->on_packet(runtime.time, std::move(packet));
  }
  /// Sends a datagram to its own QP and gives its completion; the buffer holds what arrived.
  ibv_wc echo() {
    ibv_mr* mr = ibv_reg_mr(pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE);
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(buffer.data()), 64, mr->lkey};
    ibv_recv_wr receive{};
    receive.sg_list = &sge;
    receive.num_sge = 1;
    ibv_recv_wr* bad_receive = nullptr;
    EXPECT_EQ(ibv_post_recv(qp, &receive, &bad_receive), 0);
    ibv_ah* ah = ibv_create_ah(pd, &path);
    ibv_send_wr send{};
    send.opcode = IBV_WR_SEND;
    send.wr.ud = {ah, qp->qp_num, 5};
    ibv_send_wr* bad_send = nullptr;
    EXPECT_EQ(ibv_post_send(qp, &send, &bad_send), 0);
    EXPECT_EQ(ibv_destroy_ah(ah), 0);
    carry();
    ibv_wc completion{};
    EXPECT_EQ(ibv_poll_cq(cq, 1, &completion), 1);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    return completion;
  }
  ibv_grh* grh() { return reinterpret_cast<ibv_grh*>(buffer.data()); }

  ibv_context* context;
  ibv_pd* pd;
  ibv_cq* cq;
  ibv_qp* qp = nullptr;
  ibv_ah_attr path{};
  alignas(ibv_grh) std::array<char, 64> buffer{};
};

TEST_F(DatagramDoor, NullArgumentsAreEinvalWhereRdmaCoreWouldCrash) {
  ibv_wc completion{};
  ibv_ah_attr attr{};
  std::array<std::uint8_t, 6> mac{};
  const ibv_gid gid = group();
  EXPECT_EQ(ibv_create_ah(nullptr, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_create_ah(pd, nullptr), nullptr);
  EXPECT_EQ(ibv_destroy_ah(nullptr), EINVAL);
  EXPECT_EQ(ibv_init_ah_from_wc(nullptr, 1, &completion, nullptr, &attr), -1);
  EXPECT_EQ(ibv_init_ah_from_wc(context, 1, nullptr, nullptr, &attr), -1);
  EXPECT_EQ(ibv_init_ah_from_wc(context, 1, &completion, nullptr, nullptr), -1);
  EXPECT_EQ(ibv_create_ah_from_wc(nullptr, &completion, nullptr, 1), nullptr);
  EXPECT_EQ(ibv_create_ah_from_wc(pd, nullptr, nullptr, 1), nullptr);
  EXPECT_EQ(ibv_resolve_eth_l2_from_gid(nullptr, &attr, mac.data(), nullptr), -1);
  EXPECT_EQ(ibv_resolve_eth_l2_from_gid(context, nullptr, mac.data(), nullptr), -1);
  EXPECT_EQ(ibv_resolve_eth_l2_from_gid(context, &attr, nullptr, nullptr), -1);
  EXPECT_EQ(ibv_attach_mcast(nullptr, &gid, 0), EINVAL);
  EXPECT_EQ(ibv_attach_mcast(qp, nullptr, 0), EINVAL);
  EXPECT_EQ(ibv_detach_mcast(nullptr, &gid, 0), EINVAL);
  EXPECT_EQ(ibv_detach_mcast(qp, nullptr, 0), EINVAL);
  EXPECT_EQ(ibv_create_srq(nullptr, nullptr), nullptr);
  EXPECT_EQ(ibv_create_srq(pd, nullptr), nullptr);
  EXPECT_EQ(ibv_modify_srq(nullptr, nullptr, 0), EINVAL);
  EXPECT_EQ(ibv_query_srq(nullptr, nullptr), EINVAL);
  EXPECT_EQ(ibv_destroy_srq(nullptr), EINVAL);
  EXPECT_EQ(ibv_set_ece(nullptr, nullptr), EINVAL);
  EXPECT_EQ(ibv_set_ece(qp, nullptr), EINVAL);
  EXPECT_EQ(ibv_query_ece(nullptr, nullptr), EINVAL);
  EXPECT_EQ(ibv_query_ece(qp, nullptr), EINVAL);
}

TEST_F(DatagramDoor, SenderOfADatagramCanBeAnswered) {
  to_rts();
  ibv_wc completion = echo();
  ibv_ah_attr back{};

  ASSERT_EQ(ibv_init_ah_from_wc(context, 1, &completion, grh(), &back), 0);

  EXPECT_EQ(back.is_global, 1);
  EXPECT_EQ(back.port_num, 1);
  EXPECT_EQ(back.grh.sgid_index, 1);
  EXPECT_EQ(back.grh.hop_limit, 64);
  const ibv_gid expected = own();
  EXPECT_EQ(std::memcmp(back.grh.dgid.raw, expected.raw, 16), 0);
  ibv_ah* ah = ibv_create_ah_from_wc(pd, &completion, grh(), 1);
  ASSERT_NE(ah, nullptr);
  EXPECT_EQ(ah->pd, pd);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(DatagramDoor, WayBackIsRefusedWhereThereIsNone) {
  to_rts();
  ibv_wc completion = echo();
  ibv_ah_attr back{};
  const auto error = [&](std::uint8_t port = 1) {
    EXPECT_EQ(ibv_init_ah_from_wc(context, port, &completion, grh(), &back), -1);
    return errno;
  };
  EXPECT_EQ(ibv_init_ah_from_wc(context, 1, &completion, nullptr, &back), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(error(2), EINVAL);
  hca->set_gid(1, group());  // no longer ours
  EXPECT_EQ(error(), ENOENT);
  buffer[20] = 0;
  EXPECT_EQ(error(), EPROTONOSUPPORT);
  EXPECT_EQ(ibv_create_ah_from_wc(pd, &completion, grh(), 1), nullptr);
}

TEST_F(DatagramDoor, CompletionWithoutARoutingHeaderGivesALocalPath) {
  ibv_wc completion{};
  completion.sl = 3;
  ibv_ah_attr back{};

  ASSERT_EQ(ibv_init_ah_from_wc(context, 1, &completion, nullptr, &back), 0);

  EXPECT_EQ(back.is_global, 0);
  EXPECT_EQ(back.sl, 3);
}

TEST_F(DatagramDoor, LinkAddressComesFromTheGid) {
  std::array<std::uint8_t, 6> mac{};
  std::uint16_t vlan = 0;

  ASSERT_EQ(ibv_resolve_eth_l2_from_gid(context, &path, mac.data(), &vlan), 0);

  EXPECT_EQ(mac, (std::array<std::uint8_t, 6>{0x02, 0, 10, 0, 0, 1}));
  EXPECT_EQ(vlan, 0xffff);
  path.grh.dgid = group();
  ASSERT_EQ(ibv_resolve_eth_l2_from_gid(context, &path, mac.data(), nullptr), 0);
  EXPECT_EQ(mac, (std::array<std::uint8_t, 6>{0x01, 0, 0x5e, 0, 1, 1}));
  path.grh.sgid_index = 5;  // empty
  EXPECT_EQ(ibv_resolve_eth_l2_from_gid(context, &path, mac.data(), &vlan), -1);
  EXPECT_EQ(errno, ENODATA);
}

TEST_F(DatagramDoor, GroupsAreJoinedAndLeft) {
  const ibv_gid gid = group();
  const ibv_gid no_group = own();

  EXPECT_EQ(ibv_attach_mcast(qp, &no_group, 0), EINVAL);
  EXPECT_EQ(ibv_attach_mcast(qp, &gid, 0), 0);
  EXPECT_EQ(ibv_destroy_qp(qp), EBUSY);
  EXPECT_EQ(ibv_detach_mcast(qp, &gid, 0), 0);
  EXPECT_EQ(ibv_detach_mcast(qp, &gid, 0), EINVAL);
}

TEST_F(DatagramDoor, SharedReceiveQueueLivesThroughTheDoor) {
  ibv_srq_init_attr init{};
  init.srq_context = this;
  init.attr.max_wr = 8;
  init.attr.max_sge = 1;
  ibv_srq* srq = ibv_create_srq(pd, &init);
  ASSERT_NE(srq, nullptr);
  EXPECT_EQ(srq->srq_context, this);
  ibv_srq_attr attr{};
  attr.srq_limit = 2;
  EXPECT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
  EXPECT_EQ(ibv_query_srq(srq, &attr), 0);
  EXPECT_EQ(attr.max_wr, 8u);
  EXPECT_EQ(attr.srq_limit, 2u);
  ibv_recv_wr request{};
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_srq_recv(srq, &request, &bad), 0);
  attr.max_wr = 0;
  EXPECT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(DatagramDoor, ExtendedCreationMakesBasicSharedReceiveQueuesToo) {
  ibv_srq_init_attr_ex init{};
  init.attr.max_wr = 8;
  init.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
  init.pd = pd;
  init.srq_type = IBV_SRQT_BASIC;
  ibv_srq* srq = ibv_create_srq_ex(context, &init);
  ASSERT_NE(srq, nullptr);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);

  init.srq_type = IBV_SRQT_XRC;
  EXPECT_EQ(ibv_create_srq_ex(context, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);  // an extended one needs its domain and a completion queue
}

TEST_F(DatagramDoor, DeviceWithoutEceSaysSo) {
  ibv_ece ece{1, 1, 0};
  EXPECT_EQ(ibv_query_ece(qp, &ece), EOPNOTSUPP);
  EXPECT_EQ(ibv_set_ece(qp, &ece), EOPNOTSUPP);
  ece.vendor_id = 0;
  EXPECT_EQ(ibv_set_ece(qp, &ece), EOPNOTSUPP);
}

TEST_F(DatagramDoor, AcceptedEceOptionsComeBack) {
  verbs::soft::HcaConfig config;
  config.ece = {0x1234, 0b11};
  const auto able = verbs::soft::Hca::create(runtime, random, pool, config);
  ibv_context* other = able->open_device(able->device()).value();
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = ibv_create_cq(other, 1, nullptr, nullptr, 0);
  init.qp_type = IBV_QPT_RC;
  ibv_qp* with = ibv_create_qp(ibv_alloc_pd(other), &init);

  ibv_ece ece{0x1234, 0b110, 0};
  EXPECT_EQ(ibv_set_ece(with, &ece), 0);
  EXPECT_EQ(ece.options, 0b10u);
  ece = {};
  EXPECT_EQ(ibv_query_ece(with, &ece), 0);
  EXPECT_EQ(ece.vendor_id, 0x1234u);
  ece.vendor_id = 0;
  EXPECT_EQ(ibv_set_ece(with, &ece), EOPNOTSUPP);
}

}  // namespace
}  // namespace anyrdma::c_api
