#include "verbs/soft/testing/pair.h"

#include <cstring>
#include <utility>

#include "verbs/soft/frame.h"

namespace anyrdma::verbs::soft::testing {

ibv_gid ipv4_gid(std::uint8_t last) {
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  gid.raw[12] = 10;
  gid.raw[15] = last;
  return gid;
}

Side::Side(FakeRuntime& runtime, FakeRandom& random, PacketPool& pool, std::uint8_t address,
           std::uint32_t first_qpn, HcaConfig config)
    : gid(ipv4_gid(address)) {
  config.qpn_first = first_qpn;
  hca = Hca::create(runtime, random, pool, config);
  hca->set_gid(1, gid);
  context = hca->open_device(hca->device()).value();
  pd = hca->alloc_pd(context).value();
  cq = hca->create_cq(context, 1000, nullptr, nullptr, 0).value();
  first_psn = static_cast<std::uint32_t>(0xfffff0 + address);  // wraps around soon
}

Side::~Side() {
  if (qp != nullptr) hca->destroy_qp(qp).value();
  if (mr != nullptr) hca->dereg_mr(mr).value();
  hca->destroy_cq(cq).value();
  hca->dealloc_pd(pd).value();
  hca->close_device(context).value();
}

void Side::create_qp(const ConnectionOptions& options) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.cap = options.cap;
  init.qp_type = options.type;
  init.srq = options.srq;
  init.sq_sig_all = options.sq_sig_all;
  qp = hca->create_qp(pd, &init).value();
}

int Side::modify(ibv_qp_state state, int mask, const ibv_qp_attr& attr) {
  ibv_qp_attr copy = attr;
  copy.qp_state = state;
  const auto result = hca->modify_qp(qp, &copy, mask | IBV_QP_STATE);
  return result ? 0 : result.error().value();
}

void Side::to_init(const ConnectionOptions& options) {
  ibv_qp_attr attr{};
  attr.port_num = 1;
  attr.qp_access_flags = options.access;
  ASSERT_EQ(modify(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, attr), 0);
}

void Side::to_rtr(const ConnectionOptions& options, const Side& peer) {
  ibv_qp_attr attr{};
  attr.path_mtu = options.mtu;
  attr.dest_qp_num = peer.qp->qp_num;
  attr.rq_psn = peer.first_psn;
  attr.max_dest_rd_atomic = options.max_dest_rd_atomic;
  attr.min_rnr_timer = options.min_rnr_timer;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.sgid_index = 1;
  attr.ah_attr.grh.dgid = peer.gid;
  constexpr int kPeer = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  constexpr int kAnswers = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  const bool answers = options.type != IBV_QPT_UC && options.type != IBV_QPT_XRC_SEND;
  ASSERT_EQ(modify(IBV_QPS_RTR, kPeer | (answers ? kAnswers : 0), attr), 0);
}

void Side::to_rts(const ConnectionOptions& options) {
  ibv_qp_attr attr{};
  attr.timeout = options.timeout;
  attr.retry_cnt = options.retry_cnt;
  attr.rnr_retry = options.rnr_retry;
  attr.sq_psn = first_psn;
  attr.max_rd_atomic = options.max_rd_atomic;
  constexpr int kRetries = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  int mask = IBV_QP_SQ_PSN;
  if (options.type != IBV_QPT_UC) mask |= IBV_QP_TIMEOUT;
  if (options.type != IBV_QPT_UC && options.type != IBV_QPT_XRC_RECV) mask |= kRetries;
  ASSERT_EQ(modify(IBV_QPS_RTS, mask, attr), 0);
}

ibv_sge Side::piece(std::size_t offset, std::uint32_t length) const {
  return {reinterpret_cast<std::uintptr_t>(memory.data()) + offset, length, mr->lkey};
}

int Side::post_recv(std::uint64_t id, std::size_t offset, std::uint32_t length) {
  ibv_sge sge = piece(offset, length);
  ibv_recv_wr request{};
  request.wr_id = id;
  request.sg_list = &sge;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(qp, &request, &bad);
}

int Side::post_send(ibv_wr_opcode opcode, std::uint64_t id, std::size_t offset,
                    std::uint32_t length, const Side* peer, std::size_t remote_offset,
                    unsigned flags) {
  ibv_sge sge = piece(offset, length);
  ibv_send_wr request{};
  request.wr_id = id;
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = flags;
  request.imm_data = htobe32(0x12345678);
  if (peer != nullptr) {
    request.wr.rdma.remote_addr = peer->piece(remote_offset, 0).addr;
    request.wr.rdma.rkey = peer->mr->rkey;
  }
  return post(request);
}

int Side::post(ibv_send_wr request) {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp, &request, &bad);
}

std::vector<ibv_wc> Side::poll() {
  std::vector<ibv_wc> all;
  ibv_wc one{};
  while (ibv_poll_cq(cq, 1, &one) == 1) all.push_back(one);
  return all;
}

void Side::fill(std::size_t offset, std::size_t length, std::uint8_t seed) {
  for (std::size_t i = 0; i < length; ++i)
    memory[offset + i] = static_cast<std::uint8_t>(seed + i * 7 + i / 251);
}

bool Side::filled(std::size_t offset, std::size_t length, std::uint8_t seed) const {
  for (std::size_t i = 0; i < length; ++i)
    if (memory[offset + i] != static_cast<std::uint8_t>(seed + i * 7 + i / 251)) return false;
  return true;
}

std::vector<ibv_event_type> Side::events() {
  std::vector<ibv_event_type> all;
  while (const auto event = hca->get_async_event(context)) {
    all.push_back(event->event_type);
    hca->ack_async_event(*event);
  }
  return all;
}

Pair::Pair(const HcaConfig& config)
    : a(runtime, random, pool, 1, 0x100, config), b(runtime, random, pool, 2, 0x200, config) {
  constexpr unsigned kAll =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  for (Side* side : {&a, &b}) {
    side->memory.resize(kMemory);
    const auto start = reinterpret_cast<std::uintptr_t>(side->memory.data());
    side->mr = side->hca->reg_mr(side->pd, side->memory.data(), kMemory, start, kAll).value();
  }
}

void Pair::connect(const ConnectionOptions& options) {
  for (Side* side : {&a, &b}) {
    side->create_qp(options);
    side->to_init(options);
  }
  a.to_rtr(options, b);
  b.to_rtr(options, a);
  a.to_rts(options);
  b.to_rts(options);
}

void Pair::collect() {
  for (Side* side : {&a, &b}) {
    while (PacketPtr packet = side->hca->next_packet()) {
      EXPECT_TRUE(runtime.driver_called()) << "whoever left this packet told nobody";
      launch(std::move(packet));
    }
  }
  if (in_flight_.empty()) release_held(true);
}

void Pair::launch(PacketPtr packet) {
  const int verdict = wire ? wire(*packet) : 1;
  if (verdict < 0) {
    held_.push_back({-verdict, std::move(packet)});
    return;
  }
  for (int i = 0; i < verdict; ++i) {
    in_flight_.push_back(pool.copy_of(*packet));
  }
  for (Held& held : held_) --held.overtakers;
  release_held(false);
}

void Pair::release_held(bool all) {
  for (Held& held : held_)
    if (all || held.overtakers <= 0) in_flight_.push_back(std::move(held.packet));
  std::erase_if(held_, [](const Held& held) { return held.packet == nullptr; });
}

bool Pair::carry_one() {
  collect();
  if (in_flight_.empty()) return false;
  PacketPtr packet = std::move(in_flight_.front());
  in_flight_.pop_front();
  ++carried;
  if (roce::is_multicast(packet->destination)) {
    for (Side* to : {&a, &b}) to->hca->on_packet(runtime.time, pool.copy_of(*packet));
    return true;
  }
  Side& to = std::memcmp(&packet->destination, &a.gid, sizeof a.gid) == 0 ? a : b;
  to.hca->on_packet(runtime.time, std::move(packet));
  return true;
}

void Pair::carry() {
  while (carry_one()) {
  }
  runtime.answer_call();
}

bool Pair::next_timer() {
  const auto when = earlier(a.hca->next_deadline(), b.hca->next_deadline());
  if (!when) return false;
  runtime.time = *when;
  a.hca->on_timer(*when);
  b.hca->on_timer(*when);
  return true;
}

void Pair::settle(int steps) {
  for (int i = 0; i < steps; ++i)
    if (!carry_one() && !next_timer()) return;
  FAIL() << "still not at rest";
}

ibv_wc_status Pair::use(std::uint32_t key, std::uint64_t address, std::uint32_t length,
                        ibv_wr_opcode opcode) {
  ibv_sge list = a.piece(0, length);
  ibv_send_wr request{};
  request.sg_list = &list;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma = {.remote_addr = address, .rkey = key};
  if (a.post(request) != 0) return IBV_WC_GENERAL_ERR;
  settle();
  const auto done = a.poll();
  return done.size() == 1 ? done[0].status : IBV_WC_GENERAL_ERR;
}

}  // namespace anyrdma::verbs::soft::testing
