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
    if (first / 3 % 2 != 0) {
      options.type = IBV_QPT_UC;
      service_ = static_cast<unsigned>(roce::Service::kUc) << 5;
    }
    for (Side* side : {&a, &b}) {
      side->create_qp(options);
      side->to_init(options);
    }
    a.to_rtr(options, b);
    b.to_rtr(options, a);
    a.to_rts(options);
    if (state == IBV_QPS_RTR) return;
    b.to_rts(options);
    if (state == IBV_QPS_SQD) CM_ASSERT(b.modify(IBV_QPS_SQD, 0, {}) == 0);
  }

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
    CM_ASSERT(of_b_.done_receives == of_b_.posted_receives);
    check_guards();
  }

 private:
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
    if (b.post_recv(of_b_.posted_receives, kGuard, script.word() % 2048u) == 0)
      ++of_b_.posted_receives;
  }

  static void send(Script& script, Side& from, Side& to, Ledger& ledger) {
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
    if (from.post_send(opcode, ledger.posted_sends, 2 * kGuard, length, &to, 2 * kGuard) == 0)
      ++ledger.posted_sends;
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
  unsigned service_ = 0;  // its bits in opcodes
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
