#include "verbs/soft/fuzz/fuzz_datagram.h"

#include <algorithm>
#include <span>
#include <utility>

#include "verbs/assert.h"
#include "verbs/soft/fuzz/attacked.h"
#include "verbs/soft/fuzz/script.h"
#include "verbs/soft/testing/datagram_pair.h"

namespace anyrdma::verbs::soft::fuzz {

namespace {

ibv_gid group() {
  ibv_gid gid{};
  gid.raw[0] = 0xff;
  gid.raw[15] = 1;
  return gid;
}

class Arena : public Attacked<testing::DatagramPair> {
 public:
  explicit Arena(std::uint8_t first) : Attacked(IBV_ACCESS_LOCAL_WRITE) {
    if (first % 2 == 0) b.hca->attach_mcast(b.qp, group(), 0).value();
    to_group_ = a.hca->create_ah(a.pd, path_to(group())).value();
  }
  ~Arena() override {
    a.hca->destroy_ah(to_group_).value();
    (void)b.hca->detach_mcast(b.qp, group(), 0);
  }

  void step(Script& script) {
    switch (script.byte() % 7) {
      case 0:
        forge(script);
        break;
      case 1:
        raw(script);
        break;
      case 2:
        damage(script);
        break;
      case 3:
        receive(script);
        break;
      case 4:
        post(script);
        break;
      case 5:
        carry_one();
        break;
      case 6:
        recover();
        break;
    }
    check();
  }

  void finish() {
    carry();
    check();
    CM_ASSERT(b.modify(IBV_QPS_ERR, 0, {}) == 0);
    check();
    CM_ASSERT(received_ == posted_);
    check_guards();
  }

 private:
  // A packet with chosen headers, near to what b expects.
  void forge(Script& script) {
    PacketPtr packet = pool.take();
    const std::uint8_t flags = script.byte();
    packet->source = (flags & 1) != 0 ? b.gid : a.gid;
    packet->destination = (flags & 2) != 0 ? group() : b.gid;
    roce::Headers headers;
    headers.bth.opcode = (flags & 4) != 0 ? roce::kUdSendOnlyImm : roce::kUdSendOnly;
    headers.bth.destination = (flags & 8) != 0 ? wire::kMulticastQpn : wire::Qpn{b.qp->qp_num};
    headers.bth.pad = (flags >> 4) & 3;
    headers.bth.solicited = (flags & 64) != 0;
    headers.deth.queue_key = (flags & 128) != 0 ? script.byte() : kQueueKey;
    headers.deth.source = wire::Qpn{script.byte() % 2 == 0 ? b.qp->qp_num : a.qp->qp_num};
    const std::size_t header = roce::kHeaderBytes[headers.bth.opcode];
    const std::size_t body = script.word() % 4101u;
    roce::encode(headers, std::span(packet->storage).first(header));
    std::fill_n(packet->storage.begin() + static_cast<std::ptrdiff_t>(header), body + 4,
                script.byte());
    packet->size = static_cast<std::uint16_t>(header + body + roce::kIcrcBytes);
    b.hca->on_packet(runtime.time, std::move(packet));
  }

  // Of any length, mostly within the registered part.
  void receive(Script& script) {
    const std::uint32_t length = script.word() % 8192u;
    if (b.post_recv(posted_, kGuard, length) != 0) return;
    room_[posted_ % room_.size()] = length;
    ++posted_;
  }

  void post(Script& script) {
    const std::uint8_t flags = script.byte();
    testing::DatagramOptions options;
    options.opcode = (flags & 1) != 0 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
    options.flags = (flags & 2) != 0 ? unsigned{IBV_SEND_INLINE} : unsigned{IBV_SEND_SIGNALED};
    if ((flags & 4) != 0) options.ah = to_group_;
    if ((flags & 4) != 0) options.qpn = value(wire::kMulticastQpn);
    if ((flags & 8) != 0) options.queue_key = 0x80000000;
    (void)send(flags, script.word() % 5000u, options);
  }

  // A message that did not fit has ended b's queue pair.
  void recover() {
    if (b.qp->state != IBV_QPS_ERR) return;
    check();
    CM_ASSERT(received_ == posted_);
    CM_ASSERT(b.modify(IBV_QPS_RESET, 0, {}) == 0);
    to_rts(b, b.qp, kQueueKey);
  }

  void check() {
    (void)a.poll();
    for (const ibv_wc& wc : b.poll()) {
      CM_ASSERT(wc.wr_id == received_);
      const std::uint32_t room = room_[received_ % room_.size()];
      if (wc.status == IBV_WC_SUCCESS) CM_ASSERT(wc.byte_len <= room);
      ++received_;
    }
    CM_ASSERT(received_ <= posted_);
  }

  ibv_ah* to_group_ = nullptr;
  std::uint64_t posted_ = 0;
  std::uint64_t received_ = 0;
  std::array<std::uint32_t, 64> room_{};  // of the receives posted last: the queue holds no more
};

}  // namespace

int fuzz_datagram(const std::uint8_t* data, std::size_t size) {
  Script script(data, size);
  Arena arena(script.byte());
  while (!script.over()) arena.step(script);
  arena.finish();
  return 0;
}

}  // namespace anyrdma::verbs::soft::fuzz
