#include "verbs/soft/responder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs/assert.h"
#include "verbs/soft/atomics.h"
#include "verbs/soft/ownership.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/races.h"
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

std::uint32_t key_to_invalidate(std::span<const std::uint8_t> datagram, std::uint8_t opcode) {
  return roce::Ieth::parse(roce::view<roce::Ieth>(datagram, opcode, roce::kIeth)).remote_key;
}

roce::Reth reth_of(std::span<const std::uint8_t> datagram, std::uint8_t opcode) {
  return roce::Reth::parse(roce::view<roce::Reth>(datagram, opcode, roce::kReth));
}

roce::AtomicEth atomic_of(std::span<const std::uint8_t> datagram, std::uint8_t opcode) {
  return roce::AtomicEth::parse(roce::view<roce::AtomicEth>(datagram, opcode, roce::kAtomicEth));
}

}  // namespace

void Responder::start() {
  atomics_.clear();
  expected_ = wire::Psn{qp_.attr.rq_psn};
  domain_ = qp_.pd;
  message_sequence_ = 0;
  gap_reported_ = false;
  message_ = Message::kNone;
}

// --- requests -----------------------------------------------------------------------------------

void Responder::on_request(const roce::Envelope& packet, const roce::OpcodeRow& row,
                           std::span<const std::uint8_t> datagram) {
  qp_.acknowledged() ? on_reliable(packet, row, datagram) : on_unreliable(packet, row, datagram);
}

void Responder::on_reliable(const roce::Envelope& packet, const roce::OpcodeRow& row,
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
  if (!in_sequence(row) || !length_fits(row, packet.payload.size()) ||
      (qp_.service == roce::Service::kXrc && !enter_queue(row, datagram))) {
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
      on_read(packet, reth_of(datagram, bth.opcode));
      return;
    case roce::Operation::kCompareSwap:
    case roce::Operation::kFetchAdd:
      on_atomic(bth, row.operation == roce::Operation::kCompareSwap,
                atomic_of(datagram, bth.opcode));
      return;
    case roce::Operation::kAtomicWrite:
      on_atomic_write(packet, reth_of(datagram, bth.opcode));
      return;
    case roce::Operation::kNone:
    case roce::Operation::kReadResponse:
    case roce::Operation::kAcknowledge:
    case roce::Operation::kAtomicAcknowledge:
    case roce::Operation::kCongestion:
      // No requests.
      refuse(roce::NakCode::kInvalidRequest, bth.psn, IBV_WC_LOC_QP_OP_ERR);
      return;
  }
}

// A packet that was already done: its answer is repeated, its effect is not. READs are done again,
// since their responses are not kept (IBTA vol 1, 9.7.5.1.5). The acknowledgement is of this packet
// and not of the last one that came, which may be a READ: Linux's rxe takes one with a READ's PSN
// for its response, and hands out whatever the memory held.
void Responder::on_duplicate(const roce::Bth& bth, const roce::OpcodeRow& row,
                             std::span<const std::uint8_t> datagram) {
  ++qp_.core.counters.duplicates;
  if (row.operation == roce::Operation::kReadRequest) {
    on_duplicate_read(bth, reth_of(datagram, bth.opcode), domain_of(bth.opcode, datagram));
  } else if ((row.headers & roce::kAtomicEth) != 0 ||
             row.operation == roce::Operation::kAtomicWrite) {
    on_duplicate_atomic(bth.psn);
  } else {
    acknowledge(bth.psn);
  }
}

void Responder::on_duplicate_read(const roce::Bth& bth, const roce::Reth& reth,
                                  const ibv_pd* domain) {
  const std::uint32_t limit = 2u * qp_.attr.max_dest_rd_atomic;
  const bool allowed =
      (qp_.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) != 0 && reth.length <= kMessageBytesMax;
  if (!allowed || domain == nullptr || repeats_waiting_ >= limit) return;
  ++repeats_waiting_;
  answers_.push_back({.psn = bth.psn,
                      .message_sequence = message_sequence_,
                      .read = true,
                      .repeated = true,
                      .key = reth.remote_key,
                      .remaining = reth.length,
                      .address = reth.address,
                      .domain = domain});
}

// What it found the first time is kept until the peer can have no use for it (IBTA vol 1, 9.4.5).
// Without it nothing can be said: the packet is dropped in silence.
void Responder::on_duplicate_atomic(wire::Psn psn) {
  if (repeats_waiting_ >= 2u * qp_.attr.max_dest_rd_atomic) return;
  for (std::size_t i = 0; i < atomics_.size(); ++i)
    if (atomics_[i].psn == psn) return answer_atomic(atomics_[i]);
}

// First and Only begin a message, Middle and Last continue one of the same kind (IBTA vol 1,
// 9.7.4.1.2, table 48).
bool Responder::in_sequence(const roce::OpcodeRow& row) const {
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
  keep_reads();
  const ibv_wc_status status = qp_.receives.fill(received_, packet.payload);
  if (status != IBV_WC_SUCCESS) {
    // Too long is the requester's mistake, memory that cannot be written is ours.
    refuse(status == IBV_WC_LOC_LEN_ERR ? roce::NakCode::kInvalidRequest
                                        : roce::NakCode::kRemoteOperational,
           packet.bth.psn, status);
    return;
  }
  received_ += packet.payload.size();
  if ((row.headers & roce::kIeth) != 0 &&
      !qp_.core.memory.invalidate(key_to_invalidate(datagram, packet.bth.opcode), qp_)) {
    fail_silently(IBV_WC_REM_INV_REQ_ERR);
    return;
  }
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
  std::uint8_t* to = nullptr;
  if (roce::is_first(row.place) && !begin_write(reth_of(datagram, opcode), to)) {
    refuse_write(row, psn);
    return;
  }
  const std::size_t size = packet.payload.size();
  const std::uint64_t end = received_ + size;
  const bool fits = roce::is_last(row.place) ? end == write_length_ : end < write_length_;
  if (!fits) {
    refuse(roce::NakCode::kInvalidRequest, psn, IBV_WC_LOC_QP_OP_ERR);
    return;
  }
  keep_reads();
  if (size > 0) {
    if (!roce::is_first(row.place)) {
      to = qp_.core.memory.translate_remote(write_key_, domain_, qp_, write_address_ + received_,
                                            size, IBV_ACCESS_REMOTE_WRITE);
    }
    if (to == nullptr) note_refused(write_key_, write_length_, "WRITE");
    const bool stored = to != nullptr && store(to, packet.payload, roce::is_first(row.place));
    if (to != nullptr && !stored) note_unmapped(write_key_, write_length_, "WRITE");
    if (!stored) {
      refuse_write(row, psn);
      return;
    }
  }
  received_ = end;
  if (roce::is_last(row.place)) end_message(packet, row, datagram);
  accept(packet.bth);
}

// `to`: where all of the message goes, if that is anywhere.
bool Responder::begin_write(roce::Reth reth, std::uint8_t*& to) {
  if (reth.length > kMessageBytesMax) return false;
  if (reth.length > 0) {
    to = qp_.core.memory.translate_remote(reth.remote_key, domain_, qp_, reth.address, reth.length,
                                          IBV_ACCESS_REMOTE_WRITE);
    if (to == nullptr) {
      note_refused(reth.remote_key, reth.length, "WRITE");
      return false;
    }
    note_use(reth.remote_key, to, reth.length, "WRITE");
  }
  message_ = Message::kWrite;
  received_ = 0;
  write_address_ = reth.address;
  write_key_ = reth.remote_key;
  write_length_ = reth.length;
  return true;
}

void Responder::note_refused(std::uint32_t key, std::uint64_t length, std::string_view what) {
  if (qp_.core.ownership != nullptr) qp_.core.ownership->on_refused(qp_, key, length, what);
}

// The peer asks for more at once than was agreed. What has come twice does not count: the peer may
// have had the first answer by now, and ask for the next.
bool Responder::no_room_for_answer() const {
  return reads_waiting_ >= qp_.attr.max_dest_rd_atomic;
}

void Responder::on_read(const roce::Envelope& packet, const roce::Reth& reth) {
  const wire::Psn psn = packet.bth.psn;
  if ((qp_.attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) == 0 || no_room_for_answer() ||
      reth.length > kMessageBytesMax) {
    refuse(roce::NakCode::kInvalidRequest, psn, IBV_WC_LOC_QP_OP_ERR);
    return;
  }
  const std::uint8_t* from = nullptr;
  if (reth.length > 0) {
    from = qp_.core.memory.translate_remote(reth.remote_key, domain_, qp_, reth.address,
                                            reth.length, IBV_ACCESS_REMOTE_READ);
    if (from == nullptr) {
      note_refused(reth.remote_key, reth.length, "READ");
      refuse(roce::NakCode::kRemoteAccess, psn, IBV_WC_LOC_ACCESS_ERR);
      return;
    }
    note_use(reth.remote_key, from, reth.length, "READ");
  }
  if (qp_.core.races != nullptr && from != nullptr)
    qp_.core.races->on_remote(qp_, const_cast<std::uint8_t*>(from), reth.length,
                              Races::Access::kRead);
  if (qp_.effects) qp_.effects->before_read();
  const std::uint32_t packets = std::max(1u, (reth.length + qp_.mtu() - 1) / qp_.mtu());
  expected_ = expected_ + packets;
  message_sequence_ = (message_sequence_ + 1) & kSequenceMask;
  gap_reported_ = false;
  ++reads_waiting_;
  if (qp_.counters != nullptr) qp_.counters->count(Counted::kRemoteRead, reth.length, true);
  answers_.push_back(
      {.psn = psn,
       .message_sequence = message_sequence_,
       .read = true,
       .key = reth.remote_key,
       .remaining = reth.length,
       .address = reth.address,
       .ticket = qp_.effects && from != nullptr ? qp_.effects->read(from, reth.length) : 0,
       .domain = domain_});
}

// The 8 bytes that an atomic operation asks for; null when it was refused.
void* Responder::atomic_target(wire::Psn psn, std::uint32_t key, std::uint64_t address,
                               unsigned access) {
  if ((qp_.attr.qp_access_flags & access) == 0 || no_room_for_answer() ||
      !is_atomic_address(address)) {
    refuse(roce::NakCode::kInvalidRequest, psn, IBV_WC_LOC_QP_OP_ERR);
    return nullptr;
  }
  std::uint8_t* at =
      qp_.core.memory.translate_remote(key, domain_, qp_, address, kAtomicBytes, access);
  if (at == nullptr) {
    note_refused(key, kAtomicBytes, "atomic operation");
    refuse(roce::NakCode::kRemoteAccess, psn, IBV_WC_LOC_ACCESS_ERR);
    return nullptr;
  }
  note_use(key, at, kAtomicBytes, "atomic operation");
  // A region's own addresses can make an address look aligned that is not.
  if (!is_atomic_address(reinterpret_cast<std::uintptr_t>(at))) {
    refuse(roce::NakCode::kInvalidRequest, psn, IBV_WC_LOC_QP_OP_ERR);
    return nullptr;
  }
  keep_reads();
  return at;
}

void Responder::on_atomic(const roce::Bth& bth, bool compare_swap, const roce::AtomicEth& eth) {
  void* at = atomic_target(bth.psn, eth.remote_key, eth.address, IBV_ACCESS_REMOTE_ATOMIC);
  if (at == nullptr) return;
  std::uint64_t original = 0;
  const AtomicRequest request{
      .compare_swap = compare_swap, .swap_or_add = eth.swap_or_add, .compare = eth.compare};
  std::uint32_t ticket = 0;
  if (!carry_out(at, request, original, ticket)) {
    note_unmapped(eth.remote_key, kAtomicBytes, "atomic operation");
    refuse(roce::NakCode::kRemoteAccess, bth.psn, IBV_WC_LOC_ACCESS_ERR);
    return;
  }
  HcaObserver* const observer = qp_.core.observer;
  if (observer != nullptr) observer->on_atomic_done(qp_, bth.psn.value(), original);
  remember_atomic(bth.psn, original, false, ticket);
}

void Responder::on_atomic_write(const roce::Envelope& packet, const roce::Reth& reth) {
  if (reth.length != kAtomicBytes || packet.payload.size() != kAtomicBytes) {
    refuse(roce::NakCode::kInvalidRequest, packet.bth.psn, IBV_WC_LOC_QP_OP_ERR);
    return;
  }
  void* at = atomic_target(packet.bth.psn, reth.remote_key, reth.address, IBV_ACCESS_REMOTE_WRITE);
  if (at == nullptr) return;
  std::uint64_t value = 0;
  std::memcpy(&value, packet.payload.data(), sizeof value);
  if (qp_.effects) qp_.effects->settle_arrived();
  if (!qp_.core.memory.touch([&] { execute_atomic_write(at, value); })) {
    note_unmapped(reth.remote_key, kAtomicBytes, "atomic WRITE");
    refuse(roce::NakCode::kRemoteAccess, packet.bth.psn, IBV_WC_LOC_ACCESS_ERR);
    return;
  }
  remember_atomic(packet.bth.psn, 0, true);
}

void Responder::remember_atomic(wire::Psn psn, std::uint64_t original, bool stored,
                                std::uint32_t ticket) {
  expected_ = expected_ + 1;
  message_sequence_ = (message_sequence_ + 1) & kSequenceMask;
  gap_reported_ = false;
  while (atomics_.size() >= qp_.attr.max_dest_rd_atomic) atomics_.pop_front();
  atomics_.push_back({psn, message_sequence_, original, stored});
  answer_atomic(atomics_.back(), false);
  answers_.back().ticket = ticket;
}

void Responder::answer_atomic(const Done& done, bool repeated) {
  ++(repeated ? repeats_waiting_ : reads_waiting_);
  answers_.push_back({.psn = done.psn,
                      .message_sequence = done.message_sequence,
                      .atomic = true,
                      .stored = done.stored,
                      .repeated = repeated,
                      .original = done.original});
}

void Responder::end_message(const roce::Envelope& packet, const roce::OpcodeRow& row,
                            std::span<const std::uint8_t> datagram) {
  const bool is_send = message_ == Message::kSend;
  message_ = Message::kNone;
  message_sequence_ = (message_sequence_ + 1) & kSequenceMask;
  if (!is_send && qp_.core.ownership != nullptr) qp_.core.ownership->on_written(qp_);
  if (!is_send && qp_.counters != nullptr)
    qp_.counters->count(Counted::kRemoteWrite, received_, true);
  if (!is_send && !has_immediate(row)) return;
  ibv_wc completion{};
  completion.opcode = is_send ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM;
  completion.byte_len = static_cast<std::uint32_t>(received_);
  if (has_immediate(row)) {
    completion.imm_data = immediate_of(datagram, packet.bth.opcode);
    completion.wc_flags = IBV_WC_WITH_IMM;
  } else if ((row.headers & roce::kIeth) != 0) {
    completion.invalidated_rkey = key_to_invalidate(datagram, packet.bth.opcode);
    completion.wc_flags = IBV_WC_WITH_INV;
  }
  complete_receive(completion, packet.bth.solicited);
}

void Responder::complete_receive(ibv_wc& completion, bool solicited) {
  completion.src_qp = qp_.attr.dest_qp_num;
  if (qp_.effects) qp_.effects->settle_arrived();
  qp_.receives.complete(completion, solicited);
}

void Responder::accept(const roce::Bth& bth) {
  expected_ = expected_ + 1;
  gap_reported_ = false;
  if (bth.ack_request && qp_.acknowledged()) acknowledge(bth.psn);
}

// --- answers ------------------------------------------------------------------------------------

void Responder::acknowledge(wire::Psn psn) {
  answer(roce::AckKind::kAck, roce::kCreditsUnlimited, psn);
}

void Responder::answer(roce::AckKind kind, std::uint8_t value, wire::Psn psn) {
  // One acknowledgement covers all before it (IBTA vol 1, 9.7.5.1.1).
  if (kind == roce::AckKind::kAck && !answers_.empty()) {
    Answer& last = answers_.back();
    if (!last.read && !last.atomic && last.kind == roce::AckKind::kAck) {
      if (last.psn.before(psn)) last.psn = psn;
      last.message_sequence = message_sequence_;
      return;
    }
  }
  answers_.push_back(
      {.psn = psn, .message_sequence = message_sequence_, .kind = kind, .value = value});
}

void Responder::receiver_not_ready(wire::Psn psn) {
  if (!qp_.acknowledged()) {
    ++qp_.core.counters.no_receive;
    return drop_message(IBV_WC_SUCCESS);
  }
  gap_reported_ = true;  // what follows is out of order until this packet comes again
  ++qp_.core.counters.rnr_naks_sent;
  if (qp_.core.ownership != nullptr) qp_.core.ownership->on_not_ready(qp_);
  answer(roce::AckKind::kRnrNak, qp_.attr.min_rnr_timer, psn);
}

// The peer broke a rule, or we cannot serve it: tell it why, and end the connection (IBTA vol 1,
// table 58). A receive in use completes with `status`.
void Responder::refuse(roce::NakCode code, wire::Psn psn, ibv_wc_status status) {
  if (!qp_.acknowledged()) return drop_message(status);
  answer(roce::AckKind::kNak, static_cast<std::uint8_t>(code), psn);
  if (message_ == Message::kSend && !qp_.receives.empty()) {
    fail_receive(status);
  } else if (code == roce::NakCode::kRemoteAccess) {
    qp_.raise(IBV_EVENT_QP_ACCESS_ERR);
  } else {
    qp_.raise(IBV_EVENT_QP_REQ_ERR);
  }
  qp_.enter_error();
}

// A fault of class J (IBTA vol 1, 9.9.6.3): the receive fails and the connection ends, and the
// responder sends neither an acknowledgement nor a NAK. The peer's retries run out.
void Responder::fail_silently(ibv_wc_status status) {
  if (!qp_.acknowledged()) return drop_message(status);
  fail_receive(status);
  qp_.enter_error();
}

// The peer must not write there. Where an immediate comes with it the receive that it takes says so
// (IBTA vol 1, 11.6.2: local access error), else an event does.
void Responder::refuse_write(const roce::OpcodeRow& row, wire::Psn psn) {
  if (!qp_.acknowledged() || !has_immediate(row))
    return refuse(roce::NakCode::kRemoteAccess, psn, IBV_WC_LOC_ACCESS_ERR);
  answer(roce::AckKind::kNak, static_cast<std::uint8_t>(roce::NakCode::kRemoteAccess), psn);
  fail_receive(IBV_WC_LOC_ACCESS_ERR);
  qp_.enter_error();
}

void Responder::fail_receive(ibv_wc_status status) {
  ibv_wc completion{};
  completion.status = status;
  completion.opcode = IBV_WC_RECV;
  message_ = Message::kNone;
  complete_receive(completion, true);
}

PacketPtr Responder::next_packet() {
  if (!wants_to_send()) return nullptr;
  Answer& answer = answers_.front();
  if (answer.read) return make_read_response(answer);
  PacketPtr packet = answer.atomic ? make_atomic_acknowledge(answer) : make_acknowledge(answer);
  finish(answers_.pop_front());
  return packet;
}

void Responder::no_longer_waits(const Answer& answer) {
  --(answer.repeated ? repeats_waiting_ : reads_waiting_);
}

PacketPtr Responder::make_atomic_acknowledge(const Answer& answer) {
  const std::uint8_t opcode =
      qp_.opcode(answer.stored ? roce::kRcReadResponseOnly : roce::kRcAtomicAcknowledge);
  no_longer_waits(answer);
  PacketPtr packet = qp_.make_packet(opcode, answer.psn, 0, false, false);
  roce::put(packet->storage, opcode, roce::kAeth,
            roce::Aeth{roce::AckKind::kAck, roce::kCreditsUnlimited, answer.message_sequence});
  if (!answer.stored)
    roce::put(packet->storage, opcode, roce::kAtomicAckEth, roce::AtomicAckEth{answer.original});
  return packet;
}

PacketPtr Responder::make_acknowledge(const Answer& answer) {
  PacketPtr packet = qp_.make_packet(qp_.opcode(roce::kRcAcknowledge), answer.psn, 0, false, false);
  constexpr std::size_t kAt = roce::offset_of(roce::kRcAcknowledge, roce::kAeth);
  roce::Aeth{answer.kind, answer.value, answer.message_sequence}.serialize(
      std::span(packet->storage).subspan<kAt, roce::Aeth::kBytes>());
  return packet;
}

PacketPtr Responder::make_read_response(Answer& answer) {
  const std::uint32_t size = std::min(qp_.mtu(), answer.remaining);
  const std::uint8_t* from = nullptr;
  if (size > 0) {
    from = qp_.core.memory.translate_remote(answer.key, answer.domain, qp_, answer.address, size,
                                            IBV_ACCESS_REMOTE_READ);
    if (from == nullptr) {
      if (!answer.repeated) note_refused(answer.key, answer.remaining, "READ");
      return read_failed();
    }
    if (answer.ticket != 0) from = found(answer) != nullptr ? found(answer) : from;
  }
  constexpr std::uint8_t kOpcodes[2][2] = {{roce::kRcReadResponseMiddle, roce::kRcReadResponseLast},
                                           {roce::kRcReadResponseFirst, roce::kRcReadResponseOnly}};
  const bool last = size == answer.remaining;
  const std::uint8_t opcode = qp_.opcode(kOpcodes[!answer.begun][last]);
  PacketPtr packet = qp_.make_packet(opcode, answer.psn, size, false, false);
  if ((roce::kOpcodes[opcode].headers & roce::kAeth) != 0) {
    roce::Aeth{roce::AckKind::kAck, roce::kCreditsUnlimited, answer.message_sequence}.serialize(
        std::span(packet->storage)
            .subspan(roce::offset_of(opcode, roce::kAeth))
            .first<roce::Aeth::kBytes>());
  }
  if (!load(from, size, *packet, roce::kHeaderBytes[opcode])) {
    if (!answer.repeated) note_unmapped(answer.key, answer.remaining, "READ");
    return read_failed();
  }
  answer.begun = true;
  answer.psn = answer.psn + 1;
  answer.address += size;
  answer.remaining -= size;
  if (last) {
    no_longer_waits(answer);
    finish(answers_.pop_front());
  }
  return packet;
}

// Copies a piece of what a READ asks for, or lends it. False: it is not there.
bool Responder::load(const std::uint8_t* from, std::uint32_t size, Packet& packet, std::size_t at) {
  if (qp_.core.lends && size >= kLentBytesMin && !qp_.effects) {
    packet.lend(from, at, size);
    lent_.add(packet);
    qp_.core.lent.add(packet);
    return true;
  }
  return size == 0 || qp_.core.memory.copy(packet.storage.data() + at, from, size);
}

// The region, or its memory, went away after the request was accepted. A duplicate is dropped in
// silence (IBTA vol 1, 9.7.5.1.5): the peer may have had its data long ago.
PacketPtr Responder::read_failed() {
  const Answer failed = answers_.pop_front();
  finish(failed);
  no_longer_waits(failed);
  if (failed.repeated) return next_packet();
  forget_answers();
  refuse(roce::NakCode::kRemoteAccess, failed.psn, IBV_WC_LOC_ACCESS_ERR);
  return next_packet();
}

// --- endings ------------------------------------------------------------------------------------

void Responder::discard() {
  lent_.keep_all();
  atomics_.clear();
  forget_answers();
  message_ = Message::kNone;
  gap_reported_ = false;
}

}  // namespace anyrdma::verbs::soft
