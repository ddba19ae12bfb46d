#include "verbs/soft/fuzz/fuzz_connection.h"

#include <algorithm>
#include <span>
#include <utility>

#include "verbs/assert.h"
#include "verbs/soft/fuzz/attacked.h"
#include "verbs/soft/fuzz/script.h"
#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft::fuzz {

namespace {

using testing::ConnectionOptions;
using testing::Side;

constexpr int kCreate = 0100;  // Linux's O_CREAT
constexpr unsigned kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                             IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

// Completions must come in the order of posting, each once.
struct Ledger {
  std::uint64_t posted_sends = 0;
  std::uint64_t posted_receives = 0;
  std::uint64_t done_sends = 0;
  std::uint64_t done_receives = 0;
};

class Arena : public Attacked<testing::Pair> {
 public:
  explicit Arena(std::uint8_t first) : Attacked(kAccess) {
    static constexpr ibv_qp_state kStates[] = {IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD};
    ConnectionOptions options;
    options.rnr_retry = 3;
    options.access |= IBV_ACCESS_REMOTE_ATOMIC;
    const ibv_qp_state state = kStates[first % 3];
    static constexpr ibv_qp_type kTypes[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_XRC_SEND};
    ConnectionOptions of_b = options;
    of_b.type = options.type = kTypes[first / 3 % 3];
    if (options.type == IBV_QPT_UC) service_ = static_cast<unsigned>(roce::Service::kUc) << 5;
    a.create_qp(options);
    if (options.type == IBV_QPT_XRC_SEND) {
      service_ = static_cast<unsigned>(roce::Service::kXrc) << 5;
      of_b.type = IBV_QPT_XRC_RECV;
      create_receiver();
    } else {
      b.create_qp(options);
    }
    a.to_init(options);
    b.to_init(of_b);
    a.to_rtr(options, b);
    b.to_rtr(of_b, a);
    a.to_rts(options);
    if (state == IBV_QPS_RTR) return;
    b.to_rts(of_b);
    if (state == IBV_QPS_SQD && queue_ == nullptr) CM_ASSERT(b.modify(IBV_QPS_SQD, 0, {}) == 0);
  }
  ~Arena() override {
    if (queue_ == nullptr) return;
    b.hca->destroy_qp(b.qp).value();
    b.qp = nullptr;
    b.hca->destroy_srq(queue_).value();
    CM_ASSERT(ibv_close_xrcd(domain_) == 0);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void step(Script& script) {
    switch (script.byte() % 10) {
      case 0:
        forge(script, b, a);
        break;
      case 1:
        forge(script, a, b);
        break;
      case 2:
        damage(script);
        break;
      case 3:
        receive(script);
        break;
      case 4:
        send(script, a, b, of_a_);
        break;
      case 5:
        send(script, b, a, of_b_);
        break;
      case 6:
        carry_one();
        break;
      case 7:
        next_timer();
        break;
      case 8:
        static_cast<void>(a.hca->next_packet());
        break;  // lost
      case 9:
        raw(script);
        break;
    }
    check(a, of_a_);
    check(b, of_b_);
  }

  void finish() {
    for (int i = 0; i < 200 && (carry_one() || next_timer()); ++i) {
    }
    for (Side* side : {&a, &b}) CM_ASSERT(side->modify(IBV_QPS_ERR, 0, {}) == 0);
    check(a, of_a_);
    check(b, of_b_);
    CM_ASSERT(of_a_.done_sends == of_a_.posted_sends);
    // What nobody has taken from a shared receive queue stays there.
    if (queue_ == nullptr) CM_ASSERT(of_b_.done_receives == of_b_.posted_receives);
    check_guards();
  }

 private:
  // An extended connection's half, with a shared receive queue.
  void create_receiver() {
    verbs_context* const operations = verbs_get_ctx(b.context);
    ibv_xrcd_init_attr of_domain{.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
                                 .fd = -1,
                                 .oflags = kCreate};
    domain_ = ibv_open_xrcd(b.context, &of_domain);
    ibv_srq_init_attr_ex of_queue{};
    of_queue.attr = {.max_wr = 64, .max_sge = 4, .srq_limit = 0};
    of_queue.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
                         IBV_SRQ_INIT_ATTR_CQ;
    of_queue.srq_type = IBV_SRQT_XRC;
    of_queue.pd = b.pd;
    of_queue.xrcd = domain_;
    of_queue.cq = b.cq;
    queue_ = operations->create_srq_ex(b.context, &of_queue);
    CM_ASSERT(ibv_get_srq_num(queue_, &queue_number_) == 0);
    ibv_qp_init_attr_ex of_qp{};
    of_qp.qp_type = IBV_QPT_XRC_RECV;
    of_qp.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    of_qp.xrcd = domain_;
    b.qp = operations->create_qp_ex(b.context, &of_qp);
    CM_ASSERT(b.qp != nullptr);
  }

  // A packet with chosen headers, near to what the target expects.
  void forge(Script& script, Side& to, Side& from) {
    PacketPtr packet = pool.take();
    packet->source = from.gid;
    packet->destination = to.gid;
    roce::Headers headers;
    const std::uint8_t operation = script.byte() % 0x1e;
    headers.bth.opcode = static_cast<std::uint8_t>(operation | service_);
    const std::uint8_t flags = script.byte();
    headers.bth.solicited = (flags & 1) != 0;
    headers.bth.ack_request = (flags & 2) != 0;
    headers.bth.pad = (flags >> 2) & 3;
    headers.bth.destination = wire::Qpn{to.qp->qp_num};
    const auto shift = static_cast<std::int8_t>(script.byte());
    const bool response = operation >= 0x0d && operation <= 0x12;
    const std::uint32_t base = response ? to.first_psn : from.first_psn;
    headers.bth.psn = wire::Psn(base + static_cast<std::uint32_t>(std::int32_t{shift}));
    headers.reth.address = to.piece(0, 0).addr + script.word() - 256u;
    headers.reth.remote_key = to.mr->rkey ^ (script.byte() % 8 == 0 ? 1u : 0u);
    headers.reth.length = script.word() % 2048u;
    headers.atomic.address =
        headers.reth.address & ((flags & 16) != 0 ? ~std::uint64_t{7} : ~std::uint64_t{0});
    headers.atomic.remote_key = headers.reth.remote_key;
    headers.atomic.swap_or_add = headers.atomic.compare = headers.reth.length;
    headers.invalidate.remote_key = headers.reth.remote_key;
    headers.xrc_srq = queue_number_ ^ ((flags & 32) != 0 ? 1u : 0u);
    headers.aeth.kind = roce::AckKind{static_cast<std::uint8_t>(script.byte() & 3)};
    headers.aeth.value = script.byte() & 31;
    const std::size_t header = roce::kHeaderBytes[headers.bth.opcode];
    const std::size_t body = script.word() % 600u;
    roce::encode(headers, std::span(packet->storage).first(header));
    std::fill_n(packet->storage.begin() + static_cast<std::ptrdiff_t>(header), body + 4,
                script.byte());
    packet->size = static_cast<std::uint16_t>(header + body + roce::kIcrcBytes);
    to.hca->on_packet(runtime.time, std::move(packet));
  }

  void receive(Script& script) {
    if (queue_ != nullptr) {
      ibv_sge piece = b.piece(kGuard, script.word() % 2048u);
      ibv_recv_wr request{};
      request.wr_id = of_b_.posted_receives;
      request.sg_list = &piece;
      request.num_sge = 1;
      ibv_recv_wr* bad = nullptr;
      if (ibv_post_srq_recv(queue_, &request, &bad) == 0) ++of_b_.posted_receives;
      return;
    }
    if (b.post_recv(of_b_.posted_receives, kGuard, script.word() % 2048u) == 0)
      ++of_b_.posted_receives;
  }

  void send(Script& script, Side& from, Side& to, Ledger& ledger) {
    static constexpr ibv_wr_opcode kOpcodes[] = {IBV_WR_SEND,
                                                 IBV_WR_SEND_WITH_IMM,
                                                 IBV_WR_RDMA_WRITE,
                                                 IBV_WR_RDMA_WRITE_WITH_IMM,
                                                 IBV_WR_RDMA_READ,
                                                 IBV_WR_ATOMIC_CMP_AND_SWP,
                                                 IBV_WR_ATOMIC_FETCH_AND_ADD,
                                                 IBV_WR_SEND_WITH_INV,
                                                 IBV_WR_ATOMIC_WRITE,
                                                 IBV_WR_LOCAL_INV};
    const ibv_wr_opcode opcode = kOpcodes[script.byte() % std::size(kOpcodes)];
    const std::uint32_t length = script.word() % 4096u;
    // Inside the registered part on both sides, but for the occasional excess.
    ibv_sge piece = from.piece(2 * kGuard, length);
    ibv_send_wr request{};
    request.wr_id = ledger.posted_sends;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.sg_list = &piece;
    request.num_sge = 1;
    request.wr.rdma = {.remote_addr = to.piece(2 * kGuard, 0).addr, .rkey = to.mr->rkey};
    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
      request.wr.atomic.rkey = to.mr->rkey;
      request.wr.atomic.compare_add = length;
    }
    request.qp_type.xrc.remote_srqn = queue_number_;
    ibv_send_wr* bad = nullptr;
    if (ibv_post_send(from.qp, &request, &bad) == 0) ++ledger.posted_sends;
  }

  static void check(Side& side, Ledger& ledger) {
    for (const ibv_wc& wc : side.poll()) {
      const bool received = (wc.opcode & IBV_WC_RECV) != 0;
      std::uint64_t& done = received ? ledger.done_receives : ledger.done_sends;
      CM_ASSERT(wc.wr_id == done);
      ++done;
    }
    CM_ASSERT(ledger.done_sends <= ledger.posted_sends);
    CM_ASSERT(ledger.done_receives <= ledger.posted_receives);
  }

  Ledger of_a_;
  Ledger of_b_;
  unsigned service_ = 0;        // its bits in opcodes
  ibv_xrcd* domain_ = nullptr;  // of an extended connection, as the next two
  ibv_srq* queue_ = nullptr;
  std::uint32_t queue_number_ = 0;
};

}  // namespace

int fuzz_connection(const std::uint8_t* data, std::size_t size) {
  Script script(data, size);
  Arena arena(script.byte());
  while (!script.over()) arena.step(script);
  arena.finish();
  return 0;
}

}  // namespace anyrdma::verbs::soft::fuzz
