// Datagrams to groups between simulated hosts: who gets a copy, and what the links do to each.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "sim/testing/program.h"
#include "verbs/completion_queue.h"
#include "verbs/context.h"
#include "verbs/memory.h"
#include "verbs/queue_pair.h"
#include "verbs/soft/wire/pcap.h"

namespace anyrdma::sim::testing {
namespace {

constexpr std::uint32_t kQueueKey = 0x01234567;
constexpr std::uint32_t kMessage = 16;

ibv_gid group() {
  return Address::ipv4(0xef010101).gid();
}

/// A datagram queue pair of a host that is attached to the group, with receives posted.
class Member {
 public:
  explicit Member(Host& host) : Member(host.hca()) { attach(); }
  ~Member() {
    if (attached_) hca_.detach_mcast(qp_.get(), group(), 0).value();
    if (ah_ != nullptr) hca_.destroy_ah(ah_).value();
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  static std::unique_ptr<Member> outsider(Host& host) {
    return std::unique_ptr<Member>(new Member(host.hca()));
  }

  void send() {
    if (ah_ == nullptr) {
      ibv_ah_attr path{};
      path.is_global = 1;
      path.port_num = 1;
      path.grh.dgid = group();
      ah_ = hca_.create_ah(pd_.get(), path).value();
    }
    ibv_sge piece = memory_.piece(0, kMessage);
    ibv_send_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.wr.ud.ah = ah_;
    request.wr.ud.remote_qpn = 0xffffff;
    request.wr.ud.remote_qkey = kQueueKey;
    qp_.post_send(&request).value();
  }

  /// Datagrams received so far.
  std::size_t received() {
    ibv_wc completion{};
    while (cq_.poll({&completion, 1}).value() == 1) {
      EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
      EXPECT_EQ(completion.byte_len, sizeof(ibv_grh) + kMessage);
      ++received_;
    }
    return received_;
  }

 private:
  static constexpr unsigned kReceives = 32;

  explicit Member(verbs::soft::Hca& hca)
      : hca_(hca), context_(verbs::Context::open(hca, hca.device()).value()) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq_.get();
    init.cap = {kReceives, kReceives, 1, 1, 0};
    init.qp_type = IBV_QPT_UD;
    qp_ = verbs::QueuePair::create(pd_.get(), &init).value();
    ibv_qp_attr attr{};
    attr.port_num = 1;
    attr.qkey = kQueueKey;
    attr.qp_state = IBV_QPS_INIT;
    qp_.modify(&attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY).value();
    attr.qp_state = IBV_QPS_RTR;
    qp_.modify(&attr, IBV_QP_STATE).value();
    attr.qp_state = IBV_QPS_RTS;
    qp_.modify(&attr, IBV_QP_STATE | IBV_QP_SQ_PSN).value();
    for (unsigned i = 0; i < kReceives; ++i) {
      ibv_sge piece = memory_.piece(0, static_cast<std::uint32_t>(buffer_.size()));
      ibv_recv_wr request{};
      request.sg_list = &piece;
      request.num_sge = 1;
      qp_.post_recv(&request).value();
    }
  }

  void attach() {
    hca_.attach_mcast(qp_.get(), group(), 0).value();
    attached_ = true;
  }

  verbs::soft::Hca& hca_;
  std::array<std::uint8_t, 128> buffer_{};
  verbs::Context context_;
  verbs::ProtectionDomain pd_ = verbs::ProtectionDomain::create(context_.get()).value();
  verbs::CompletionQueue cq_ = verbs::CompletionQueue::create(context_.get(), 100).value();
  verbs::MemoryRegion memory_ =
      verbs::MemoryRegion::create(pd_.get(), buffer_.data(), buffer_.size(), IBV_ACCESS_LOCAL_WRITE)
          .value();
  verbs::QueuePair qp_;
  ibv_ah* ah_ = nullptr;
  bool attached_ = false;
  std::size_t received_ = 0;
};

struct Hosts {
  explicit Hosts(std::uint64_t seed, const WorldOptions& options = {}) : world(seed, options) {}
  World world;
  Host& a = world.add_host("a", {"10.0.0.1"});
  Host& b = world.add_host("b", {"10.0.0.2"});
  Host& c = world.add_host("c", {"10.0.0.3"});
};

TEST(SimulatedMulticast, ReachesEveryOtherMemberAndNotTheSender) {
  Hosts hosts(1);
  Member sender(hosts.a);
  Member neighbour(hosts.a);
  Member b(hosts.b);
  Member c(hosts.c);

  sender.send();
  ASSERT_TRUE(hosts.world.run());

  EXPECT_EQ(neighbour.received(), 1u);
  EXPECT_EQ(b.received(), 1u);
  EXPECT_EQ(c.received(), 1u);
  EXPECT_EQ(hosts.a.hca().counters().unknown_group, 0u);
  EXPECT_EQ(hosts.world.packets(), 1u);
}

TEST(SimulatedMulticast, IsDroppedByDevicesWithoutAMember) {
  Hosts hosts(1);
  const auto sender = Member::outsider(hosts.a);
  Member b(hosts.b);

  sender->send();
  ASSERT_TRUE(hosts.world.run());

  EXPECT_EQ(b.received(), 1u);
  EXPECT_EQ(hosts.c.hca().counters().unknown_group, 1u);
}

TEST(SimulatedMulticast, EachCopyHasTheLatencyAndTheLuckOfItsLink) {
  Hosts hosts(1);
  hosts.world.set_path(hosts.a, hosts.b, {.latency = std::chrono::milliseconds(5)});
  hosts.world.set_path(hosts.a, hosts.c, {.loss = 1.0});
  Member sender(hosts.a);
  Member b(hosts.b);
  Member c(hosts.c);

  sender.send();
  hosts.world.run_for(std::chrono::milliseconds(4));
  EXPECT_EQ(hosts.b.hca().counters().packets_in, 0u);
  hosts.world.run_for(std::chrono::milliseconds(1));

  EXPECT_EQ(b.received(), 1u);
  EXPECT_EQ(c.received(), 0u);
}

TEST(SimulatedMulticast, DoesNotPassALinkThatIsDown) {
  Hosts hosts(1);
  hosts.world.set_path(hosts.a, hosts.b, {.down = true});
  Member sender(hosts.a);
  Member b(hosts.b);
  Member c(hosts.c);

  sender.send();
  ASSERT_TRUE(hosts.world.run());

  EXPECT_EQ(b.received(), 0u);
  EXPECT_EQ(c.received(), 1u);
}

TEST(SimulatedMulticast, OfOneSeedHappensTheSameWayEachTime) {
  const auto run = [](std::uint64_t seed) {
    WorldOptions options;
    options.link.loss = 0.3;
    options.link.jitter = std::chrono::microseconds(50);
    Hosts hosts(seed, options);
    Member sender(hosts.a);
    Member b(hosts.b);
    Member c(hosts.c);
    for (int i = 0; i < 20; ++i) sender.send();
    EXPECT_TRUE(hosts.world.run());
    EXPECT_LT(b.received(), 20u);
    EXPECT_GT(b.received(), 0u);
    return hosts.world.trace().hash();
  };

  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(SimulatedMulticast, IsCapturedOnceWithTheLinkAddressOfTheGroup) {
  WorldOptions options;
  options.capture = true;
  Hosts hosts(1, options);
  Member sender(hosts.a);
  Member b(hosts.b);

  sender.send();
  ASSERT_TRUE(hosts.world.run());

  const auto file = hosts.world.capture();
  const auto records = roce::pcap::parse(file);
  ASSERT_TRUE(records.has_value());
  ASSERT_EQ(records->size(), 1u);
  constexpr std::array<std::uint8_t, 6> kGroupMac{0x01, 0x00, 0x5e, 0x01, 0x01, 0x01};
  EXPECT_TRUE(std::equal(kGroupMac.begin(), kGroupMac.end(), records->front().frame.begin()));
}

TEST(SimulatedMulticast, TraceSaysWhoDidNotWantIt) {
  Hosts hosts(1);
  const auto sender = Member::outsider(hosts.a);

  sender->send();
  ASSERT_TRUE(hosts.world.run());

  const std::string text = hosts.world.trace().text();
  EXPECT_NE(text.find("no member of the group"), std::string::npos) << text;
}

}  // namespace
}  // namespace anyrdma::sim::testing
