// Writes and reads the fields of packets and events as bytes, in the form that traces and
// recordings use.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <type_traits>

#include "verbs/assert.h"
#include "verbs/soft/wire/headers.h"

namespace anyrdma::recording {

/// Whether a packet is a MAD to the general services queue pair (QP1). Recordings contain the whole
/// payload of such a packet.
[[nodiscard]] inline bool is_management(const roce::Envelope& envelope) {
  return envelope.bth.opcode == roce::kUdSendOnly && envelope.bth.destination == wire::kGsiQpn;
}

/// Written in place of a RoCEv2 packet's decode error: the packet is of another IP protocol.
inline constexpr std::uint8_t kOtherThanRoce = 0xff;

/// One kind of packet header that recordings contain unchanged. For RETH and AtomicETH, the first
/// `skip` bytes are omitted: the address is a pointer of the program, and differs from run to run.
struct KeptHeader {
  roce::Header header;
  std::size_t skip;
};
inline constexpr KeptHeader kKeptHeaders[] = {
    {roce::kDeth, 0},  {roce::kReth, 8},         {roce::kAtomicEth, 8}, {roce::kAeth, 0},
    {roce::kImmDt, 0}, {roce::kAtomicAckEth, 0}, {roce::kIeth, 0},
};
[[nodiscard]] constexpr std::size_t bytes_of(roce::Header header) {
  for (const roce::HeaderSize& row : roce::kHeaderSizes) {
    if (row.header == header) return row.bytes;
  }
  return 0;
}

/// Appends numbers, least significant byte first, and bytes.
class FieldWriter {
 public:
  template <class T>
  void put(T number) {
    static_assert(std::is_unsigned_v<T>);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      storage_[size_++] = static_cast<std::uint8_t>(std::uint64_t{number} >> (8 * i));
    }
  }
  void put_bytes(std::span<const std::uint8_t> bytes) {
    CM_ASSERT(bytes.size() <= storage_.size() - size_);
    if (!bytes.empty()) std::memcpy(storage_.data() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {storage_.data(), size_}; }

 private:
  std::array<std::uint8_t, 512> storage_;  // the longest record has about 330 bytes
  std::size_t size_ = 0;
};

/// Reads fields in the order in which FieldWriter has written them. If malformed input lacks
/// fields, they are read as zeros.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  template <class T>
  [[nodiscard]] T take() {
    static_assert(std::is_unsigned_v<T>);
    std::uint64_t number = 0;
    const auto bytes = take_bytes(sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) number |= std::uint64_t{bytes[i]} << (8 * i);
    return static_cast<T>(number);
  }
  [[nodiscard]] std::span<const std::uint8_t> take_bytes(std::size_t count) {
    if (count > bytes_.size()) {
      static constexpr std::array<std::uint8_t, 256> kZeros{};
      bytes_ = {};
      return std::span(kZeros).first(std::min(count, kZeros.size()));
    }
    const auto front = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return front;
  }
  [[nodiscard]] std::span<const std::uint8_t> rest() const { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace anyrdma::recording
