// Two software HCAs whose packets go straight from one to the other.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "tests/bench/reliable_connection.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/testing/fake_runtime.h"

namespace anyrdma::bench {

using namespace verbs;
using namespace verbs::soft;

inline ibv_gid address(std::uint8_t last) {
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  gid.raw[12] = 10;
  gid.raw[15] = last;
  return gid;
}

/// A device with one of each object.
struct End {
  End(testing::FakeRuntime& runtime, testing::FakeRandom& random, PacketPool& pool,
      std::uint8_t number)
      : gid(address(number)), memory(1 << 20) {
    hca = Hca::create(runtime, random, pool, {});
    hca->set_gid(0, gid);
    context = hca->open_device(hca->device()).value();
    pd = hca->alloc_pd(context).value();
    cq = hca->create_cq(context, 1024, nullptr, nullptr, 0).value();
    const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    constexpr unsigned kAll =
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    mr = hca->reg_mr(pd, memory.data(), memory.size(), start, kAll).value();
    qp = create();
  }

  ibv_qp* create() {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_RC;
    init.cap = {64, 64, 1, 1, 0};
    return hca->create_qp(pd, &init).value();
  }

  void connect(const End& peer) {
    connect_by_hand(connection_to(peer.qp->qp_num, peer.gid), [&](ibv_qp_attr* attr, int mask) {
      if (!hca->modify_qp(qp, attr, mask)) std::abort();
    });
  }

  ibv_gid gid;
  std::vector<std::uint8_t> memory;
  std::unique_ptr<Hca> hca;
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_mr* mr = nullptr;
  ibv_qp* qp = nullptr;
};

/// Two of them, connected.
struct Wire {
  testing::FakeRuntime runtime;
  testing::FakeRandom random;
  PacketPool pool;
  End a{runtime, random, pool, 1};
  End b{runtime, random, pool, 2};

  Wire() {
    a.connect(b);
    b.connect(a);
  }

  void carry() {
    for (bool more = true; more;) {
      more = false;
      while (PacketPtr packet = a.hca->next_packet()) {
        b.hca->on_packet(runtime.time, std::move(packet));
        more = true;
      }
      while (PacketPtr packet = b.hca->next_packet()) {
        a.hca->on_packet(runtime.time, std::move(packet));
        more = true;
      }
    }
  }
};

/// One signaled request over the buffers' beginnings.
inline void post(End& from, const End& to, ibv_wr_opcode opcode, std::uint32_t length) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(from.memory.data()), length, from.mr->lkey};
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(to.memory.data());
  request.wr.rdma.rkey = to.mr->rkey;
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(from.qp, &request, &bad) != 0) std::abort();
}

inline void take(End& end) {
  ibv_wc wc{};
  if (ibv_poll_cq(end.cq, 1, &wc) != 1 || wc.status != IBV_WC_SUCCESS) std::abort();
}

}  // namespace anyrdma::bench
