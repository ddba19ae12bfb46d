// The table of the opcodes of the BTH: service, operation, position of the packet in its message,
// and extended headers (IBTA vol 1, table 38).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anyrdma::roce {

/// The upper three bits of an opcode.
enum class Service : std::uint8_t { kRc = 0, kUc = 1, kRd = 2, kUd = 3, kCnp = 4, kXrc = 5, kNone };

enum class Operation : std::uint8_t {
  kNone,
  kSend,
  kWrite,
  kReadRequest,
  kReadResponse,
  kAcknowledge,
  kAtomicAcknowledge,
  kCompareSwap,
  kFetchAdd,
  kAtomicWrite,
  kCongestion,
};

/// The position of a packet in its message. The values are bits, so kOnly is both first and last.
enum class Place : std::uint8_t { kMiddle = 0, kFirst = 1, kLast = 2, kOnly = 3 };
[[nodiscard]] constexpr bool is_first(Place p) {
  return (static_cast<unsigned>(p) & 1) != 0;
}
[[nodiscard]] constexpr bool is_last(Place p) {
  return (static_cast<unsigned>(p) & 2) != 0;
}

/// The extended headers of a packet as bits, in the order in which the headers appear on the wire.
enum Header : std::uint16_t {
  kXrcEth = 1 << 0,
  kDeth = 1 << 1,
  kReth = 1 << 2,
  kAtomicEth = 1 << 3,
  kAeth = 1 << 4,
  kAtomicAckEth = 1 << 5,
  kImmDt = 1 << 6,
  kIeth = 1 << 7,
};
/// The length of a header.
struct HeaderSize {
  Header header;
  std::uint8_t bytes;
};
inline constexpr std::array kHeaderSizes{
    HeaderSize{kXrcEth, 4},     HeaderSize{kDeth, 8}, HeaderSize{kReth, 16},
    HeaderSize{kAtomicEth, 28}, HeaderSize{kAeth, 4}, HeaderSize{kAtomicAckEth, 8},
    HeaderSize{kImmDt, 4},      HeaderSize{kIeth, 4},
};

struct OpcodeRow {
  std::uint8_t code = 0;
  Service service = Service::kNone;
  Operation operation = Operation::kNone;
  Place place = Place::kOnly;
  std::uint16_t headers = 0;  ///< bits of Header
  bool payload = false;       ///< payload bytes may follow
  std::string_view name;      ///< IBTA's spelling, without the service
};

/// Opcodes of the reliable connection service that the HCA sends.
inline constexpr std::uint8_t kRcSendFirst = 0x00;
inline constexpr std::uint8_t kRcSendMiddle = 0x01;
inline constexpr std::uint8_t kRcSendLast = 0x02;
inline constexpr std::uint8_t kRcSendLastImm = 0x03;
inline constexpr std::uint8_t kRcSendOnly = 0x04;
inline constexpr std::uint8_t kRcSendOnlyImm = 0x05;
inline constexpr std::uint8_t kRcWriteFirst = 0x06;
inline constexpr std::uint8_t kRcWriteMiddle = 0x07;
inline constexpr std::uint8_t kRcWriteLast = 0x08;
inline constexpr std::uint8_t kRcWriteLastImm = 0x09;
inline constexpr std::uint8_t kRcWriteOnly = 0x0a;
inline constexpr std::uint8_t kRcWriteOnlyImm = 0x0b;
inline constexpr std::uint8_t kRcReadRequest = 0x0c;
inline constexpr std::uint8_t kRcReadResponseFirst = 0x0d;
inline constexpr std::uint8_t kRcReadResponseMiddle = 0x0e;
inline constexpr std::uint8_t kRcReadResponseLast = 0x0f;
inline constexpr std::uint8_t kRcReadResponseOnly = 0x10;
inline constexpr std::uint8_t kRcAcknowledge = 0x11;
inline constexpr std::uint8_t kRcAtomicAcknowledge = 0x12;
inline constexpr std::uint8_t kRcCompareSwap = 0x13;
inline constexpr std::uint8_t kRcFetchAdd = 0x14;
inline constexpr std::uint8_t kRcSendLastInvalidate = 0x16;
inline constexpr std::uint8_t kRcSendOnlyInvalidate = 0x17;
inline constexpr std::uint8_t kRcAtomicWrite = 0x1d;  // IBTA vol 1, release 1.5
inline constexpr std::uint8_t kUdSendOnly = 0x64;
inline constexpr std::uint8_t kUdSendOnlyImm = 0x65;

/// The operations of the connected services. Each opcode is an offset within the 32 opcodes of a
/// service.
inline constexpr std::array kConnectedRows{
    OpcodeRow{0x00, {}, Operation::kSend, Place::kFirst, 0, true, "SEND First"},
    OpcodeRow{0x01, {}, Operation::kSend, Place::kMiddle, 0, true, "SEND Middle"},
    OpcodeRow{0x02, {}, Operation::kSend, Place::kLast, 0, true, "SEND Last"},
    OpcodeRow{0x03, {}, Operation::kSend, Place::kLast, kImmDt, true, "SEND Last with Immediate"},
    OpcodeRow{0x04, {}, Operation::kSend, Place::kOnly, 0, true, "SEND Only"},
    OpcodeRow{0x05, {}, Operation::kSend, Place::kOnly, kImmDt, true, "SEND Only with Immediate"},
    OpcodeRow{0x06, {}, Operation::kWrite, Place::kFirst, kReth, true, "RDMA WRITE First"},
    OpcodeRow{0x07, {}, Operation::kWrite, Place::kMiddle, 0, true, "RDMA WRITE Middle"},
    OpcodeRow{0x08, {}, Operation::kWrite, Place::kLast, 0, true, "RDMA WRITE Last"},
    OpcodeRow{
        0x09, {}, Operation::kWrite, Place::kLast, kImmDt, true, "RDMA WRITE Last with Immediate"},
    OpcodeRow{0x0a, {}, Operation::kWrite, Place::kOnly, kReth, true, "RDMA WRITE Only"},
    OpcodeRow{0x0b,
              {},
              Operation::kWrite,
              Place::kOnly,
              kReth | kImmDt,
              true,
              "RDMA WRITE Only with Immediate"},
    OpcodeRow{0x0c, {}, Operation::kReadRequest, Place::kOnly, kReth, false, "RDMA READ Request"},
    OpcodeRow{
        0x0d, {}, Operation::kReadResponse, Place::kFirst, kAeth, true, "RDMA READ Response First"},
    OpcodeRow{
        0x0e, {}, Operation::kReadResponse, Place::kMiddle, 0, true, "RDMA READ Response Middle"},
    OpcodeRow{
        0x0f, {}, Operation::kReadResponse, Place::kLast, kAeth, true, "RDMA READ Response Last"},
    OpcodeRow{
        0x10, {}, Operation::kReadResponse, Place::kOnly, kAeth, true, "RDMA READ Response Only"},
    OpcodeRow{0x11, {}, Operation::kAcknowledge, Place::kOnly, kAeth, false, "Acknowledge"},
    OpcodeRow{0x12,
              {},
              Operation::kAtomicAcknowledge,
              Place::kOnly,
              kAeth | kAtomicAckEth,
              false,
              "ATOMIC Acknowledge"},
    OpcodeRow{0x13, {}, Operation::kCompareSwap, Place::kOnly, kAtomicEth, false, "CmpSwap"},
    OpcodeRow{0x14, {}, Operation::kFetchAdd, Place::kOnly, kAtomicEth, false, "FetchAdd"},
    OpcodeRow{0x16, {}, Operation::kSend, Place::kLast, kIeth, true, "SEND Last with Invalidate"},
    OpcodeRow{0x17, {}, Operation::kSend, Place::kOnly, kIeth, true, "SEND Only with Invalidate"},
    OpcodeRow{0x1d, {}, Operation::kAtomicWrite, Place::kOnly, kReth, true, "ATOMIC WRITE"},
};

/// Makes the opcode table: one row for each opcode value, with Service::kNone for reserved values.
[[nodiscard]] constexpr std::array<OpcodeRow, 256> make_opcode_table() {
  std::array<OpcodeRow, 256> table{};
  auto add = [&table](Service service, OpcodeRow row, unsigned extra) {
    row.service = service;
    row.code = static_cast<std::uint8_t>(row.code | (static_cast<unsigned>(service) << 5));
    row.headers = static_cast<std::uint16_t>(row.headers | extra);
    table[row.code] = row;
  };
  for (const OpcodeRow& row : kConnectedRows) {
    add(Service::kRc, row, 0);
    if (row.code <= 0x0b) add(Service::kUc, row, 0);
    // Requests on extended connections (XRC) contain the number of the peer's shared receive queue
    // (XrcEth); responses do not.
    const bool response = row.code >= 0x0d && row.code <= 0x12;
    add(Service::kXrc, row, response ? 0u : static_cast<unsigned>(kXrcEth));
  }
  add(Service::kUd, {0x04, {}, Operation::kSend, Place::kOnly, kDeth, true, "SEND Only"}, 0);
  add(Service::kUd,
      {0x05, {}, Operation::kSend, Place::kOnly, kDeth | kImmDt, true, "SEND Only with Immediate"},
      0);
  add(Service::kCnp, {0x01, {}, Operation::kCongestion, Place::kOnly, 0, true, "CNP"}, 0);
  return table;
}
inline constexpr std::array<OpcodeRow, 256> kOpcodes = make_opcode_table();

/// Bytes of all extended headers in a set of Header bits.
[[nodiscard]] constexpr std::size_t extended_bytes(unsigned headers) {
  std::size_t bytes = 0;
  for (const HeaderSize& size : kHeaderSizes)
    if ((headers & static_cast<unsigned>(size.header)) != 0) bytes += size.bytes;
  return bytes;
}

/// Makes the table of header offsets, by opcode and by the number of the header's bit.
[[nodiscard]] constexpr auto make_header_offsets() {
  std::array<std::array<std::uint8_t, kHeaderSizes.size()>, 256> offsets{};
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    for (std::size_t bit = 0; bit < kHeaderSizes.size(); ++bit) {
      offsets[i][bit] =
          static_cast<std::uint8_t>(12 + extended_bytes(kOpcodes[i].headers & ((1u << bit) - 1)));
    }
  }
  return offsets;
}
inline constexpr auto kHeaderOffsets = make_header_offsets();

/// Returns the offset of an extended header from the first byte of the BTH. Precondition: the
/// opcode has this header.
[[nodiscard]] constexpr std::size_t offset_of(std::uint8_t opcode, Header header) {
  return kHeaderOffsets[opcode]
                       [static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(header)))];
}

/// Makes the table of the headers' total length in bytes (BTH and all extended headers), by opcode.
[[nodiscard]] constexpr std::array<std::uint8_t, 256> make_header_bytes() {
  std::array<std::uint8_t, 256> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(12 + extended_bytes(kOpcodes[i].headers));
  return bytes;
}
inline constexpr std::array<std::uint8_t, 256> kHeaderBytes = make_header_bytes();

}  // namespace anyrdma::roce
