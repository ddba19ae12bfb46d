#include "transport/fabric/fuzz/fuzz_ring.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <span>

#include "transport/fabric/packet_ring.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric::fuzz {
namespace {

using verbs::soft::Packet;
using verbs::soft::PacketPool;
using verbs::soft::PacketPtr;

struct alignas(4096) Memory {
  std::array<std::byte, kRingBytes> bytes{};
};

/// Reads numbers from a script; zeroes after its end.
class Script {
 public:
  explicit Script(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool over() const { return bytes_.empty(); }
  template <class T>
  [[nodiscard]] T take() {
    T value{};
    const std::size_t size = std::min(sizeof value, bytes_.size());
    std::memcpy(&value, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

class Attack {
 public:
  void write(std::uint16_t size, std::uint8_t mark) {
    PacketPtr packet = pool_.take();
    packet->size = static_cast<std::uint16_t>(size % (verbs::soft::kPacketBytesMax + 1));
    packet->source.raw[0] = mark / 16;
    packet->destination.raw[15] = mark / 16;
    packet->hop_limit = mark;
    packet->udp_source_port = size;
    packet->icrc_valid = mark % 2 != 0;
    std::memset(packet->storage.data(), mark, packet->size);
    const PacketRingWriter::Written written = writer_.write(*packet);
    CM_ASSERT(hostile_ || written != PacketRingWriter::Written::kBroken);
    if (written == PacketRingWriter::Written::kYes && !hostile_) sent_.push_back(std::move(packet));
    if (written == PacketRingWriter::Written::kFull) writer_.wait_for_room();
    (void)writer_.reader_sleeps();
  }
  /// False: there was nothing.
  bool read() {
    PacketPtr packet = pool_.take();
    const PacketRingReader::Got got = reader_.read(*packet);
    (void)reader_.writer_waits();
    if (got == PacketRingReader::Got::kPacket)
      CM_ASSERT(packet->size <= verbs::soft::kPacketBytesMax);
    if (hostile_) return got == PacketRingReader::Got::kPacket;
    CM_ASSERT(got ==
              (sent_.empty() ? PacketRingReader::Got::kNothing : PacketRingReader::Got::kPacket));
    if (sent_.empty()) return false;
    check(*packet, *sent_.front());
    sent_.pop_front();
    return true;
  }
  void change(std::uint32_t at, std::uint32_t value) {
    hostile_ = true;
    std::memcpy(memory_->bytes.data() + at % (kRingBytes - sizeof value), &value, sizeof value);
  }
  void sleep() { reader_.sleep(); }
  [[nodiscard]] bool hostile() const { return hostile_; }

 private:
  static void check(const Packet& got, const Packet& sent) {
    CM_ASSERT(got.size == sent.size);
    CM_ASSERT(got.hop_limit == sent.hop_limit);
    CM_ASSERT(got.udp_source_port == sent.udp_source_port);
    CM_ASSERT(got.icrc_valid == sent.icrc_valid);
    CM_ASSERT(std::ranges::equal(got.source.raw, sent.source.raw));
    CM_ASSERT(std::ranges::equal(got.destination.raw, sent.destination.raw));
    CM_ASSERT(std::ranges::equal(got.payload(), sent.payload()));
  }

  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  PacketPool pool_;
  PacketRingWriter writer_{memory_->bytes};
  PacketRingReader reader_{memory_->bytes};
  std::deque<PacketPtr> sent_;
  bool hostile_ = false;
};

}  // namespace

int fuzz_ring(const std::uint8_t* data, std::size_t size) {
  Attack attack;
  Script script({data, size});
  while (!script.over()) {
    const auto step = script.take<std::uint8_t>();
    switch (step % 8) {
      case 0:
      case 1:
        attack.write(script.take<std::uint16_t>(), step);
        break;
      case 2:  // many
        for (int i = 0; i < 32; ++i) attack.write(4096, step);
        break;
      case 3:
      case 4:
        (void)attack.read();
        break;
      case 5: {
        // One ring full at most, whatever it says.
        std::size_t limit = kRingDataBytes;
        while (limit-- > 0 && attack.read()) {
        }
        break;
      }
      case 6:
        attack.sleep();
        break;
      case 7:
        if (script.take<std::uint8_t>() % 4 == 0) {
          attack.change(script.take<std::uint32_t>(), script.take<std::uint32_t>());
        } else {  // where it matters: the control words, and the first records
          const std::size_t granule = script.take<std::uint8_t>() % 80;
          const auto record =
              static_cast<std::uint32_t>(kRingControlBytes + granule * packet_ring::kGranule);
          attack.change(step < 64 ? script.take<std::uint8_t>() % 192 : record,
                        script.take<std::uint32_t>());
        }
        break;
    }
  }
  return 0;
}

}  // namespace anyrdma::transport::fabric::fuzz
