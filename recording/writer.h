// Writes a recording. Numbers are written as varints; a text is written in full only the first
// time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "recording/entry.h"
#include "recording/sink.h"
#include "verbs/time.h"

namespace anyrdma::recording {

/// The number of a message or of a lane (timeline row) in a recording.
using Number = std::uint64_t;

/// Writes the entries of a recording. An entry has a kind, a time and the fields of its shape
/// (format.h), in their order. Wrong types or numbers of fields do not compile. Not thread-safe.
class Writer {
 public:
  explicit Writer(std::shared_ptr<Sink> sink);
  /// Ends the file. If no end entry was written, the file has none.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Writes an entry. Its kind is written last, so that an entry whose process dies meanwhile is
  /// recognized as incomplete.
  template <EntryKind kKind, class... Fields>
  void write(verbs::Instant now, const Fields&... fields) {
    static constexpr std::string_view kShape = kShapes[static_cast<std::size_t>(kKind)];
    static_assert(sizeof...(fields) == kShape.size());
    std::uint8_t* at = begin(now);
    [&]<std::size_t... kField>(std::index_sequence<kField...>) {
      ((at = put<kShape[kField]>(at, fields)), ...);
    }
    (std::index_sequence_for<Fields...>());
    end_entry(kKind, at);
  }
  /// Writes an entry of a kind that is known only at run time, for example when a recording is
  /// copied. The entry's numbers and its texts are each in the order of the shape (format.h).
  void write(EntryKind kind, verbs::Instant now, std::span<const std::uint64_t> numbers,
             std::span<const std::string_view> texts);
  void write(const Entry& entry) { write(entry.kind, entry.time, entry.numbers, entry.texts); }

  // --- entries that define what others refer to -------------------------------------------------
  void about(std::string_view key, std::string_view value);
  [[nodiscard]] Number lane(verbs::Instant now, std::string_view of, std::string_view name);
  [[nodiscard]] Number lane(verbs::Instant now, std::string_view of, std::string_view name,
                            Number in);
  /// Returns the number of the kSent or kCopied entry that is written next.
  [[nodiscard]] Number next_message() { return messages_++; }
  /// Writes the end entry with the run's verdict and hash. Later entries are dropped.
  void end(verbs::Instant now, std::string_view verdict, std::uint64_t hash);

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  /// The first bytes and the last bytes of a text; for a short text these are all its bytes.
  struct Ends {
    explicit Ends(std::string_view text);
    bool operator==(const Ends&) const = default;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::size_t size = 0;
  };
  /// A text that was written recently. A recording has few different texts, and repeats each of
  /// them a thousand times.
  struct Lately {
    Ends ends{{}};
    const char* text = nullptr;  ///< a key of texts_
    std::uint64_t number = 0;    ///< number of the text in the file; 0: it was not written yet
  };
  [[nodiscard]] Lately look_up(const Ends& ends, std::string_view text);

  // Each function takes the place to write to and returns the next place. With a member instead,
  // the code is slower, because the compiler must assume that a written byte changes the member.
  [[nodiscard]] std::uint8_t* begin(verbs::Instant now) {
    if (window_.size() - used_ < kEntryBytesMax) turn_window();
    const verbs::Instant last = std::exchange(last_, now);
    return put_signed(window_.data() + used_ + 1, (now - last).count());
  }
  void end_entry(EntryKind kind, const std::uint8_t* at) {
    std::uint8_t* const begun = window_.data() + used_;
    used_ = static_cast<std::size_t>(at - window_.data());
    // For a signal handler that ends the process.
    std::atomic_signal_fence(std::memory_order_release);
    *begun = static_cast<std::uint8_t>(kind);
  }
  /// Writes one field of an entry, in the encoding that the field's letter in the shape (format.h)
  /// selects.
  template <char kLetter, class Field>
  [[nodiscard]] std::uint8_t* put(std::uint8_t* at, const Field& field) {
    if constexpr (kLetter == 't') {
      return put_text(at, field);
    } else if constexpr (kLetter == 'b') {
      return put_sized(at, field);
    } else if constexpr (kLetter == 'z') {
      static_assert(std::is_signed_v<Field>);
      return put_signed(at, field);
    } else {
      static_assert(std::is_unsigned_v<Field>);
      return put_number(at, field);
    }
  }
  [[nodiscard]] static std::uint8_t* put_number(std::uint8_t* at, std::uint64_t value) {
    while (value >= 0x80) {
      *at++ = static_cast<std::uint8_t>(value | 0x80);
      value >>= 7;
    }
    *at++ = static_cast<std::uint8_t>(value);
    return at;
  }
  /// Writes a signed number so that small numbers of either sign take few bytes.
  [[nodiscard]] static std::uint8_t* put_signed(std::uint8_t* at, std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    return put_number(at, bits << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  [[nodiscard]] static std::uint8_t* put_sized(std::uint8_t* at,
                                               std::span<const std::uint8_t> bytes);
  [[nodiscard]] static std::uint8_t* put_sized(std::uint8_t* at, std::string_view text);
  [[nodiscard]] std::uint8_t* put_text(std::uint8_t* at, std::string_view text);
  void turn_window();

  std::shared_ptr<Sink> sink_;
  std::span<std::uint8_t> window_{};
  std::size_t used_ = 0;
  bool over_ = false;  ///< window_ is a buffer for dropped entries
  std::unique_ptr<std::uint8_t[]> nowhere_;
  verbs::Instant last_{};
  Number lanes_ = 0;
  Number messages_ = 0;
  std::unordered_map<std::string, std::uint64_t, TextHash, std::equal_to<>> texts_;
  std::array<Lately, 512> lately_{};
};

}  // namespace anyrdma::recording
