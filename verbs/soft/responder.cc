#include "verbs/soft/responder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs/assert.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/rc_constants.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr std::uint32_t kSequenceMask = 0xffffff;

bool has_immediate(const roce::OpcodeRow& row) {
  return (row.headers & roce::kImmDt) != 0;
}

__be32 immediate_of(std::span<const std::uint8_t> datagram, std::uint8_t opcode) {
  return htobe32(roce::ImmDt::parse(roce::view<roce::ImmDt>(datagram, opcode, roce::kImmDt)).data);
}

}  // namespace

void Responder::start() {
  expected_ = wire::Psn{qp_.attr.rq_psn};
  message_sequence_ = 0;
  gap_reported_ = false;
  message_ = Message::kNone;
}

// --- requests -----------------------------------------------------------------------------------

void Responder::on_request(const roce::Envelope& packet, const roce::OpcodeRow& row,
                           std::span<const std::uint8_t> datagram) {
  const roce::Bth& bth = packet.bth;
  if (bth.psn != expected_) {
    if (bth.psn.before(expected_)) {
      on_duplicate(bth, row, datagram);
    } else if (!gap_reported_) {
      gap_reported_ = true;
      answer(roce::AckKind::kNak, static_cast<std::uint8_t>(roce::NakCode::kPsnSequence),
             expected_);
    }
    return;
  }
  if (!in_sequence(row) || !length_fits(row, packet.payload.size())) {
    refuse(roce::NakCode::kInvalidRequest, bth.psn, IBV_WC_LOC_QP_OP_ERR);
    return;
  }
  switch (row.operation) {
    case roce::Operation::kSend:
      on_send(packet, row, datagram);
      return;
    case roce::Operation::kWrite:
      on_write(packet, row, datagram);
      return;
    case roce::Operation::kReadRequest:
      on_read(packet, roce::Reth::parse(roce::view<roce::Reth>(datagram, bth.opcode, roce::kReth)));
      return;
    case roce::Operation::kCompareSwap:
    case roce::Operation::kFetchAdd:
    case roce::Operation::kNone:
    case roce::Operation::kReadResponse:
    case roce::Operation::kAcknowledge:
    case roce::Operation::kAtomicAcknowledge:
    case roce::Operation::kCongestion:
      // Atomics answer here once the HCA has them; the others are no requests.
      refuse(roce::NakCode::kInvalidRequest, bth.psn, IBV_WC_LOC_QP_OP_ERR);
      return;
  }
}

// A packet that was already done: its answer is repeated, its effect is not. READs are done again,
// since their responses are not kept (IBTA vol 1, 9.7.5.1.5).
void Responder::on_duplicate(const roce::Bth& bth, const roce::OpcodeRow& row,
                             std::span<const std::uint8_t> datagram) {
  ++qp_.core.counters.duplicates;
  if (row.operation != roce::Operation::kReadRequest) {
    acknowledge(expected_ + 0xffffff);
    return;
  }
  const std::uint32_t limit = 2u * qp_.attr.max_dest_rd_atomic;
  const auto reth = roce::Reth::parse(roce::view<roce::Reth>(datagram, bth.opcode, roce::kReth));
  const bool allowed =
      (qp_.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) != 0 && reth.length <= kMessageBytesMax;
  if (!allowed || reads_waiting_ >= limit) return;
  ++reads_waiting_;
  answers_.push_back({.psn = bth.psn,
                      .message_sequence = message_sequence_,
                      .read = true,
                      .repeated = true,
                      .key = reth.remote_key,
                      .remaining = reth.length,
                      .address = reth.address});
}

// First and Only begin a message, Middle and Last continue one of the same kind (IBTA vol 1,
// 9.7.4.1.2, table 48).
bool Responder::in_sequence(const roce::OpcodeRow& row) const {
  if ((row.headers & roce::kIeth) != 0) return false;  // invalidation comes with memory windows
  if (roce::is_first(row.place)) return message_ == Message::kNone;
  if (row.operation == roce::Operation::kSend) return message_ == Message::kSend;
  return row.operation == roce::Operation::kWrite && message_ == Message::kWrite;
}

bool Responder::length_fits(const roce::OpcodeRow& row, std::size_t length) const {
  if (!row.payload) return true;
  if (!roce::is_last(row.place)) return length == qp_.mtu();
  return length <= qp_.mtu() && (length > 0 || roce::is_first(row.place));
}

void Responder::on_send(const roce::Envelope& packet, const roce::OpcodeRow& row,
                        std::span<const std::uint8_t> datagram) {
  if (roce::is_first(row.place)) {
    if (!qp_.receives.ready()) {
      receiver_not_ready(packet.bth.psn);
      return;
    }
    message_ = Message::kSend;
    received_ = 0;
  }
  const ibv_wc_status status = qp_.receives.fill(received_, packet.payload);
  if (status != IBV_WC_SUCCESS) {
    // Too long is the requester's mistake, memory that cannot be written is ours.
    refuse(status == IBV_WC_LOC_LEN_ERR ? roce::NakCode::kInvalidRequest
                                        : roce::NakCode::kRemoteOperational,
           packet.bth.psn, status);
    return;
  }
  received_ += packet.payload.size();
  if (roce::is_last(row.place)) end_message(packet, row, datagram);
  accept(packet.bth);
}

void Responder::on_write(const roce::Envelope& packet, const roce::OpcodeRow& row,
                         std::span<const std::uint8_t> datagram) {
  const wire::Psn psn = packet.bth.psn;
  if ((qp_.attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0) {
    refuse(roce::NakCode::kInvalidRequest, psn, IBV_WC_LOC_QP_OP_ERR);
    return;
  }
  // Before anything is written or remembered, so that the repetition finds nothing done.
  if (has_immediate(row) && !qp_.receives.ready()) {
    receiver_not_ready(psn);
    return;
  }
  const std::uint8_t opcode = packet.bth.opcode;
  if (roce::is_first(row.place) &&
      !begin_write(roce::Reth::parse(roce::view<roce::Reth>(datagram, opcode, roce::kReth)))) {
    refuse(roce::NakCode::kRemoteAccess, psn, IBV_WC_LOC_ACCESS_ERR);
    return;
  }
  const std::size_t size = packet.payload.size();
  const std::uint64_t end = received_ + size;
  const bool fits = roce::is_last(row.place) ? end == write_length_ : end < write_length_;
  if (!fits) {
    refuse(roce::NakCode::kInvalidRequest, psn, IBV_WC_LOC_QP_OP_ERR);
    return;
  }
  if (size > 0) {
    std::uint8_t* to = qp_.core.memory.translate(write_key_, qp_.pd, write_address_ + received_,
                                                 size, IBV_ACCESS_REMOTE_WRITE);
    if (to == nullptr) {
      refuse(roce::NakCode::kRemoteAccess, psn, IBV_WC_LOC_ACCESS_ERR);
      return;
    }
    std::memcpy(to, packet.payload.data(), size);
  }
  received_ = end;
  if (roce::is_last(row.place)) end_message(packet, row, datagram);
  accept(packet.bth);
}

bool Responder::begin_write(const roce::Reth& reth) {
  if (reth.length > kMessageBytesMax) return false;
  if (reth.length > 0 && qp_.core.memory.translate(reth.remote_key, qp_.pd, reth.address,
                                                   reth.length, IBV_ACCESS_REMOTE_WRITE) == nullptr)
    return false;
  message_ = Message::kWrite;
  received_ = 0;
  write_address_ = reth.address;
  write_key_ = reth.remote_key;
  write_length_ = reth.length;
  return true;
}

void Responder::on_read(const roce::Envelope& packet, const roce::Reth& reth) {
  const wire::Psn psn = packet.bth.psn;
  if ((qp_.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) == 0 ||
      reads_waiting_ >= qp_.attr.max_dest_rd_atomic || reth.length > kMessageBytesMax) {
    refuse(roce::NakCode::kInvalidRequest, psn, IBV_WC_LOC_QP_OP_ERR);
    return;
  }
  if (reth.length > 0 &&
      qp_.core.memory.translate(reth.remote_key, qp_.pd, reth.address, reth.length,
                                IBV_ACCESS_REMOTE_READ) == nullptr) {
    refuse(roce::NakCode::kRemoteAccess, psn, IBV_WC_LOC_ACCESS_ERR);
    return;
  }
  const std::uint32_t packets = std::max(1u, (reth.length + qp_.mtu() - 1) / qp_.mtu());
  expected_ = expected_ + packets;
  message_sequence_ = (message_sequence_ + 1) & kSequenceMask;
  gap_reported_ = false;
  ++reads_waiting_;
  answers_.push_back({.psn = psn,
                      .message_sequence = message_sequence_,
                      .read = true,
                      .key = reth.remote_key,
                      .remaining = reth.length,
                      .address = reth.address});
}

void Responder::end_message(const roce::Envelope& packet, const roce::OpcodeRow& row,
                            std::span<const std::uint8_t> datagram) {
  const bool is_send = message_ == Message::kSend;
  message_ = Message::kNone;
  message_sequence_ = (message_sequence_ + 1) & kSequenceMask;
  if (!is_send && !has_immediate(row)) return;
  ibv_wc completion{};
  completion.opcode = is_send ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM;
  completion.byte_len = static_cast<std::uint32_t>(received_);
  if (has_immediate(row)) {
    completion.imm_data = immediate_of(datagram, packet.bth.opcode);
    completion.wc_flags = IBV_WC_WITH_IMM;
  }
  complete_receive(completion, packet.bth.solicited);
}

void Responder::complete_receive(ibv_wc& completion, bool solicited) {
  completion.src_qp = qp_.attr.dest_qp_num;
  qp_.receives.complete(completion, solicited);
}

void Responder::accept(const roce::Bth& bth) {
  expected_ = expected_ + 1;
  gap_reported_ = false;
  if (bth.ack_request) acknowledge(bth.psn);
}

// --- answers ------------------------------------------------------------------------------------

void Responder::acknowledge(wire::Psn psn) {
  answer(roce::AckKind::kAck, roce::kCreditsUnlimited, psn);
}

void Responder::answer(roce::AckKind kind, std::uint8_t value, wire::Psn psn) {
  // One acknowledgement covers all before it (IBTA vol 1, 9.7.5.1.1).
  if (kind == roce::AckKind::kAck && !answers_.empty()) {
    Answer& last = answers_.back();
    if (!last.read && last.kind == roce::AckKind::kAck) {
      last.psn = psn;
      last.message_sequence = message_sequence_;
      return;
    }
  }
  answers_.push_back(
      {.psn = psn, .message_sequence = message_sequence_, .kind = kind, .value = value});
}

void Responder::receiver_not_ready(wire::Psn psn) {
  gap_reported_ = true;  // what follows is out of order until this packet comes again
  ++qp_.core.counters.rnr_naks_sent;
  answer(roce::AckKind::kRnrNak, qp_.attr.min_rnr_timer, psn);
}

// The peer broke a rule, or we cannot serve it: tell it why, and end the connection (IBTA vol 1,
// table 58). A receive in use completes with `status`.
void Responder::refuse(roce::NakCode code, wire::Psn psn, ibv_wc_status status) {
  answer(roce::AckKind::kNak, static_cast<std::uint8_t>(code), psn);
  if (message_ == Message::kSend && !qp_.receives.empty()) {
    ibv_wc completion{};
    completion.status = status;
    completion.opcode = IBV_WC_RECV;
    message_ = Message::kNone;
    complete_receive(completion, true);
  } else if (code == roce::NakCode::kRemoteAccess) {
    qp_.raise(IBV_EVENT_QP_ACCESS_ERR);
  } else {
    qp_.raise(IBV_EVENT_QP_REQ_ERR);
  }
  qp_.enter_error();
}

PacketPtr Responder::next_packet() {
  if (answers_.empty()) return nullptr;
  Answer& answer = answers_.front();
  if (answer.read) return make_read_response(answer);
  PacketPtr packet = make_acknowledge(answer);
  answers_.pop_front();
  return packet;
}

PacketPtr Responder::make_acknowledge(const Answer& answer) {
  PacketPtr packet = qp_.make_packet(roce::kRcAcknowledge, answer.psn, 0, false, false);
  constexpr std::size_t kAt = roce::offset_of(roce::kRcAcknowledge, roce::kAeth);
  roce::Aeth{answer.kind, answer.value, answer.message_sequence}.serialize(
      std::span(packet->storage).subspan<kAt, roce::Aeth::kBytes>());
  return packet;
}

PacketPtr Responder::make_read_response(Answer& answer) {
  const std::uint32_t size = std::min(qp_.mtu(), answer.remaining);
  const std::uint8_t* from = nullptr;
  if (size > 0) {
    from =
        qp_.core.memory.translate(answer.key, qp_.pd, answer.address, size, IBV_ACCESS_REMOTE_READ);
    if (from == nullptr) return read_failed();
  }
  constexpr std::uint8_t kOpcodes[2][2] = {{roce::kRcReadResponseMiddle, roce::kRcReadResponseLast},
                                           {roce::kRcReadResponseFirst, roce::kRcReadResponseOnly}};
  const bool last = size == answer.remaining;
  const std::uint8_t opcode = kOpcodes[!answer.begun][last];
  PacketPtr packet = qp_.make_packet(opcode, answer.psn, size, false, false);
  if ((roce::kOpcodes[opcode].headers & roce::kAeth) != 0) {
    roce::Aeth{roce::AckKind::kAck, roce::kCreditsUnlimited, answer.message_sequence}.serialize(
        std::span(packet->storage)
            .subspan(roce::offset_of(opcode, roce::kAeth))
            .first<roce::Aeth::kBytes>());
  }
  if (size > 0) std::memcpy(packet->storage.data() + roce::kHeaderBytes[opcode], from, size);
  answer.begun = true;
  answer.psn = answer.psn + 1;
  answer.address += size;
  answer.remaining -= size;
  if (last) {
    --reads_waiting_;
    answers_.pop_front();
  }
  return packet;
}

// The region went away after the request was accepted. A duplicate is dropped in silence (IBTA vol
// 1, 9.7.5.1.5): the peer may have had its data long ago.
PacketPtr Responder::read_failed() {
  const Answer failed = answers_.pop_front();
  --reads_waiting_;
  if (failed.repeated) return next_packet();
  forget_answers();
  refuse(roce::NakCode::kRemoteAccess, failed.psn, IBV_WC_LOC_ACCESS_ERR);
  return next_packet();
}

// --- endings ------------------------------------------------------------------------------------

void Responder::discard() {
  answers_.clear();
  reads_waiting_ = 0;
  message_ = Message::kNone;
  gap_reported_ = false;
}

}  // namespace anyrdma::verbs::soft
