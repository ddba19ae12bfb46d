// One entry of a recording, in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "recording/format.h"
#include "verbs/time.h"

namespace anyrdma::recording {

/// One entry of a recording. Its fields are in the order of its shape (format.h): numbers are in
/// `numbers`, texts and bytes in `texts`.
struct Entry {
  EntryKind kind{};
  verbs::Instant time{};
  std::array<std::uint64_t, 10> numbers{};
  std::array<std::string_view, 3> texts{};  ///< views into memory of the caller
  [[nodiscard]] std::int64_t signed_number(std::size_t i) const {
    return static_cast<std::int64_t>(numbers[i]);
  }
};

/// Whether Entry::texts has the field with this letter of a shape (format.h). Other fields are in
/// Entry::numbers.
[[nodiscard]] constexpr bool is_text(char letter) {
  return letter == 't' || letter == 'b';
}

namespace detail {

inline std::string_view text_of(std::string_view text) {
  return text;
}
inline std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <char kLetter, class Field>
void set(Entry& entry, std::size_t& numbers, std::size_t& texts, const Field& field) {
  if constexpr (is_text(kLetter)) {
    entry.texts[texts++] = text_of(field);
  } else if constexpr (kLetter == 'z') {
    static_assert(std::is_signed_v<Field>);
    entry.numbers[numbers++] = static_cast<std::uint64_t>(std::int64_t{field});
  } else {
    static_assert(std::is_unsigned_v<Field>);
    entry.numbers[numbers++] = field;
  }
}

}  // namespace detail

/// Makes an entry of kind `kKind` from its fields, in the order of its shape (format.h). Wrong
/// types or numbers of fields do not compile.
template <EntryKind kKind, class... Fields>
[[nodiscard]] Entry entry_of(const Fields&... fields) {
  static constexpr std::string_view kShape = kShapes[static_cast<std::size_t>(kKind)];
  static_assert(sizeof...(fields) == kShape.size());
  Entry entry;
  entry.kind = kKind;
  [[maybe_unused]] std::size_t numbers = 0;
  [[maybe_unused]] std::size_t texts = 0;
  [&]<std::size_t... kField>(std::index_sequence<kField...>) {
    (detail::set<kShape[kField]>(entry, numbers, texts, fields), ...);
  }
  (std::index_sequence_for<Fields...>());
  return entry;
}

/// The interface of objects that read the entries of a run, such as the checkers. The entries are
/// passed one by one, in order. Lanes (timeline rows) are numbered in the order of their kLane
/// entries.
class EntryReader {
 public:
  virtual ~EntryReader() = default;
  virtual void on_entry(const Entry& entry) = 0;
};

/// The interface of objects that receive the entries of one lane (timeline row) while the program
/// runs. Implementations must not call back. Threads: any, also at the same time.
class EntrySink {
 public:
  virtual ~EntrySink() = default;
  /// Passes one entry to the sink. The entry has lane 0 and no time, because the sink adds both.
  virtual void put(const Entry& entry) = 0;
  /// Whether the sink ignores later entries, as in a child made by fork.
  [[nodiscard]] virtual bool is_closed() const { return false; }
};

}  // namespace anyrdma::recording
