// The bytes that two rsockets of a stream exchange: private data of the connection, entries of the
// tables that peers write into, and immediate data. No I/O.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace anyrdma::rsocket {

/// A range of registered memory that a peer may write to.
struct Target {
  std::uint64_t address = 0;  ///< address in the process that registered the memory
  std::uint32_t key = 0;      ///< the memory's rkey
  std::uint32_t length = 0;   ///< bytes; 0: nothing may be written
  bool operator==(const Target&) const = default;
};

/// Size of a Target in memory and in private data, in bytes.
inline constexpr std::size_t kTargetSize = 16;
/// Entries of the table of targets. rdma-core writes the same number into its private data.
inline constexpr std::uint32_t kTargets = 2;

/// An entry of the table of mapped buffers (riomap): the memory behind an offset of the stream.
struct Mapping {
  std::uint64_t offset = 0;
  Target target;
  bool operator==(const Mapping&) const = default;
};

/// Size of a Mapping in memory, in bytes.
inline constexpr std::size_t kMappingSize = 24;

/// Byte order of the entries that a peer writes into a table. Private data is always big endian.
enum class Order : std::uint8_t { kLittle, kBig };

void put_target(const Target& target, Order order, std::span<std::byte, kTargetSize> out);
[[nodiscard]] Target get_target(std::span<const std::byte, kTargetSize> in, Order order);
void put_mapping(const Mapping& mapping, Order order, std::span<std::byte, kMappingSize> out);
[[nodiscard]] Mapping get_mapping(std::span<const std::byte, kMappingSize> in, Order order);

/// Private data of a connection request and of its response.
struct ConnectData {
  Order order = Order::kLittle;  ///< byte order of the sender's host
  bool maps = true;              ///< the sender has a table of mappings behind its targets
  std::uint16_t credits = 0;     ///< data messages that the sender can receive now
  std::uint32_t mappings = 0;    ///< entries of the sender's table of mappings
  Target targets;                ///< the table of targets; its length is the number of entries
  Target first;                  ///< the first buffer for the peer's data
  bool operator==(const ConnectData&) const = default;
};

/// Size of ConnectData in private data, in bytes. The CM pads private data with zeros.
inline constexpr std::size_t kConnectDataSize = 40;

[[nodiscard]] std::array<std::byte, kConnectDataSize> put_connect_data(const ConnectData& data);
/// Nothing: the bytes are too few, of another version than 1, or describe a table or a buffer that
/// a stream cannot use.
[[nodiscard]] std::optional<ConnectData> get_connect_data(std::span<const std::byte> in);

/// Returns the largest number of mappings, at most `wanted`, that private data can express: the
/// field has 8 bits, with a scale of 256 for numbers above 128.
[[nodiscard]] std::uint32_t expressible_mappings(std::uint32_t wanted);

/// Meaning of immediate data.
enum class Kind : std::uint8_t {
  kData = 0,     ///< value: bytes that were written into the current target
  kWrite = 2,    ///< never sent: the work request of a riowrite
  kCredit = 4,   ///< value: the number of the last data message that may be sent, modulo 65536
  kMapping = 6,  ///< value: index of the mapping that was written
  kControl = 7,  ///< value: a Control
};

enum class Control : std::uint32_t { kDisconnect = 0, kKeepAlive = 1, kShutdown = 2 };

/// Immediate data: 3 bits of kind, 29 bits of value. Big endian in packets.
struct Message {
  Kind kind = Kind::kData;
  std::uint32_t value = 0;
  bool operator==(const Message&) const = default;
};

inline constexpr std::uint32_t kLargestValue = 0x1fff'ffff;

/// Returns the message as a number in the host's byte order. `message.value` is at most
/// kLargestValue.
[[nodiscard]] std::uint32_t put_message(Message message);
/// Nothing: the kind is one that peers do not send.
[[nodiscard]] std::optional<Message> get_message(std::uint32_t immediate);

}  // namespace anyrdma::rsocket
