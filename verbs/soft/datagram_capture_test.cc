// Datagrams of Linux's rxe, taken in by the software HCA and made by it byte for byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "verbs/soft/frame.h"
#include "verbs/soft/icrc.h"
#include "verbs/soft/testing/datagram_pair.h"
#include "verbs/soft/wire/pcap.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::FakeRandom;
using testing::FakeRuntime;
using testing::kGrh;

/// A device that stands in for one of the two machines of a capture.
class KernelsDatagrams : public ::testing::Test {
 protected:
  static ibv_gid address(std::uint8_t last) {
    ibv_gid gid = testing::ipv4_gid(last);
    gid.raw[13] = 9;  // 10.9.0.1 the server, 10.9.0.2 the client
    return gid;
  }

  void become(std::uint8_t machine, std::uint32_t qpn, std::uint32_t queue_key,
              std::uint32_t psn = 0) {
    HcaConfig config;
    config.qpn_first = qpn;
    hca = Hca::create(runtime, random, pool, config);
    hca->set_gid(1, address(machine));
    ibv_context* context = hca->open_device(hca->device()).value();
    pd = hca->alloc_pd(context).value();
    cq = hca->create_cq(context, 100, nullptr, nullptr, 0).value();
    const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    mr = hca->reg_mr(pd, memory.data(), memory.size(), start, IBV_ACCESS_LOCAL_WRITE).value();
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = {32, 32, 1, 1, 0};
    init.qp_type = IBV_QPT_UD;
    qp = hca->create_qp(pd, &init).value();
    ibv_qp_attr attr{};
    attr.port_num = 1;
    attr.qkey = queue_key;
    attr.sq_psn = psn;
    attr.qp_state = IBV_QPS_INIT;
    constexpr int kInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
    hca->modify_qp(qp, &attr, kInit).value();
    attr.qp_state = IBV_QPS_RTR;
    hca->modify_qp(qp, &attr, IBV_QP_STATE).value();
    attr.qp_state = IBV_QPS_RTS;
    hca->modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN).value();
  }

  std::vector<PacketPtr> datagrams_of(const std::string& name) {
    std::ifstream in("tests/data/captures/" + name, std::ios::binary);
    const std::vector<std::uint8_t> file{std::istreambuf_iterator<char>(in), {}};
    const auto records = roce::pcap::parse(file);
    EXPECT_TRUE(records.has_value());
    std::vector<PacketPtr> found;
    if (!records) return found;
    for (const roce::pcap::Record& record : *records) {
      PacketPtr packet = pool.take();
      if (roce::from_frame(record.frame, *packet) != roce::FrameError::kNone) continue;
      const roce::Decoded decoded = roce::decode(packet->payload());
      if (decoded.headers.bth.destination == wire::kGsiQpn) continue;
      EXPECT_EQ(roce::kOpcodes[decoded.headers.bth.opcode].service, roce::Service::kUd);
      found.push_back(std::move(packet));
    }
    return found;
  }

  /// Takes in what is addressed to `destination` and gives the completions.
  std::vector<ibv_wc> take_in(const std::string& name, const ibv_gid& destination) {
    for (std::uint64_t id = 0; id < 16; ++id) {
      ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory.data()) + id * 2048, 2048, mr->lkey};
      ibv_recv_wr request{};
      request.wr_id = id;
      request.sg_list = &sge;
      request.num_sge = 1;
      ibv_recv_wr* bad = nullptr;
      EXPECT_EQ(ibv_post_recv(qp, &request, &bad), 0);
    }
    for (PacketPtr& packet : datagrams_of(name)) {
      if (std::memcmp(packet->destination.raw, destination.raw, 16) == 0)
        hca->on_packet({}, std::move(packet));
    }
    std::vector<ibv_wc> completions(16);
    completions.resize(static_cast<std::size_t>(ibv_poll_cq(cq, 16, completions.data())));
    return completions;
  }

  FakeRuntime runtime;
  FakeRandom random;
  PacketPool pool;
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(std::size_t{64} * 1024);
  std::unique_ptr<Hca> hca;  // disposes of what was made on it
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_mr* mr = nullptr;
  ibv_qp* qp = nullptr;
};

TEST_F(KernelsDatagrams, OfUdaddyArriveWithTheirImmediateData) {
  become(1, 0x14, 0x01234567);

  const auto received = take_in("udaddy.pcap", address(1));

  ASSERT_EQ(received.size(), 3u);
  for (const ibv_wc& wc : received) {
    EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
    EXPECT_EQ(wc.src_qp, 0x14u);
    EXPECT_EQ(wc.imm_data, htobe32(0x14));
    EXPECT_EQ(wc.byte_len, kGrh + 100);
  }
  EXPECT_EQ(hca->counters().bad_icrc, 0u);
}

TEST_F(KernelsDatagrams, OfMckeyReachTheMembersOfTheGroup) {
  become(1, 0x20, 0x01234567);
  ibv_gid group = address(1);
  group.raw[12] = 239;
  group.raw[13] = group.raw[14] = 1;
  hca->attach_mcast(qp, group, 0).value();

  const auto received = take_in("mckey.pcap", group);

  ASSERT_EQ(received.size(), 3u);
  EXPECT_EQ(received[0].src_qp, 0x1du);
  hca->detach_mcast(qp, group, 0).value();
}

TEST_F(KernelsDatagrams, AreSentByUsByteForByte) {
  const std::vector<PacketPtr> captured = datagrams_of("ud_send.pcap");
  ASSERT_FALSE(captured.empty());
  const roce::Decoded first = roce::decode(captured.front()->payload());
  become(2, value(first.headers.deth.source), 0, first.headers.bth.psn.value());
  ibv_ah_attr path{};
  path.is_global = 1;
  path.port_num = 1;
  path.grh.sgid_index = 1;
  path.grh.dgid = address(1);
  ibv_ah* ah = hca->create_ah(pd, path).value();

  for (const PacketPtr& packet : captured) {
    const roce::Decoded theirs = roce::decode(packet->payload());
    std::ranges::copy(theirs.payload, memory.begin());
    ibv_sge sge{reinterpret_cast<std::uintptr_t>(memory.data()),
                static_cast<std::uint32_t>(theirs.payload.size()), mr->lkey};
    ibv_send_wr request{};
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.wr.ud = {ah, value(theirs.headers.bth.destination), theirs.headers.deth.queue_key};
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);
    PacketPtr ours = hca->next_packet();
    ASSERT_NE(ours, nullptr);
    // Chosen by the sender's IP stack, and part of the ICRC.
    ours->ip_identification = packet->ip_identification;
    ours->udp_source_port = packet->udp_source_port;
    roce::seal(*ours);

    EXPECT_EQ(roce::to_frame(*ours, {}, {}), roce::to_frame(*packet, {}, {}));
  }
  hca->destroy_ah(ah).value();
}

}  // namespace
}  // namespace anyrdma::verbs::soft
