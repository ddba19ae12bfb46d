// Trace records as text: one line each, the same everywhere.
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/text.h"
#include "recording/packets/packet_text.h"
#include "sim/trace/trace.h"
#include "transport/event_name.h"
#include "transport/fault/plan/part.h"
#include "transport/ibcm/names.h"

namespace anyrdma::sim {
namespace {

constexpr std::size_t kGids = 2 * sizeof(ibv_gid);

// --- events -------------------------------------------------------------------------------------

void append_event(std::string& text, recording::FieldReader& fields) {
  append(text, "id=%llu", static_cast<unsigned long long>(fields.take<std::uint64_t>()));
  const auto listener = fields.take<std::uint64_t>();
  text += ' ';
  text += transport::short_event_name(static_cast<rdma_cm_event_type>(fields.take<std::uint8_t>()));
  if (listener != 0) append(text, " listener=%llu", static_cast<unsigned long long>(listener));
  append(text, " status=%d", static_cast<int>(fields.take<std::uint32_t>()));
  recording::append_parameters(text, fields);
}

void append_readable(std::string& text, std::span<const std::uint8_t> bytes) {
  text.append(bytes.begin(), bytes.end());
}

}  // namespace

std::string_view to_string(DropCause cause) {
  switch (cause) {
    case DropCause::kLoss:
      return "lost";
    case DropCause::kFault:
      return "lost by a fault";
    case DropCause::kLinkDown:
      return "link down";
    case DropCause::kNoSuchAddress:
      return "no such address";
    case DropCause::kNoDevice:
      return "no RDMA device";
    case DropCause::kMalformed:
      return "malformed";
    case DropCause::kUnknownQp:
      return "unknown QP";
    case DropCause::kBadIcrc:
      return "wrong ICRC";
    case DropCause::kWrongState:
      return "port or device down";
    case DropCause::kBadQueueKey:
      return "wrong QKey";
    case DropCause::kNoReceive:
      return "no receive posted";
    case DropCause::kUnknownGroup:
      return "no member of the group";
    case DropCause::kHostStopped:
      return "host stopped";
  }
  return "?";
}

std::string Trace::line(std::size_t i) const {
  const TraceRecord record = this->record(i);
  recording::FieldReader fields(record.fields);
  std::string text = seconds_text(record.time.time_since_epoch()) + " ";
  if (record.host != kNoHost) text += std::string(name_of(record.host)) + " ";
  switch (record.kind) {
    case RecordKind::kSend:
      text += "-> " + std::string(name_of(record.peer)) + " ";
      (void)fields.take_bytes(kGids);
      recording::append_packet(text, fields);
      break;
    case RecordKind::kDrop:
      text += "drop";
      if (record.peer != kNoHost) text += " (" + std::string(name_of(record.peer)) + ")";
      text += ": " + std::string(to_string(DropCause{record.fields.back()})) + ": ";
      (void)fields.take_bytes(kGids);
      recording::append_packet(text, fields);
      break;
    case RecordKind::kDropMessage: {
      const auto reason = static_cast<ibcm::DropReason>(fields.take<std::uint8_t>());
      text += "ignores " + std::string(to_string(fault::CmMessage{fields.take<std::uint16_t>()})) +
              ": " + std::string(ibcm::to_string(reason));
      break;
    }
    case RecordKind::kQueued:
      text += "queued ";
      append_event(text, fields);
      break;
    case RecordKind::kFetched:
      text += "fetched ";
      append_event(text, fields);
      break;
    case RecordKind::kFault:
      text += "FAULT ";
      append_readable(text, record.fields);
      break;
    case RecordKind::kChoice: {
      const auto point = fields.take<std::uint64_t>();
      append(text, "CHOICE %llu:%u", static_cast<unsigned long long>(point),
             static_cast<unsigned>(fields.take<std::uint32_t>()));
      break;
    }
    case RecordKind::kNote:
      text += "note ";
      append_readable(text, record.fields);
      break;
  }
  return text;
}

}  // namespace anyrdma::sim
