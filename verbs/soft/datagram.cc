#include "verbs/soft/datagram.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "verbs/assert.h"
#include "verbs/soft/frame.h"
#include "verbs/soft/ownership.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/scatter_gather.h"
#include "verbs/soft/send_request.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr std::uint32_t kQpnMask = 0xffffff;
/// Set in a request's QKey, it asks for the queue pair's own (IBTA vol 1, 10.2.5).
constexpr std::uint32_t kOwnQueueKey = 0x8000'0000;

}  // namespace

void DatagramService::configure() {
  const std::size_t list = std::size_t{qp_.cap.max_send_sge} * sizeof(ibv_sge);
  queue_.configure(qp_.cap.max_send_wr, std::max<std::size_t>(list, qp_.cap.max_inline_data),
                   qp_.core.config.free_when_executed);
  discard();
}

void DatagramService::start() {
  next_psn_ = wire::Psn{qp_.attr.sq_psn};
}

// --- sending ------------------------------------------------------------------------------------

int DatagramService::check(const ibv_send_wr& request) const {
  if (request.opcode != IBV_WR_SEND && request.opcode != IBV_WR_SEND_WITH_IMM) return EINVAL;
  if (const int error = check_send_request(request, qp_.cap, kMessageBytesMax, true); error != 0)
    return error;
  return request.wr.ud.ah == nullptr ? EINVAL : 0;
}

int DatagramService::post(const ibv_send_wr& request) {
  if (const int error = check(request); error != 0) return error;
  if (queue_.full()) {
    if (qp_.core.ownership != nullptr) qp_.core.ownership->on_full(qp_);
    return ENOMEM;
  }
  const auto& target = *static_cast<const SoftAh*>(request.wr.ud.ah);
  DatagramWork& work = queue_.push();
  work.wr_id = request.wr_id;
  work.path = target.path;
  work.path.udp_source_port = qp_.path.udp_source_port;
  const std::uint32_t key = request.wr.ud.remote_qkey;
  work.queue_key = (key & kOwnQueueKey) != 0 ? qp_.attr.qkey : key;
  work.destination = wire::Qpn{request.wr.ud.remote_qpn & kQpnMask};
  work.immediate = request.imm_data;
  work.status = target.pd == qp_.pd ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR;
  work.sge_count = static_cast<std::uint8_t>(request.num_sge);
  work.with_immediate = request.opcode == IBV_WR_SEND_WITH_IMM;
  work.signaled = qp_.signal_all || (request.send_flags & IBV_SEND_SIGNALED) != 0;
  work.solicited = (request.send_flags & IBV_SEND_SOLICITED) != 0;
  work.inline_data = (request.send_flags & IBV_SEND_INLINE) != 0;
  copy_list(work, request);
  work.fetch = 0;
  if (qp_.effects && !work.inline_data && work.length > 0) work.fetch = qp_.effects->choose_fetch();
  if (qp_.core.ownership != nullptr) qp_.core.ownership->on_send(qp_, request, work.signaled);
  if (qp_.state == IBV_QPS_ERR || qp_.state == IBV_QPS_SQE) flush();
  return 0;
}

bool DatagramService::wants_to_send() {
  if (qp_.state != IBV_QPS_RTS || queue_.empty()) return false;
  const std::uint8_t fetch = queue_.front().fetch;
  return fetch == 0 || qp_.effects->fetch_is_due(fetch, 0, 1);
}

PacketPtr DatagramService::next_packet() {
  if (!wants_to_send()) return nullptr;
  PacketPtr packet;
  const ibv_wc_status status = attempt(queue_.front(), packet);
  complete_front(status);
  if (status != IBV_WC_SUCCESS) qp_.enter_send_error();
  return packet;
}

ibv_wc_status DatagramService::attempt(DatagramWork& work, PacketPtr& packet) {
  if (work.status != IBV_WC_SUCCESS) return work.status;
  if (!work.inline_data && !accessible(qp_.core.memory, qp_.pd, {work.list(), work.sge_count}, 0))
    return IBV_WC_LOC_PROT_ERR;
  if (work.length > qp_.core.mtu()) {
    // Nothing is sent, and that is no error (IBTA vol 1, C10-93.1.1); rxe does the same.
    ++qp_.core.counters.too_long;
    return IBV_WC_SUCCESS;
  }
  const std::uint8_t opcode = work.with_immediate ? roce::kUdSendOnlyImm : roce::kUdSendOnly;
  roce::Bth bth;
  bth.opcode = opcode;
  bth.solicited = work.solicited;
  bth.destination = work.destination;
  bth.psn = next_psn_;
  packet = qp_.make_packet(work.path, bth, work.length);
  roce::put(packet->storage, opcode, roce::kDeth,
            roce::Deth{work.queue_key, wire::Qpn{qp_.qp_num}});
  if (work.with_immediate)
    roce::put(packet->storage, opcode, roce::kImmDt, roce::ImmDt{be32toh(work.immediate)});
  std::uint8_t* const payload = packet->storage.data() + roce::kHeaderBytes[opcode];
  if (work.inline_data) {
    std::memcpy(payload, work.data(), work.length);
  } else if (!gather(qp_.core.memory, qp_.pd, work.list(), 0, work.length, payload)) {
    packet.reset();
    return IBV_WC_LOC_PROT_ERR;
  }
  next_psn_ = next_psn_ + 1;
  return IBV_WC_SUCCESS;
}

void DatagramService::complete_front(ibv_wc_status status) {
  const DatagramWork& work = queue_.front();
  const bool reported = work.signaled || status != IBV_WC_SUCCESS;
  if (qp_.core.ownership != nullptr) qp_.core.ownership->on_send_done(qp_, status, reported);
  const FreedPlaces frees = queue_.cover_front(reported);
  if (qp_.counters != nullptr)
    qp_.counters->count_sent(IBV_WC_SEND, work.length, status == IBV_WC_SUCCESS);
  if (reported) {
    ibv_wc completion{};
    completion.wr_id = work.wr_id;
    completion.status = status;
    completion.opcode = IBV_WC_SEND;
    completion.byte_len = work.length;
    completion.qp_num = qp_.qp_num;
    qp_.send_completions().push(completion, false, frees);
  }
  queue_.pop();
}

void DatagramService::flush() {
  while (!queue_.empty()) complete_front(IBV_WC_WR_FLUSH_ERR);
}

// --- receiving ----------------------------------------------------------------------------------

void DatagramService::on_datagram(const roce::Envelope& envelope, const Packet& packet) {
  Hca::Counters& counters = qp_.core.counters;
  if (qp_.state != IBV_QPS_RTR && qp_.state != IBV_QPS_RTS && qp_.state != IBV_QPS_SQD &&
      qp_.state != IBV_QPS_SQE) {
    ++counters.wrong_state;
    return;
  }
  const std::uint8_t opcode = envelope.bth.opcode;
  const auto deth =
      roce::Deth::parse(roce::view<roce::Deth>(packet.payload(), opcode, roce::kDeth));
  if (deth.queue_key != qp_.attr.qkey) {
    ++counters.bad_queue_key;
    return;
  }
  if (!qp_.receives.ready()) {
    ++counters.no_receive;
    return;
  }
  ibv_wc completion{};
  completion.status = receive(envelope, packet);
  completion.opcode = IBV_WC_RECV;
  completion.byte_len =
      static_cast<std::uint32_t>(roce::kRoutingHeaderBytes + envelope.payload.size());
  completion.src_qp = value(deth.source);
  completion.wc_flags = IBV_WC_GRH;
  if (qp_.core.config.link_layer == IBV_LINK_LAYER_INFINIBAND && qp_.core.lids != nullptr)
    completion.slid = qp_.core.lids->lid_of(packet.source);
  if (opcode == roce::kUdSendOnlyImm) {
    const auto immediate = roce::view<roce::ImmDt>(packet.payload(), opcode, roce::kImmDt);
    completion.imm_data = htobe32(roce::ImmDt::parse(immediate).data);
    completion.wc_flags |= IBV_WC_WITH_IMM;
  }
  qp_.receives.complete(completion, envelope.bth.solicited);
  if (completion.status != IBV_WC_SUCCESS) qp_.enter_error();
}

ibv_wc_status DatagramService::receive(const roce::Envelope& envelope, const Packet& packet) {
  const roce::RoutingHeader header = roce::routing_header_of(packet);
  const ibv_wc_status status = qp_.receives.fill(0, header);
  if (status != IBV_WC_SUCCESS) return status;
  return qp_.receives.fill(header.size(), envelope.payload);
}

}  // namespace anyrdma::verbs::soft
