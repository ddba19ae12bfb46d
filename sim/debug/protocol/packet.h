// Packets of gdb's remote serial protocol: how bytes become packets, and back. No I/O.
// Source: GDB manual, "Remote Protocol".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace anyrdma::sim::debug {

/// The payload as it goes over the wire: `$`, escaped, `#` and the checksum.
[[nodiscard]] std::string framed(std::string_view payload);

struct Incoming {
  enum class Kind : std::uint8_t {
    kPacket,     ///< `payload` is complete, and its checksum is right
    kDamaged,    ///< a packet whose checksum is wrong: the peer has to repeat it
    kRepeat,     ///< the peer did not understand our last packet
    kInterrupt,  ///< Ctrl-C
  };
  Kind kind{};
  std::string payload{};
};

/// Finds packets in a stream of bytes, and skips all other bytes.
class PacketReader {
 public:
  /// A packet with a longer payload counts as damaged.
  static constexpr std::size_t kPayloadMax = 1 << 17;

  void append(std::string_view bytes) { buffer_.append(bytes); }
  /// The next one; nullopt: more bytes are needed.
  [[nodiscard]] std::optional<Incoming> next();

 private:
  std::string buffer_;
};

}  // namespace anyrdma::sim::debug
