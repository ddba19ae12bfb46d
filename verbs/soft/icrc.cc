#include "verbs/soft/icrc.h"

#include <array>
#include <cstring>
#include <span>

#include "verbs/soft/frame.h"
#include "verbs/soft/wire/bth.h"
#include "verbs/soft/wire/crc32.h"
#include "verbs/soft/wire/headers.h"

namespace anyrdma::roce {

namespace {

constexpr std::uint16_t kDontFragment = 0x4000;

// Fields that routers may rewrite count as ones.
void mask_ipv4(std::uint8_t* ip) {
  ip[1] = 0xff;            // type of service
  ip[8] = 0xff;            // time to live
  ip[10] = ip[11] = 0xff;  // header checksum
}

void mask_ipv6(std::uint8_t* ip) {
  ip[0] |= 0x0f;                 // traffic class
  ip[1] = ip[2] = ip[3] = 0xff;  // traffic class, flow label
  ip[7] = 0xff;                  // hop limit
}

std::uint32_t written_icrc(const verbs::soft::Packet& packet) {
  const std::uint8_t* in = packet.storage.data() + packet.size - kIcrcBytes;
  std::uint32_t written = 0;
  for (unsigned i = 0; i < kIcrcBytes; ++i) written |= std::uint32_t{in[i]} << (8 * i);
  return written;
}

}  // namespace

std::uint32_t icrc_of(const verbs::soft::Packet& packet) {
  // Eight bytes of ones stand for the link header that RoCEv2 does not have.
  std::array<std::uint8_t, 8 + kIpv6Bytes + kUdpBytes + Bth::kBytes> front;
  front.fill(0xff);
  const auto headers = write_ip_udp(packet, std::span(front).subspan<8, kIpv6Bytes + kUdpBytes>());
  std::uint8_t* ip = headers.data();
  if (is_ipv4(packet)) {
    mask_ipv4(ip);
  } else {
    mask_ipv6(ip);
  }
  std::uint8_t* after_udp = ip + headers.size();
  after_udp[-2] = after_udp[-1] = 0xff;  // UDP checksum
  std::memcpy(after_udp, packet.storage.data(), Bth::kBytes);
  after_udp[4] = 0xff;  // congestion bits
  const std::span<const std::uint8_t> covered(front.data(), 8 + headers.size() + Bth::kBytes);
  std::uint32_t crc = crc32_update(0xffffffff, covered);
  crc = crc32_update(crc,
                     packet.payload().subspan(Bth::kBytes, packet.size - Bth::kBytes - kIcrcBytes));
  return ~crc;
}

void seal(verbs::soft::Packet& packet) {
  if (packet.icrc_valid || packet.size < Bth::kBytes + kIcrcBytes) return;
  const std::uint32_t crc = icrc_of(packet);
  std::uint8_t* out = packet.storage.data() + packet.size - kIcrcBytes;
  for (unsigned i = 0; i < kIcrcBytes; ++i) out[i] = static_cast<std::uint8_t>(crc >> (8 * i));
  packet.icrc_valid = true;
}

std::optional<HiddenFields> hidden_fields_of(const verbs::soft::Packet& packet) {
  if (packet.size < Bth::kBytes + kIcrcBytes) return std::nullopt;
  const std::uint32_t difference = icrc_of(packet) ^ written_icrc(packet);
  HiddenFields fields{packet.ip_identification, packet.ip_fragment};
  if (difference == 0) return fields;
  if (!is_ipv4(packet)) return std::nullopt;
  // Identification and flags are the second four bytes of the IP header, the ICRC's own are last.
  const std::size_t distance = kIpv4Bytes - 4 + kUdpBytes + packet.size - kIcrcBytes;
  const std::uint32_t cause = crc32_cause(difference, distance);
  const auto two_bytes = [cause](unsigned at) {
    return static_cast<std::uint16_t>((cause >> at & 0xff) << 8 | (cause >> at >> 8 & 0xff));
  };
  fields.identification ^= two_bytes(0);
  fields.fragment ^= two_bytes(16);
  if ((fields.fragment & ~kDontFragment) != 0) return std::nullopt;
  return fields;
}

bool icrc_ok(const verbs::soft::Packet& packet) {
  if (packet.ip_fields_hidden) return hidden_fields_of(packet).has_value();
  return packet.size >= Bth::kBytes + kIcrcBytes && written_icrc(packet) == icrc_of(packet);
}

}  // namespace anyrdma::roce
