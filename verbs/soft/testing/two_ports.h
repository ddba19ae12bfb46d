// Two software HCAs with two ports each, and the wires between the ports.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft::testing {

/// Two devices with two ports. Port 1 has its GID at index 1, port 2 at index 0. The ports with one
/// number are connected with each other.
class TwoPorts : public ::testing::Test {
 protected:
  explicit TwoPorts(const HcaConfig& config = {.ports = 2})
      : a_(runtime_, random_, pool_, 1, 0x100, config),
        b_(runtime_, random_, pool_, 2, 0x200, config) {
    a_.hca->set_port_gid(2, 0, ipv4_gid(11));
    b_.hca->set_port_gid(2, 0, ipv4_gid(12));
    for (Side* side : {&a_, &b_}) {
      side->memory.resize(kBytes);
      side->mr = side->hca
                     ->reg_mr(side->pd, side->memory.data(), kBytes,
                              reinterpret_cast<std::uintptr_t>(side->memory.data()),
                              IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)
                     .value();
    }
  }

  static ibv_ah_attr to(const ibv_gid& gid, std::uint8_t port, std::uint8_t index) {
    ibv_ah_attr address{};
    address.is_global = 1;
    address.port_num = port;
    address.grh.dgid = gid;
    address.grh.sgid_index = index;
    return address;
  }
  static int init_at(Side& side, std::uint8_t port) {
    ibv_qp_attr attr{};
    attr.port_num = port;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_READ;
    return side.modify(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, attr);
  }
  static int rtr_by(Side& side, const Side& peer, const ibv_ah_attr& address) {
    ibv_qp_attr attr{};
    attr.path_mtu = IBV_MTU_256;
    attr.dest_qp_num = peer.qp->qp_num;
    attr.rq_psn = peer.first_psn;
    attr.max_dest_rd_atomic = 4;
    attr.min_rnr_timer = 12;
    attr.ah_attr = address;
    constexpr int kPeer = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    return side.modify(IBV_QPS_RTR, kPeer | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, attr);
  }
  void make(const ibv_ah_attr& from_a, const ibv_ah_attr& from_b) {
    const ConnectionOptions options;
    a_.create_qp(options);
    b_.create_qp(options);
    ASSERT_EQ(init_at(a_, from_a.port_num), 0);
    ASSERT_EQ(init_at(b_, from_b.port_num), 0);
    ASSERT_EQ(rtr_by(a_, b_, from_a), 0);
    ASSERT_EQ(rtr_by(b_, a_, from_b), 0);
    a_.to_rts(options);
    b_.to_rts(options);
  }
  /// Carries packets until none is left. Those of a cut port are lost.
  void carry() {
    for (bool any = true; any;) {
      any = false;
      for (Side* const from : {&a_, &b_}) {
        Side& to = from == &a_ ? b_ : a_;
        while (PacketPtr packet = from->hca->next_packet()) {
          any = true;
          ports_used_.insert(packet->port);
          if (cut_.contains(packet->port)) continue;
          to.hca->on_packet(runtime_.time, std::move(packet));
        }
      }
    }
  }
  /// Sends from a to b, and returns what a's completion queue has then.
  std::vector<ibv_wc> send() {
    EXPECT_EQ(b_.post_recv(1, 0, 8), 0);
    EXPECT_EQ(a_.post_send(IBV_WR_SEND, 2, 0, 8), 0);
    ports_used_.clear();
    carry();
    return a_.poll();
  }
  /// Lets time pass until no timer of a is left, or a has completed something.
  std::vector<ibv_wc> wait() {
    std::vector<ibv_wc> done = a_.poll();
    while (done.empty() && a_.hca->next_deadline()) {
      runtime_.time = *a_.hca->next_deadline();
      a_.hca->on_timer(runtime_.time);
      carry();
      done = a_.poll();
    }
    return done;
  }

  static constexpr std::size_t kBytes = 64;
  FakeRuntime runtime_;
  FakeRandom random_;
  PacketPool pool_;
  Side a_;
  Side b_;
  std::set<int> cut_;         ///< numbers of ports
  std::set<int> ports_used_;  ///< by the packets since the last send()
};

}  // namespace anyrdma::verbs::soft::testing
