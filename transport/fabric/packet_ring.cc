#include "transport/fabric/packet_ring.h"

#include <cstring>

#include "verbs/assert.h"
#include "verbs/wire/gid.h"

namespace anyrdma::transport::fabric {

using packet_ring::Control;
using packet_ring::kGranule;
using packet_ring::Path;
using packet_ring::Record;
using verbs::soft::Packet;
using wire::same;

namespace {

constexpr std::uint64_t kMask = kRingDataBytes - 1;
static_assert((kRingDataBytes & kMask) == 0);
/// So many bytes are taken before the writer hears of it: its word is in a cache line that moves.
constexpr std::uint64_t kToldAtOnce = kRingDataBytes / 8;
constexpr std::size_t kLongestRecord = sizeof(Record) + sizeof(Path) + verbs::soft::kPacketBytesMax;
// A writer that waits needs room for a record, for what is left in front of the end, and for the
// word behind; what it has not been told of must be less than what remains.
static_assert(2 * (kLongestRecord + kGranule) + kGranule < kRingDataBytes - kToldAtOnce);
static_assert(verbs::soft::kPacketBytesMax <= packet_ring::kSizeMask);

Control* control_of(std::span<std::byte> memory) {
  CM_ASSERT(memory.size() == kRingBytes);
  return reinterpret_cast<Control*>(memory.data());
}

std::atomic_ref<std::uint32_t> word_at(std::byte* data, std::uint64_t position) {
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(data + (position & kMask)));
}

constexpr std::size_t rounded(std::size_t bytes) {
  return (bytes + kGranule - 1) & ~(kGranule - 1);
}

}  // namespace

// --- writing ------------------------------------------------------------------------------------

PacketRingWriter::PacketRingWriter(std::span<std::byte> memory)
    : control_(control_of(memory)), data_(memory.data() + kRingControlBytes) {}

PacketRingWriter::Written PacketRingWriter::write(const Packet& packet) {
  const bool same_path = path_known_ && same(packet.source, path_.source) &&
                         same(packet.destination, path_.destination);
  const std::size_t head = sizeof(Record) + (same_path ? 0 : sizeof(Path));
  const std::size_t bytes = rounded(head + packet.size);
  const std::size_t left = kRingDataBytes - (written_ & kMask);
  const std::size_t skipped = bytes > left ? left : 0;
  const Written room = make_room(skipped + bytes + kGranule);
  if (room != Written::kYes) return room;
  if (skipped != 0) publish(skipped, packet_ring::kToTheStart);
  if (!same_path) {
    path_ = {packet.source, packet.destination};
    path_known_ = true;
  }
  Record record{.udp_source_port = packet.udp_source_port,
                .traffic_class = packet.traffic_class,
                .hop_limit = packet.hop_limit,
                .ip_identification = packet.ip_identification,
                .ip_fragment = packet.ip_fragment,
                .mark = static_cast<std::uint32_t>(packet.mark)};
  std::byte* const to = data_ + (written_ & kMask);
  std::memcpy(to + sizeof record.word, &record.udp_source_port, sizeof record - sizeof record.word);
  if (!same_path) std::memcpy(to + sizeof record, &path_, sizeof path_);
  std::memcpy(to + head, packet.storage.data(), packet.size);
  publish(bytes, packet.size | (same_path ? packet_ring::kSamePath : 0) |
                     (packet.icrc_valid ? packet_ring::kIcrcValid : 0));
  return Written::kYes;
}

PacketRingWriter::Written PacketRingWriter::make_room(std::size_t bytes) {
  if (written_ - taken_ + bytes <= kRingDataBytes) return Written::kYes;
  const std::uint64_t taken = control_->taken.load(std::memory_order_acquire);
  if (taken - taken_ > written_ - taken_) return Written::kBroken;
  taken_ = taken;
  return written_ - taken_ + bytes <= kRingDataBytes ? Written::kYes : Written::kFull;
}

// The word behind is what the reader looks at next.
void PacketRingWriter::publish(std::size_t bytes, std::uint32_t word) {
  word_at(data_, written_ + bytes).store(0, std::memory_order_relaxed);
  word_at(data_, written_).store(word | packet_ring::kPublished, std::memory_order_release);
  written_ += bytes;
}

// Both sides exchange the same word, so one of them comes second and sees what the other did.
bool PacketRingWriter::reader_sleeps() {
  return control_->reader_sleeps.exchange(0, std::memory_order_acq_rel) != 0;
}

void PacketRingWriter::wait_for_room() {
  control_->writer_waits.exchange(1, std::memory_order_acq_rel);
}

// --- reading ------------------------------------------------------------------------------------

PacketRingReader::PacketRingReader(std::span<std::byte> memory)
    : control_(control_of(memory)), data_(memory.data() + kRingControlBytes) {}

bool PacketRingReader::empty() const {
  return word_at(data_, taken_).load(std::memory_order_acquire) == 0;
}

PacketRingReader::Got PacketRingReader::read(Packet& packet) {
  if (broken_) return Got::kBroken;
  std::uint32_t word = word_at(data_, taken_).load(std::memory_order_acquire);
  if (word == (packet_ring::kPublished | packet_ring::kToTheStart)) {
    const std::uint64_t at = taken_ & kMask;
    if (at == 0) return fail();
    take(kRingDataBytes - at);
    word = word_at(data_, taken_).load(std::memory_order_acquire);
  }
  if (word == 0) return Got::kNothing;
  // Each word is read once; the payload is checked in a copy that no other process can change.
  const bool same_path = (word & packet_ring::kSamePath) != 0;
  const std::size_t head = sizeof(Record) + (same_path ? 0 : sizeof(Path));
  const std::size_t size = word & packet_ring::kSizeMask;
  const std::size_t left = kRingDataBytes - (taken_ & kMask);
  constexpr std::uint32_t kOfPackets = packet_ring::kPublished | packet_ring::kSamePath |
                                       packet_ring::kIcrcValid | packet_ring::kSizeMask;
  const bool good = (word & packet_ring::kPublished) != 0 && (word & ~kOfPackets) == 0 &&
                    (path_known_ || !same_path) && size <= verbs::soft::kPacketBytesMax &&
                    head + size <= left;
  if (!good) return fail();
  const std::byte* const from = data_ + (taken_ & kMask);
  Record record;
  std::memcpy(&record, from, sizeof record);
  if (!same_path) std::memcpy(&path_, from + sizeof record, sizeof path_);
  path_known_ = true;
  std::memcpy(packet.storage.data(), from + head, size);
  packet.size = static_cast<std::uint16_t>(size);
  packet.source = path_.source;
  packet.destination = path_.destination;
  packet.udp_source_port = record.udp_source_port;
  packet.traffic_class = record.traffic_class;
  packet.hop_limit = record.hop_limit;
  packet.ip_identification = record.ip_identification;
  packet.ip_fragment = record.ip_fragment;
  packet.mark = record.mark;
  packet.icrc_valid = (word & packet_ring::kIcrcValid) != 0;
  take(rounded(head + size));
  return Got::kPacket;
}

PacketRingReader::Got PacketRingReader::fail() {
  broken_ = true;
  return Got::kBroken;
}

void PacketRingReader::take(std::size_t bytes) {
  taken_ += bytes;
  if (taken_ - told_ < kToldAtOnce) return;
  told_ = taken_;
  told_lately_ = true;
  control_->taken.store(taken_, std::memory_order_release);
}

bool PacketRingReader::writer_waits() {
  if (!told_lately_) return false;
  told_lately_ = false;
  return control_->writer_waits.exchange(0, std::memory_order_acq_rel) != 0;
}

// Also when it sleeps already: only an exchange sees what a writer did before its own.
void PacketRingReader::sleep() {
  control_->reader_sleeps.exchange(1, std::memory_order_acq_rel);
}

// A plain store would come between the writer's exchanges and ours, and sleep() would not see what
// was written before them.
void PacketRingReader::wake() {
  control_->reader_sleeps.exchange(0, std::memory_order_acq_rel);
}

}  // namespace anyrdma::transport::fabric
