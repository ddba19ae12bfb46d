// The canonical form of records, and their hash. The form holds what the text shows, in the order
// of the wire where it comes from there; trace_text.cc reads it back.
#include "sim/trace/trace.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "recording/packets/packet_fields.h"
#include "sim/trace/hash.h"
#include "verbs/assert.h"

namespace anyrdma::sim {
using verbs::soft::Packet;

HostIndex Trace::add_host(std::string_view name) {
  const auto index = static_cast<HostIndex>(names_.size());
  names_.push_back({std::string(name), hash_text(name)});
  return index;
}

std::string_view Trace::name_of(HostIndex host) const {
  if (host == kNoHost) return "-";  // one type for both arms of a ?: would be a dying std::string
  return names_[static_cast<std::size_t>(host)].text;
}

std::uint64_t Trace::hash_of(HostIndex host) const {
  return host == kNoHost ? 0 : names_[static_cast<std::size_t>(host)].hash;
}

TraceRecord Trace::record(std::size_t i) const {
  CM_ASSERT(i < stored_.size());
  const Stored& stored = stored_[i];
  return {stored.time, stored.kind, stored.host, stored.peer,
          std::span(bytes_).subspan(stored.begin, stored.size)};
}

std::string Trace::text() const {
  std::string all;
  for (std::size_t i = 0; i < stored_.size(); ++i) {
    all += line(i);
    all += '\n';
  }
  return all;
}

void Trace::add(Instant now, RecordKind kind, HostIndex host, HostIndex peer,
                std::span<const std::uint8_t> fields) {
  ++count_;
  hash_ = mix(hash_, static_cast<std::uint64_t>(now.time_since_epoch().count()));
  hash_ = mix(hash_, static_cast<std::uint64_t>(kind));
  hash_ = mix(hash_, hash_of(host));
  hash_ = mix(hash_, hash_of(peer));
  hash_ = hash_bytes(hash_, fields);
  if (tracing_ != Tracing::kKeep) return;
  stored_.push_back(
      {now, bytes_.size(), static_cast<std::uint32_t>(fields.size()), kind, host, peer});
  bytes_.insert(bytes_.end(), fields.begin(), fields.end());
}

void Trace::send(Instant now, HostIndex from, HostIndex to, const recording::FieldWriter& fields) {
  if (on()) add(now, RecordKind::kSend, from, to, fields.bytes());
}

void Trace::drop(Instant now, HostIndex at, HostIndex peer, DropCause cause,
                 recording::FieldWriter& fields) {
  if (!on()) return;
  fields.put(static_cast<std::uint8_t>(cause));
  add(now, RecordKind::kDrop, at, peer, fields.bytes());
}

void Trace::drop_message(Instant now, HostIndex at, ibcm::DropReason reason,
                         std::uint16_t attribute) {
  if (!on()) return;
  recording::FieldWriter out;
  out.put(static_cast<std::uint8_t>(reason));
  out.put(attribute);
  add(now, RecordKind::kDropMessage, at, kNoHost, out.bytes());
}

void Trace::event(Instant now, HostIndex at, transport::EventObserver::Step step, std::uint64_t id,
                  std::uint64_t listener, const rdma_cm_event& event) {
  if (!on()) return;
  recording::FieldWriter out;
  out.put(id);
  out.put(listener);
  out.put(static_cast<std::uint8_t>(event.event));
  out.put(static_cast<std::uint32_t>(event.status));
  recording::put_parameters(out, event);
  const bool queued = step == transport::EventObserver::Step::kQueued;
  add(now, queued ? RecordKind::kQueued : RecordKind::kFetched, at, kNoHost, out.bytes());
}

void Trace::fault(Instant now, std::string_view text) {
  if (on()) add(now, RecordKind::kFault, kNoHost, kNoHost, bytes_of_text(text));
}

void Trace::choice(Instant now, std::uint64_t point, std::uint32_t choice) {
  if (!on()) return;
  recording::FieldWriter out;
  out.put(point);
  out.put(choice);
  add(now, RecordKind::kChoice, kNoHost, kNoHost, out.bytes());
}

void Trace::note(Instant now, HostIndex at, std::string_view text) {
  if (on()) add(now, RecordKind::kNote, at, kNoHost, bytes_of_text(text));
}

}  // namespace anyrdma::sim
