// Writes a recording: numbers as varints, texts in full the first time only.
#pragma once

#include <array>
#include <atomic>
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

  /// The kind is written last: whoever dies in the middle of an entry has not begun it.
  Writer& begin(EntryKind kind, verbs::Instant now) {
    if (window_.size() - used_ < kEntryBytesMax) turn_window();
    kind_ = kind;
    fields_ = kShapes[static_cast<std::size_t>(kind)].size();
    begun_ = used_++;
    const verbs::Instant last = last_;
    last_ = now;
    put_signed((now - last).count());
    return *this;
  }
  Writer& number(std::uint64_t value) {
    put_number(value);
    return field_done();
  }
  Writer& signed_number(std::int64_t value) {
    put_signed(value);
    return field_done();
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
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
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
    std::uint64_t number = 0;    ///< 0: it is new
  };
  [[nodiscard]] Lately look_up(const Ends& ends, std::string_view text);
  void put(std::uint8_t byte) { window_[used_++] = byte; }
  void put_number(std::uint64_t value) {
    if (value >= 0x80) return put_long_number(value);
    put(static_cast<std::uint8_t>(value));
  }
  void put_long_number(std::uint64_t value);
  /// Small numbers of either sign stay short.
  void put_signed(std::int64_t value) {
    put_number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void put_bytes(std::span<const std::uint8_t> bytes);
  void put_sized(std::span<const std::uint8_t> bytes);
  Writer& field_done() {
    if (--fields_ != 0) return *this;
    std::atomic_signal_fence(std::memory_order_release);  // of a signal that ends the process
    window_[begun_] = static_cast<std::uint8_t>(kind_);
    return *this;
  }
  void turn_window();

  std::shared_ptr<Sink> sink_;
  std::span<std::uint8_t> window_{};
  std::size_t used_ = 0;
  EntryKind kind_{};        ///< of the entry that is being written
  std::size_t begun_ = 0;   ///< where in the window its kind belongs
  std::size_t fields_ = 0;  ///< that it still lacks
  bool over_ = false;       ///< window_ is a place for what nobody keeps
  std::unique_ptr<std::uint8_t[]> nowhere_;
  verbs::Instant last_{};
  Number lanes_ = 0;
  Number messages_ = 0;
  std::unordered_map<std::string, std::uint64_t, TextHash, std::equal_to<>> texts_;
  std::array<Lately, 512> lately_{};
};

}  // namespace anyrdma::recording
