#include "verbs/soft/wire/headers.h"

#include "verbs/assert.h"

namespace anyrdma::roce {

namespace {

bool carries(std::uint8_t opcode, Header header) {
  return (kOpcodes[opcode].headers & static_cast<unsigned>(header)) != 0;
}

template <class T>
void read(T& header, Header bit, std::uint8_t opcode, std::span<const std::uint8_t> datagram) {
  if (carries(opcode, bit)) header = T::parse(view<T>(datagram, opcode, bit));
}

template <class T>
void write(const T& header, Header bit, std::uint8_t opcode, std::span<std::uint8_t> bytes) {
  if (carries(opcode, bit))
    header.serialize(bytes.subspan(offset_of(opcode, bit)).template first<T::kBytes>());
}

}  // namespace

void open(std::span<const std::uint8_t> datagram, Envelope& out) {
  out.payload = {};
  if (datagram.size() < Bth::kBytes + kIcrcBytes) {
    out.error = DecodeError::kTruncated;
    out.bth = Bth{};
    return;
  }
  out.error = DecodeError::kNone;
  out.bth = Bth::parse(datagram.first<Bth::kBytes>());
  const OpcodeRow& row = kOpcodes[out.bth.opcode];
  const std::size_t overhead = std::size_t{kHeaderBytes[out.bth.opcode]} + out.bth.pad + kIcrcBytes;
  if (row.service == Service::kNone) {
    out.error = DecodeError::kUnknownOpcode;
  } else if (out.bth.version != 0) {
    out.error = DecodeError::kBadVersion;
  } else if (datagram.size() < overhead) {
    out.error = DecodeError::kTruncated;
  } else if (!row.payload && datagram.size() != overhead) {
    out.error = DecodeError::kUnexpectedPayload;
  } else {
    out.payload = datagram.subspan(kHeaderBytes[out.bth.opcode], datagram.size() - overhead);
  }
}

Decoded decode(std::span<const std::uint8_t> datagram) {
  const Envelope envelope = open(datagram);
  Decoded out;
  out.error = envelope.error;
  out.headers.bth = envelope.bth;
  out.payload = envelope.payload;
  if (out.error != DecodeError::kNone) return out;
  const std::uint8_t opcode = envelope.bth.opcode;
  Headers& h = out.headers;
  XrcEth xrc;
  read(xrc, kXrcEth, opcode, datagram);
  h.xrc_srq = xrc.shared_queue;
  read(h.deth, kDeth, opcode, datagram);
  read(h.reth, kReth, opcode, datagram);
  read(h.atomic, kAtomicEth, opcode, datagram);
  read(h.aeth, kAeth, opcode, datagram);
  read(h.atomic_ack, kAtomicAckEth, opcode, datagram);
  read(h.immediate, kImmDt, opcode, datagram);
  read(h.invalidate, kIeth, opcode, datagram);
  return out;
}

void encode(const Headers& h, std::span<std::uint8_t> bytes) {
  const std::uint8_t opcode = h.bth.opcode;
  CM_ASSERT(bytes.size() == kHeaderBytes[opcode]);
  h.bth.serialize(bytes.first<Bth::kBytes>());
  write(XrcEth{h.xrc_srq}, kXrcEth, opcode, bytes);
  write(h.deth, kDeth, opcode, bytes);
  write(h.reth, kReth, opcode, bytes);
  write(h.atomic, kAtomicEth, opcode, bytes);
  write(h.aeth, kAeth, opcode, bytes);
  write(h.atomic_ack, kAtomicAckEth, opcode, bytes);
  write(h.immediate, kImmDt, opcode, bytes);
  write(h.invalidate, kIeth, opcode, bytes);
}

}  // namespace anyrdma::roce
