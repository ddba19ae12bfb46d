#include "cm/rsocket/wire.h"

#include <algorithm>

namespace anyrdma::rsocket {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kFlagBigEndian = 1;
constexpr std::uint8_t kFlagMaps = 2;
constexpr unsigned kKindShift = 29;

// Places in private data.
constexpr std::size_t kAtFlags = 1;
constexpr std::size_t kAtCredits = 2;
constexpr std::size_t kAtMappings = 7;
constexpr std::size_t kAtTargets = 8;
constexpr std::size_t kAtFirst = 24;
static_assert(kAtTargets + 2 * kTargetSize == kConnectDataSize);
static_assert(kAtFirst == kAtTargets + kTargetSize);

constexpr std::size_t kAtKey = 8;
constexpr std::size_t kAtLength = 12;

template <class Number>
void put(Number value, Order order, std::byte* out) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    const std::size_t place = order == Order::kLittle ? i : sizeof value - 1 - i;
    out[place] = static_cast<std::byte>(value >> (8 * i));
  }
}

template <class Number>
Number get(const std::byte* in, Order order) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    const std::size_t place = order == Order::kLittle ? sizeof value - 1 - i : i;
    value = static_cast<Number>((std::uint64_t{value} << 8) |
                                std::to_integer<std::uint64_t>(in[place]));
  }
  return value;
}

constexpr std::uint32_t kScaled = 0x80;
constexpr unsigned kScaleBits = 8;

std::uint8_t scaled(std::uint32_t mappings) {
  if (mappings <= kScaled) return static_cast<std::uint8_t>(mappings);
  return static_cast<std::uint8_t>(kScaled | std::min(mappings >> kScaleBits, kScaled - 1));
}

std::uint32_t unscaled(std::uint8_t field) {
  return field <= kScaled ? field : (field & (kScaled - 1)) << kScaleBits;
}

}  // namespace

void put_target(const Target& target, Order order, std::span<std::byte, kTargetSize> out) {
  put(target.address, order, out.data());
  put(target.key, order, out.data() + kAtKey);
  put(target.length, order, out.data() + kAtLength);
}

Target get_target(std::span<const std::byte, kTargetSize> in, Order order) {
  return {.address = get<std::uint64_t>(in.data(), order),
          .key = get<std::uint32_t>(in.data() + kAtKey, order),
          .length = get<std::uint32_t>(in.data() + kAtLength, order)};
}

void put_mapping(const Mapping& mapping, Order order, std::span<std::byte, kMappingSize> out) {
  put(mapping.offset, order, out.data());
  put_target(mapping.target, order, out.last<kTargetSize>());
}

Mapping get_mapping(std::span<const std::byte, kMappingSize> in, Order order) {
  return {.offset = get<std::uint64_t>(in.data(), order),
          .target = get_target(in.last<kTargetSize>(), order)};
}

std::array<std::byte, kConnectDataSize> put_connect_data(const ConnectData& data) {
  std::array<std::byte, kConnectDataSize> out{};
  const std::span<std::byte, kConnectDataSize> bytes(out);
  out[0] = std::byte{kVersion};
  out[kAtFlags] = static_cast<std::byte>((data.order == Order::kBig ? kFlagBigEndian : 0) |
                                         (data.maps ? kFlagMaps : 0));
  put(data.credits, Order::kBig, &out[kAtCredits]);
  out[kAtMappings] = std::byte{scaled(data.mappings)};
  put_target(data.targets, Order::kBig, bytes.subspan<kAtTargets, kTargetSize>());
  put_target(data.first, Order::kBig, bytes.subspan<kAtFirst, kTargetSize>());
  return out;
}

std::optional<ConnectData> get_connect_data(std::span<const std::byte> in) {
  if (in.size() < kConnectDataSize || in[0] != std::byte{kVersion}) return std::nullopt;
  const auto bytes = in.first<kConnectDataSize>();
  const auto flags = std::to_integer<std::uint8_t>(bytes[kAtFlags]);
  ConnectData data{
      .order = (flags & kFlagBigEndian) != 0 ? Order::kBig : Order::kLittle,
      .maps = (flags & kFlagMaps) != 0,
      .credits = get<std::uint16_t>(&bytes[kAtCredits], Order::kBig),
      .targets = get_target(bytes.subspan<kAtTargets, kTargetSize>(), Order::kBig),
      .first = get_target(bytes.subspan<kAtFirst, kTargetSize>(), Order::kBig),
  };
  if (data.maps) data.mappings = unscaled(std::to_integer<std::uint8_t>(bytes[kAtMappings]));
  // A table with one entry or none has no place for the second buffer.
  if (data.targets.length < 2 || data.first.length > kLargestValue) return std::nullopt;
  return data;
}

std::uint32_t expressible_mappings(std::uint32_t wanted) {
  return unscaled(scaled(wanted));
}

std::uint32_t put_message(Message message) {
  return static_cast<std::uint32_t>(message.kind) << kKindShift | (message.value & kLargestValue);
}

std::optional<Message> get_message(std::uint32_t immediate) {
  const Message message{.kind = static_cast<Kind>(immediate >> kKindShift),
                        .value = immediate & kLargestValue};
  switch (message.kind) {
    case Kind::kData:
    case Kind::kCredit:
    case Kind::kMapping:
    case Kind::kControl:
      return message;
    case Kind::kWrite:
      break;
  }
  return std::nullopt;
}

}  // namespace anyrdma::rsocket
