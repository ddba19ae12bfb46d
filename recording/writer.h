// Writes a recording: numbers as varints, texts in full the first time only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "recording/format.h"
#include "recording/sink.h"
#include "verbs/time.h"

namespace anyrdma::recording {

/// Names a message or a lane in a recording.
using Number = std::uint64_t;

/// Each entry is begun and then given the fields that its shape has (format.h), in their order.
/// Whoever breaks that writes a file that nobody reads: recorders are tested by reading. Not
/// thread-safe.
class Writer {
 public:
  explicit Writer(std::shared_ptr<Sink> sink);
  /// Ends the file where it is, unless an end was written.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Writer& begin(EntryKind kind, verbs::Instant now) {
    if (window_.size() - used_ < kEntryBytesMax) turn_window();
    put(static_cast<std::uint8_t>(kind));
    const verbs::Instant last = last_;
    last_ = now;
    return signed_number((now - last).count());
  }
  Writer& number(std::uint64_t value) {
    if (value >= 0x80) return long_number(value);
    put(static_cast<std::uint8_t>(value));
    return *this;
  }
  /// Small numbers of either sign stay short.
  Writer& signed_number(std::int64_t value) {
    return number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  Writer& text(std::string_view text);
  Writer& bytes(std::span<const std::uint8_t> bytes);
  Writer& bytes(std::string_view text);

  // --- entries that define what others refer to -------------------------------------------------
  void about(std::string_view key, std::string_view value);
  [[nodiscard]] Number lane(verbs::Instant now, std::string_view of, std::string_view name);
  [[nodiscard]] Number lane(verbs::Instant now, std::string_view of, std::string_view name,
                            Number in);
  /// The number of the next kSent or kCopied, which is about to be written.
  [[nodiscard]] Number next_message() { return messages_++; }
  /// The recording is whole. Nothing that is written afterwards is kept.
  void end(verbs::Instant now, std::string_view verdict, std::uint64_t hash);

 private:
  /// A text's beginning and end, which are all of it if it is short.
  struct Ends {
    explicit Ends(std::string_view text);
    bool operator==(const Ends&) const = default;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::size_t size = 0;
  };
  /// A text that was written lately. A recording has few, and says each of them a thousand times.
  struct Lately {
    Ends ends{{}};
    const char* text = nullptr;  ///< a key of texts_
    std::uint64_t number = 0;
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  Writer& long_number(std::uint64_t value);
  [[nodiscard]] Lately look_up(const Ends& ends, std::string_view text);
  void put(std::uint8_t byte) { window_[used_++] = byte; }
  void put_bytes(std::span<const std::uint8_t> bytes);
  void turn_window();

  std::shared_ptr<Sink> sink_;
  std::span<std::uint8_t> window_{};
  std::size_t used_ = 0;
  bool over_ = false;  ///< window_ is a place for what nobody keeps
  std::unique_ptr<std::uint8_t[]> nowhere_;
  verbs::Instant last_{};
  Number lanes_ = 0;
  Number messages_ = 0;
  std::unordered_map<std::string, std::uint64_t, TextHash, std::equal_to<>> texts_;
  std::array<Lately, 512> lately_{};
};

}  // namespace anyrdma::recording
