#include "verbs/soft/requester.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs/assert.h"
#include "verbs/soft/atomics.h"
#include "verbs/soft/memory_window.h"
#include "verbs/soft/ownership.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/rc_constants.h"
#include "verbs/soft/scatter_gather.h"
#include "verbs/soft/send_request.h"

namespace anyrdma::verbs::soft {

Requester::Requester(SoftQp& qp)
    : qp_(qp),
      core_(qp.core),
      retransmit_(QpTimerTag{&qp, QpTimerKind::kRetransmit}),
      not_ready_(QpTimerTag{&qp, QpTimerKind::kReceiverNotReady}) {}

void Requester::configure() {
  const std::size_t list =
      std::size_t{qp_.cap.max_send_sge} * sizeof(ibv_sge) + sizeof(AtomicOperands);
  queue_.configure(qp_.cap.max_send_wr, std::max<std::size_t>(list, qp_.cap.max_inline_data),
                   core_.config.free_when_executed);
  discard();
}

void Requester::start() {
  next_psn_ = acknowledged_ = end_ = wire::Psn{qp_.attr.sq_psn};
  peer_gone_ = false;
  progress_made();
}

// --- posting ------------------------------------------------------------------------------------

int Requester::check(const ibv_send_wr& request) const {
  const SendOperation* what = find_operation(request.opcode);
  // Not every service has a packet for it (IBTA vol 1, table 38).
  if (what == nullptr || roce::kOpcodes[qp_.opcode(what->packets[3])].service != qp_.service)
    return EINVAL;
  if ((what->kind == WorkKind::kAtomic || what->kind == WorkKind::kAtomicWrite) &&
      core_.config.atomics == IBV_ATOMIC_NONE)
    return EINVAL;
  if (request.opcode == IBV_WR_BIND_MW && !is_whole_binding(request)) return EINVAL;
  return check_send_request(request, qp_.cap, core_.longest_request(), what->may_inline);
}

int Requester::post(const ibv_send_wr& request) {
  if (const int error = check(request); error != 0) return error;
  if (queue_.full()) {
    if (core_.ownership != nullptr) core_.ownership->on_full(qp_);
    return ENOMEM;
  }
  SendWork& work = queue_.push();
  fill(work, request);
  if (core_.ownership != nullptr) core_.ownership->on_send(qp_, request, work.signaled);
  if (qp_.state == IBV_QPS_ERR || qp_.state == IBV_QPS_SQE) flush();
  return 0;
}

void Requester::spoil_last(ibv_wc_status status) {
  SendWork& work = queue_[queue_.tail() - 1];
  if (status == IBV_WC_REM_ACCESS_ERR) {
    work.remote_key = kNoKey;
    return;
  }
  work.status = status;
  if (queue_.size() == 1) fail(status);
}

namespace {

void fill_atomic(SendWork& work, const ibv_send_wr& request) {
  const auto& asked = request.wr.atomic;
  const bool swaps = request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
  work.remote_key = asked.rkey;
  work.length = std::min(work.length, kAtomicBytes);  // no more than its answer
  work.operands() = {.swap_or_add = swaps ? asked.swap : asked.compare_add,
                     .compare = swaps ? asked.compare_add : 0};
}

}  // namespace

void Requester::fill(SendWork& work, const ibv_send_wr& request) {
  const SendOperation& what = kSendOperations[request.opcode];
  work.wr_id = request.wr_id;
  work.remote_address = request.wr.rdma.remote_addr;
  work.remote_key = request.wr.rdma.rkey;
  work.shared_queue = request.qp_type.xrc.remote_srqn;
  work.immediate = request.imm_data;
  work.packets = 0;
  work.responses = 0;
  work.status = IBV_WC_SUCCESS;
  work.kind = what.kind;
  work.opcode = static_cast<std::uint8_t>(request.opcode);
  work.sge_count = static_cast<std::uint8_t>(request.num_sge);
  work.with_immediate = what.immediate;
  work.with_invalidate = what.invalidate;
  work.signaled = qp_.signal_all || (request.send_flags & IBV_SEND_SIGNALED) != 0;
  work.solicited = (request.send_flags & IBV_SEND_SOLICITED) != 0;
  work.fence = (request.send_flags & IBV_SEND_FENCE) != 0;
  work.inline_data = (request.send_flags & IBV_SEND_INLINE) != 0;
  copy_list(work, request);
  work.fetch = 0;
  if (qp_.effects) choose_fetch(work);
  if (work.kind == WorkKind::kAtomic) fill_atomic(work, request);
  if (work.kind == WorkKind::kLocal) fill_local(work, request);
}

// --- sending ------------------------------------------------------------------------------------

bool Requester::wants_to_send() {
  if (next_ == queue_.tail() || waiting_) return false;
  if (qp_.state != IBV_QPS_RTS && !(qp_.state == IBV_QPS_SQD && next_ != started_)) return false;
  if (next_psn_.distance_from(acknowledged_) >= kWindowPackets) return false;
  SendWork& work = queue_[next_];
  if (work.status != IBV_WC_SUCCESS) return false;  // waits for its turn to fail
  if (qp_.effects && !effects_allow(work)) return false;
  if (packet_ != 0 && !has_response(work.kind)) return true;
  if (work.fence && reads_ > 0) return false;
  // A work request that is bound to fail is begun, to find that out.
  return !has_response(work.kind) || qp_.attr.max_rd_atomic == 0 || reads_ < qp_.attr.max_rd_atomic;
}

PacketPtr Requester::next_packet() {
  if (!wants_to_send()) return nullptr;
  SendWork& work = queue_[next_];
  if (work.kind == WorkKind::kLocal) {
    pass_local_work();
    return next_packet();
  }
  if (next_ == started_ && !begin(work)) return nullptr;
  PacketPtr packet = has_response(work.kind) ? make_question(work) : make_packet(work);
  if (!packet) return nullptr;
  if (!qp_.acknowledged()) {
    finish_sent();
  } else if (!retransmit_.armed()) {
    restart_timer(core_.runtime.now());
  }
  return packet;
}

// Gives the work request its PSNs. False when it needs none, or cannot be done: then it fails as
// soon as all work before it has completed (IBTA vol 1, 10.7.3.1).
bool Requester::begin(SendWork& work) {
  work.status = validate(work);
  if (work.status != IBV_WC_SUCCESS) {
    if (next_ == queue_.head()) fail(work.status);
    return false;
  }
  if (core_.near_memory != nullptr && run_near(work)) return false;
  work.first_psn = next_psn_;
  work.packets = std::max(1u, (work.length + qp_.mtu() - 1) / qp_.mtu());
  work.responses = 0;
  if (qp_.effects && has_response(work.kind)) blur_target(work);
  end_ = work.end_psn();
  packet_ = 0;
  ++started_;
  return true;
}

ibv_wc_status Requester::validate(SendWork& work) const {
  if (has_response(work.kind) && qp_.attr.max_rd_atomic == 0) return IBV_WC_LOC_QP_OP_ERR;
  if (work.length > kMessageBytesMax) return IBV_WC_LOC_LEN_ERR;
  if (work.kind == WorkKind::kAtomic && work.length < kAtomicBytes) return IBV_WC_LOC_LEN_ERR;
  const bool stores = work.kind == WorkKind::kAtomicWrite;
  if (stores && work.length != kAtomicBytes) return IBV_WC_LOC_LEN_ERR;
  if (work.inline_data) return IBV_WC_SUCCESS;
  const bool fetches = has_response(work.kind) && !stores;
  const unsigned access = fetches ? unsigned{IBV_ACCESS_LOCAL_WRITE} : kLocalRead;
  const bool allowed = accessible(core_.memory, qp_.pd, {work.list(), work.sge_count}, access);
  return allowed ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
}

PacketPtr Requester::make_request(const SendWork& work, std::uint8_t opcode, std::size_t payload,
                                  bool ack_request, bool solicited) {
  PacketPtr packet = qp_.make_packet(opcode, next_psn_, payload, ack_request, solicited);
  if (qp_.service == roce::Service::kXrc)
    roce::put(packet->storage, opcode, roce::kXrcEth, roce::XrcEth{work.shared_queue});
  return packet;
}

PacketPtr Requester::make_packet(SendWork& work) {
  const std::uint32_t offset = packet_ * qp_.mtu();
  const std::uint32_t size = std::min(qp_.mtu(), work.length - offset);
  const bool first = packet_ == 0;
  const bool last = packet_ + 1 == work.packets;
  const unsigned place = (first ? 1u : 0u) | (last ? 2u : 0u);
  const bool is_write = work.kind == WorkKind::kWrite;
  const std::uint8_t opcode = qp_.opcode(work.operation().packets[place]);
  const bool ask = qp_.acknowledged() && (last || ++unrequested_ >= kPacketsPerAckRequest);
  if (ask) unrequested_ = 0;
  const bool solicited = work.solicited && last && (!is_write || work.with_immediate);
  PacketPtr packet = make_request(work, opcode, size, ask, solicited);
  if (is_write && first) {
    roce::put(packet->storage, opcode, roce::kReth,
              roce::Reth{work.remote_address, work.remote_key, work.length});
  }
  if (work.with_immediate && last) {
    roce::put(packet->storage, opcode, roce::kImmDt, roce::ImmDt{be32toh(work.immediate)});
  }
  if (work.with_invalidate && last)
    roce::put(packet->storage, opcode, roce::kIeth, roce::Ieth{work.immediate});
  load(work, offset, size, *packet, roce::kHeaderBytes[opcode]);
  if (read_failed(work)) return nullptr;
  advance(work, 1);
  return packet;
}

// The memory was deregistered while the message was on its way.
bool Requester::read_failed(const SendWork& work) {
  if (work.status == IBV_WC_SUCCESS) return false;
  if (next_ == queue_.head()) fail(work.status);
  return true;
}

// What the peer answers with data, or with its own packet.
PacketPtr Requester::make_question(SendWork& work) {
  if (work.kind == WorkKind::kAtomicWrite) return make_atomic_write(work);
  return work.kind == WorkKind::kRead ? make_read_request(work) : make_atomic_request(work);
}

PacketPtr Requester::make_read_request(SendWork& work) {
  // After a loss only what is missing is asked for again (IBTA vol 1, 9.4.4).
  const std::uint32_t offset = work.responses * qp_.mtu();
  const std::uint8_t opcode = qp_.opcode(roce::kRcReadRequest);
  PacketPtr packet = make_request(work, opcode, 0, true, false);
  roce::put(packet->storage, opcode, roce::kReth,
            roce::Reth{work.remote_address + offset, work.remote_key, work.length - offset});
  ++reads_;
  advance(work, work.packets - work.responses);
  return packet;
}

PacketPtr Requester::make_atomic_request(SendWork& work) {
  constexpr auto kOnly = static_cast<std::size_t>(roce::Place::kOnly);
  const std::uint8_t opcode = qp_.opcode(work.operation().packets[kOnly]);
  const AtomicOperands& operands = work.operands();
  PacketPtr packet = make_request(work, opcode, 0, true, false);
  roce::put(packet->storage, opcode, roce::kAtomicEth,
            roce::AtomicEth{work.remote_address, work.remote_key, operands.swap_or_add,
                            operands.compare});
  ++reads_;
  advance(work, 1);
  return packet;
}

// Its answer is an empty response to a READ.
PacketPtr Requester::make_atomic_write(SendWork& work) {
  const std::uint8_t opcode = qp_.opcode(roce::kRcAtomicWrite);
  PacketPtr packet = make_request(work, opcode, kAtomicBytes, true, false);
  roce::put(packet->storage, opcode, roce::kReth,
            roce::Reth{work.remote_address, work.remote_key, kAtomicBytes});
  load(work, 0, kAtomicBytes, *packet, roce::kHeaderBytes[opcode]);
  if (read_failed(work)) return nullptr;
  ++reads_;
  advance(work, 1);
  return packet;
}

void Requester::advance(const SendWork& work, std::uint32_t packets) {
  next_psn_ = next_psn_ + packets;
  packet_ += packets;
  if (next_psn_ != work.end_psn()) return;
  ++next_;
  packet_ = 0;
}

// Copies a piece of a message out of the application's memory, or lends it, or marks the work as
// failed.
void Requester::load(SendWork& work, std::uint32_t offset, std::uint32_t size, Packet& packet,
                     std::size_t at) {
  if (size == 0) return;
  std::uint8_t* const out = packet.storage.data() + at;
  if (work.inline_data) {
    std::memcpy(out, work.data() + offset, size);
    return;
  }
  if (core_.lends && size >= kLentBytesMin) {
    packet.lend(place_of(core_.memory, qp_.pd, {work.list(), work.sge_count}, offset, size), at,
                size);
    if (packet.lent != nullptr) {
      lent_.add(packet);
      core_.lent.add(packet);
      return;
    }
  }
  if (!soft::gather(core_.memory, qp_.pd, work.list(), offset, size, out))
    work.status = IBV_WC_LOC_PROT_ERR;
}

// What was acknowledged has arrived and lends nothing any more, if the peer is right.
void Requester::keep_payloads_before(wire::Psn end) {
  while (!lent_.empty()) {
    const std::span<const std::uint8_t> bytes = lent_.front().payload();
    if (!roce::Bth::parse(bytes.first<roce::Bth::kBytes>()).psn.before(end)) return;
    lent_.front().keep_payload();
  }
}

// --- acknowledgements ---------------------------------------------------------------------------

// Whether an answer for this PSN can still mean something.
bool Requester::outstanding(wire::Psn psn) const {
  return !psn.before(acknowledged_) && psn.before(end_);
}

void Requester::on_acknowledge(const roce::Bth& bth, const roce::Aeth& aeth, Instant now) {
  if (!outstanding(bth.psn)) {
    ++core_.counters.duplicates;
    return;
  }
  switch (aeth.kind) {
    case roce::AckKind::kAck:
      if (acknowledge_up_to(bth.psn + 1, now)) after_acknowledgement(now);
      return;
    case roce::AckKind::kRnrNak:
      if (acknowledge_up_to(bth.psn, now)) on_rnr_nak(aeth.value, bth.psn, now);
      return;
    case roce::AckKind::kNak:
      if (acknowledge_up_to(bth.psn, now)) on_nak(roce::NakCode{aeth.value}, bth.psn, now);
      return;
    case roce::AckKind::kReserved:
      ++core_.counters.malformed;
      return;
  }
}

// Everything before `end` has arrived there. False when that proves that a READ's response was
// lost, or when the QP left RTS on the way.
bool Requester::acknowledge_up_to(wire::Psn end, Instant now) {
  while (queue_.head() != started_ && acknowledged_.before(end)) {
    SendWork& work = queue_.front();
    if (has_response(work.kind)) {
      response_lost(now);
      return false;
    }
    progress_made();
    if (end.before(work.end_psn())) {
      acknowledged_ = end;
      break;
    }
    acknowledged_ = work.end_psn();
    complete_front(IBV_WC_SUCCESS);
    complete_local_work();
  }
  if (next_psn_.before(acknowledged_)) rewind();
  return true;
}

void Requester::progress_made() {
  retries_left_ = qp_.attr.retry_cnt;
  rnr_retries_left_ = qp_.attr.rnr_retry;
  gap_reported_ = false;
}

void Requester::after_acknowledgement(Instant now) {
  // The receiver has answered, so no request waits for it.
  if (waiting_) {
    core_.timers.cancel(not_ready_);
    waiting_ = false;
    rewind();
  }
  if (acknowledged_ == end_) {
    core_.timers.cancel(retransmit_);
  } else {
    restart_timer(now);
  }
  if (queue_.empty()) return;
  const ibv_wc_status status = queue_.front().status;
  if (status != IBV_WC_SUCCESS) fail(status);
}

void Requester::on_read_response(const roce::Envelope& packet, Instant now) {
  const bool last = roce::is_last(roce::kOpcodes[packet.bth.opcode].place);
  on_data(WorkKind::kRead, packet.bth.psn, packet.payload, last, now);
}

void Requester::on_atomic_acknowledge(wire::Psn psn, std::uint64_t original, Instant now) {
  HcaObserver* const observer = core_.observer;
  if (observer != nullptr) observer->on_atomic_answer(qp_, psn.value(), original);
  std::array<std::uint8_t, kAtomicBytes> bytes{};
  std::memcpy(bytes.data(), &original, bytes.size());
  on_data(WorkKind::kAtomic, psn, bytes, true, now);
}

void Requester::on_data(WorkKind kind, wire::Psn psn, std::span<const std::uint8_t> data, bool last,
                        Instant now) {
  if (!outstanding(psn)) {
    ++core_.counters.duplicates;
    return;
  }
  // A response acknowledges all requests before the one it answers (IBTA vol 1, 9.7.5.1.2).
  std::uint32_t index = queue_.head();
  while (index != started_ && !psn.before(queue_[index].end_psn())) ++index;
  SendWork& work = queue_[index];
  const bool stored = work.kind == WorkKind::kAtomicWrite && kind == WorkKind::kRead;
  if (work.kind != kind && !stored) {
    ++core_.counters.malformed;
    return;
  }
  if (index != queue_.head() && !acknowledge_up_to(work.first_psn, now)) return;
  if (psn != acknowledged_) {
    response_lost(now);
    return;
  }
  const std::uint32_t offset = work.responses * qp_.mtu();
  const std::uint32_t missing = work.length - offset;
  const std::uint32_t expected = stored ? 0 : std::min(qp_.mtu(), missing);
  const bool complete = data.size() == expected && last == (missing <= qp_.mtu());
  const ibv_wc_status status = complete ? place(work, offset, data) : IBV_WC_BAD_RESP_ERR;
  if (status != IBV_WC_SUCCESS) {
    fail(status);
    return;
  }
  progress_made();
  ++work.responses;
  acknowledged_ = psn + 1;
  if (acknowledged_ == work.end_psn()) {
    // Sent again after a rewind, it is counted once more; not sent again, it is counted no more.
    if (static_cast<std::int32_t>(next_ - queue_.head()) > 0) --reads_;
    complete_front(IBV_WC_SUCCESS);
    complete_local_work();
  }
  if (next_psn_.before(acknowledged_)) rewind();
  after_acknowledgement(now);
}

void Requester::on_nak(roce::NakCode code, wire::Psn psn, Instant now) {
  CM_ASSERT(psn == acknowledged_);
  switch (code) {
    case roce::NakCode::kPsnSequence:
      // The packet that found no receive is missing, of course. Soft-RoCE says so of every one that
      // follows it, and all are sent again in time anyway.
      if (!waiting_) retry(now);
      return;
    case roce::NakCode::kInvalidRequest:
      fail(IBV_WC_REM_INV_REQ_ERR);
      return;
    case roce::NakCode::kRemoteAccess:
      fail(IBV_WC_REM_ACCESS_ERR);
      return;
    case roce::NakCode::kRemoteOperational:
      fail(IBV_WC_REM_OP_ERR);
      return;
  }
  ++core_.counters.malformed;  // a code that only later specifications know
}

void Requester::on_rnr_nak(std::uint8_t delay_field, wire::Psn psn, Instant now) {
  CM_ASSERT(psn == acknowledged_);
  if (waiting_) return;
  if (qp_.attr.rnr_retry != kRnrRetryForEver) {
    if (rnr_retries_left_ == 0) {
      fail(IBV_WC_RNR_RETRY_EXC_ERR);
      return;
    }
    --rnr_retries_left_;
  }
  waiting_ = true;
  core_.timers.cancel(retransmit_);
  core_.timers.arm(not_ready_, now + rnr_delay(delay_field));
}

// --- retransmission -----------------------------------------------------------------------------

void Requester::on_timer(QpTimerKind kind, Instant now) {
  switch (kind) {
    case QpTimerKind::kRetransmit:
      gap_reported_ = false;
      retry(now);
      break;
    case QpTimerKind::kReceiverNotReady:
      waiting_ = false;
      rewind();
      break;
    case QpTimerKind::kOverrun:
    case QpTimerKind::kModerated:
    case QpTimerKind::kEffect:
    case QpTimerKind::kFetch:
      CM_ASSERT(!"a timer of others");
      break;
  }
  qp_.schedule();
}

void Requester::on_peer_gone(Instant now) {
  peer_gone_ = true;
  if (retransmit_.armed()) restart_timer(now);
}

// Sends again from the oldest packet without an acknowledgement, if a retry is left.
void Requester::retry(Instant now) {
  if (retries_left_ == 0 && !peer_gone_ && qp_.migrate()) {
    progress_made();  // all retries once more, by the other path
  } else if (retries_left_ == 0 || peer_gone_) {
    fail(IBV_WC_RETRY_EXC_ERR);
    return;
  } else {
    --retries_left_;
  }
  rewind();
  restart_timer(now);
}

// An answer came for a later packet. Answers still on their way say the same: only the first
// counts.
void Requester::response_lost(Instant now) {
  if (gap_reported_) return;
  gap_reported_ = true;
  retry(now);
}

// Sets the cursor to the oldest PSN without an acknowledgement.
void Requester::rewind() {
  lent_.keep_all();
  if (acknowledged_.before(next_psn_)) ++core_.counters.retransmitted;
  next_ = queue_.head();
  reads_ = 0;
  next_psn_ = acknowledged_;
  packet_ = 0;
  if (next_ != started_)
    packet_ = static_cast<std::uint32_t>(acknowledged_.distance_from(queue_.front().first_psn));
  unrequested_ = 0;
}

void Requester::restart_timer(Instant now) {
  if (qp_.attr.timeout == 0) return;
  const std::uint8_t shortest = core_.config.min_ack_timeout;
  const std::uint8_t timeout = peer_gone_ ? shortest : std::max(qp_.attr.timeout, shortest);
  core_.timers.arm(retransmit_, now + ack_timeout(timeout));
}

// --- completion ---------------------------------------------------------------------------------

// Of a service without acknowledgements: what is out counts as arrived.
void Requester::finish_sent() {
  acknowledged_ = next_psn_;
  if (next_ == queue_.head()) return;  // the rest of the message follows
  complete_front(IBV_WC_SUCCESS);
  if (queue_.empty()) return;
  const ibv_wc_status status = queue_.front().status;
  if (status != IBV_WC_SUCCESS) fail(status);
}

void Requester::complete_front(ibv_wc_status status) {
  const SendWork& work = queue_.front();
  if (!lent_.empty()) keep_payloads_before(acknowledged_);
  const bool reported = work.signaled || status != IBV_WC_SUCCESS;
  if (core_.ownership != nullptr) core_.ownership->on_send_done(qp_, status, reported);
  const FreedPlaces frees = queue_.cover_front(reported);
  if (qp_.counters != nullptr)
    qp_.counters->count_sent(work.operation().completion, work.length, status == IBV_WC_SUCCESS);
  if (reported) report(work, status, frees);
  queue_.pop();
}

void Requester::fail(ibv_wc_status status) {
  if (started_ == queue_.head()) ++started_;
  complete_front(status);
  qp_.acknowledged() ? qp_.enter_error(status) : qp_.enter_send_error();
}

void Requester::flush() {
  lent_.keep_all();
  core_.timers.cancel(retransmit_);
  core_.timers.cancel(not_ready_);
  while (!queue_.empty()) complete_front(IBV_WC_WR_FLUSH_ERR);
  discard();
}

void Requester::discard() {
  lent_.keep_all();
  core_.timers.cancel(retransmit_);
  core_.timers.cancel(not_ready_);
  queue_.clear();
  bindings_.clear();
  next_ = started_ = queue_.head();
  packet_ = 0;
  next_psn_ = acknowledged_ = end_;
  reads_ = 0;
  unrequested_ = 0;
  waiting_ = false;
  gap_reported_ = false;
}

}  // namespace anyrdma::verbs::soft
