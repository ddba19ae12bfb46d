// Packets, timers and management datagrams of the software HCA.
#include <algorithm>
#include <cstring>
#include <utility>

#include "verbs/assert.h"
#include "verbs/soft/icrc.h"
#include "verbs/soft/mad_packet.h"
#include "verbs/soft/soft_hca.h"
#include "verbs/wire/gid.h"

namespace anyrdma::verbs::soft {

namespace {

using wire::same;

constexpr std::uint16_t kPartitionBits = 0x7fff;  // the other is the membership's
constexpr std::size_t kDethAt = roce::offset_of(roce::kUdSendOnly, roce::kDeth);
constexpr std::size_t kMadAt = kDethAt + roce::Deth::kBytes;

bool is_answer(roce::Operation operation) {
  return operation == roce::Operation::kReadResponse ||
         operation == roce::Operation::kAcknowledge ||
         operation == roce::Operation::kAtomicAcknowledge;
}

}  // namespace

// --- in -----------------------------------------------------------------------------------------

void SoftHca::on_packet(Instant now, PacketPtr packet) {
  ++core_.counters.packets_in;
  Port& port = at(packet->port);
  if (core_.removed || port.state != IBV_PORT_ACTIVE) {
    ++core_.counters.wrong_state;
    return;
  }
  ++port.counters.packets_in;
  port.counters.bytes_in += packet->size;
  // A checksum that was not computed comes from this process, with no link in between that could
  // damage the packet.
  if (packet->icrc_valid && !roce::icrc_ok(*packet)) {
    ++core_.counters.bad_icrc;
    return;
  }
  dispatch(std::move(packet), now);
}

void SoftHca::dispatch(PacketPtr packet, Instant now) {
  const std::span<const std::uint8_t> datagram = std::as_const(*packet).payload();
  roce::Envelope envelope;
  roce::open(datagram, envelope);
  if (packet->lent != nullptr) envelope.payload = {packet->lent, packet->lent_size};
  // The port has the default partition only (IBTA vol 1, 9.6.1.1.3).
  if (envelope.error != roce::DecodeError::kNone ||
      (envelope.bth.partition_key & kPartitionBits) != kPartitionBits) {
    ++core_.counters.malformed;
    return;
  }
  if (envelope.bth.destination == wire::kGsiQpn) {
    on_management_packet(envelope, std::move(packet));
    return;
  }
  const roce::OpcodeRow& row = roce::kOpcodes[envelope.bth.opcode];
  if (row.service == roce::Service::kUd) return on_datagram(envelope, *packet);
  SoftQp* qp = find(envelope.bth.destination);
  if (qp == nullptr || row.service != qp->service) {
    ++core_.counters.unknown_qp;
    return;
  }
  // A connection hears its peer only (IBTA vol 1, 9.6.1.5).
  if (!qp->hears(*packet, envelope.bth)) {
    ++core_.counters.unknown_qp;
    return;
  }
  // One half of an extended connection sends requests, the other answers.
  const bool half = qp->qp_type == IBV_QPT_XRC_SEND || qp->qp_type == IBV_QPT_XRC_RECV;
  if (half && is_answer(row.operation) != (qp->qp_type == IBV_QPT_XRC_SEND)) {
    ++core_.counters.malformed;
    return;
  }
  switch (row.operation) {
    case roce::Operation::kReadResponse:
    case roce::Operation::kAcknowledge:
    case roce::Operation::kAtomicAcknowledge:
      qp->on_response(envelope, row, datagram, now);
      return;
    case roce::Operation::kSend:
    case roce::Operation::kWrite:
    case roce::Operation::kReadRequest:
    case roce::Operation::kCompareSwap:
    case roce::Operation::kFetchAdd:
    case roce::Operation::kAtomicWrite:
      qp->on_request(envelope, row, datagram);
      return;
    case roce::Operation::kNone:
    case roce::Operation::kCongestion:
      ++core_.counters.malformed;
      return;
  }
}

void SoftHca::on_management_packet(const roce::Envelope& envelope, PacketPtr packet) {
  const std::span<const std::uint8_t> datagram = std::as_const(*packet).payload();
  if (envelope.bth.opcode != roce::kUdSendOnly || envelope.payload.size() != kMadBytes) {
    ++core_.counters.malformed;
    return;
  }
  const auto deth = roce::Deth::parse(datagram.subspan<kDethAt, roce::Deth::kBytes>());
  if (deth.queue_key != kGsiQueueKey) {
    ++core_.counters.malformed;
    return;
  }
  if (!own_gid(packet->destination)) {
    ++core_.counters.unknown_qp;
    return;
  }
  mads_in_.push_back(std::move(packet));
  core_.runtime.call_driver();
}

SoftQp* SoftHca::find(wire::Qpn qpn) const {
  const std::uint32_t index = value(qpn) - core_.config.qpn_first;
  return index < numbers_.size() ? numbers_[index] : nullptr;
}

std::optional<Hca::ReceivedMad> SoftHca::next_mad() {
  if (mads_in_.empty()) return std::nullopt;
  PacketPtr packet = mads_in_.pop_front();
  const std::span<const std::uint8_t> datagram = std::as_const(*packet).payload();
  const auto deth = roce::Deth::parse(datagram.subspan<kDethAt, roce::Deth::kBytes>());
  const MadAddress from{packet->source, packet->destination, deth.source, packet->traffic_class};
  return ReceivedMad{from, std::move(packet), datagram.subspan<kMadAt, kMadBytes>()};
}

// --- time ---------------------------------------------------------------------------------------

void SoftHca::on_timer(Instant now) {
  while (QpTimer* timer = core_.timers.next_expired(now)) {
    const QpTimerTag& tag = timer->tag();
    if (tag.kind == QpTimerKind::kOverrun) {
      fail_users_of(*tag.cq);
    } else if (tag.kind == QpTimerKind::kModerated) {
      tag.cq->end_of_period();
    } else if (tag.kind == QpTimerKind::kEffect || tag.kind == QpTimerKind::kFetch) {
      tag.qp->effects->on_timer(tag.kind, now);
    } else {
      tag.qp->requester.on_timer(tag.kind, now);
    }
  }
}

void SoftHca::on_peers_gone(Instant now, std::uint32_t number, std::uint32_t mask,
                            std::span<const ibv_gid> gids) {
  for (SoftQp* qp : numbers_) {
    if (qp == nullptr || !qp->acknowledged() || (qp->attr.dest_qp_num & mask) != number) continue;
    const bool there = std::ranges::any_of(
        gids, [qp](const ibv_gid& gid) { return same(gid, qp->path.destination); });
    if (there || gids.empty()) qp->requester.on_peer_gone(now);
  }
}

// --- out ----------------------------------------------------------------------------------------

PacketPtr SoftHca::next_packet() {
  if (mads_out_.empty() && core_.ready.empty()) return nullptr;
  if (core_.removed) return nullptr;
  PacketPtr packet;
  if (!mads_out_.empty()) packet = mads_out_.pop_front();
  while (!packet) {
    SoftQp* qp = core_.ready.take();
    if (qp == nullptr) return nullptr;
    if (core_.outlet != nullptr && qp->hold()) continue;
    packet = qp->next_packet();
    qp->schedule();  // behind the others, one packet each
  }
  ++core_.counters.packets_out;
  // A port without a link drops packets without a report.
  Port& port = at(packet->port);
  if (port.state != IBV_PORT_ACTIVE) return next_packet();
  ++port.counters.packets_out;
  port.counters.bytes_out += packet->size;
  return packet;
}

void SoftHca::set_outlet(Outlet* outlet) {
  CriticalSection section(core_.runtime);
  core_.outlet = outlet;
}

void SoftHca::set_memory_model(MemoryProfile profile, MemoryChooser& chooser) {
  CriticalSection section(core_.runtime);
  core_.memory_profile = profile;
  core_.memory_chooser = profile == MemoryProfile::kStrict ? nullptr : &chooser;
}

void SoftHca::resume() {
  while (SoftQp* qp = core_.held.take()) qp->schedule();
}

void SoftHca::send_mad(const MadAddress& to, std::span<const std::uint8_t, kMadBytes> mad) {
  if (core_.removed) return;
  PacketPtr packet = core_.pool.take();
  write_mad(*packet, to, mad_psn_, mad);
  packet->port = port_of(to.source);
  mad_psn_ = mad_psn_ + 1;
  mads_out_.push_back(std::move(packet));
  core_.runtime.call_driver();
}

}  // namespace anyrdma::verbs::soft
