#include "sim/debug/protocol/packet.h"

#include "sim/debug/protocol/hex.h"

namespace anyrdma::sim::debug {
namespace {

constexpr char kEscape = '}';
constexpr char kEscapeBit = 0x20;
constexpr char kInterruptByte = 0x03;

bool is_special(char c) {
  return c == '$' || c == '#' || c == kEscape || c == '*';
}

std::uint8_t checksum_of(std::string_view bytes) {
  std::uint8_t sum = 0;
  for (const char c : bytes) sum = static_cast<std::uint8_t>(sum + static_cast<std::uint8_t>(c));
  return sum;
}

std::string unescaped(std::string_view bytes) {
  std::string plain;
  plain.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == kEscape && i + 1 < bytes.size()) {
      plain += static_cast<char>(bytes[++i] ^ kEscapeBit);
    } else {
      plain += bytes[i];
    }
  }
  return plain;
}

}  // namespace

std::string framed(std::string_view payload) {
  std::string text = "$";
  for (const char c : payload) {
    if (is_special(c)) {
      text += kEscape;
      text += static_cast<char>(c ^ kEscapeBit);
    } else {
      text += c;
    }
  }
  const std::uint8_t sum = checksum_of(std::string_view(text).substr(1));
  const char byte = static_cast<char>(sum);
  return text + '#' + to_hex({&byte, 1});
}

std::optional<Incoming> PacketReader::next() {
  constexpr std::size_t kSumDigits = 2;
  while (!buffer_.empty()) {
    switch (buffer_.front()) {
      case kInterruptByte:
        buffer_.erase(0, 1);
        return Incoming{.kind = Incoming::Kind::kInterrupt};
      case '-':
        buffer_.erase(0, 1);
        return Incoming{.kind = Incoming::Kind::kRepeat};
      case '$':
        break;
      default:  // an acknowledgement, or nonsense
        buffer_.erase(0, 1);
        continue;
    }
    const std::size_t end = buffer_.find('#');
    if (end == std::string::npos || end + kSumDigits >= buffer_.size()) {
      if (buffer_.size() <= kPayloadMax + kSumDigits) return std::nullopt;
      buffer_.clear();
      return Incoming{.kind = Incoming::Kind::kDamaged};
    }
    const std::string_view body = std::string_view(buffer_).substr(1, end - 1);
    const auto sum = from_hex(std::string_view(buffer_).substr(end + 1, kSumDigits));
    Incoming packet{.kind = Incoming::Kind::kDamaged};
    if (sum && static_cast<std::uint8_t>(sum->front()) == checksum_of(body) &&
        body.size() <= kPayloadMax) {
      packet.kind = Incoming::Kind::kPacket;
      packet.payload = unescaped(body);
    }
    buffer_.erase(0, end + 1 + kSumDigits);
    return packet;
  }
  return std::nullopt;
}

}  // namespace anyrdma::sim::debug
