// The recording of one process in real time, taken apart so that it can be put together with
// others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recording/reader.h"
#include "verbs/time.h"

namespace anyrdma::recording {

/// Its lane 0 is the process; another lane of a host is somebody outside, known by an address.
/// Views into the file, which outlives it.
struct ProcessFile {
  struct Lane {
    std::string_view of;
    std::string_view name;
    std::optional<std::uint64_t> in;
  };
  std::vector<Entry> entries;
  std::vector<Lane> lanes;
  std::vector<std::size_t> messages;  ///< their entries
  std::vector<std::pair<std::string_view, std::string_view>> about;
  bool truncated = false;
  std::string damage{};     ///< why it has nothing more, as Reader::problem(); empty: it has all
  verbs::Duration begin{};  ///< of its time; whoever merges sets it

  /// The first value of a key; empty: none.
  [[nodiscard]] std::string_view told(std::string_view key) const;
  /// The same as a number; nullopt: it is none.
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view key) const;
  [[nodiscard]] verbs::Duration time_of(const Entry& entry) const {
    return begin + entry.time.time_since_epoch();
  }
  /// A message that has left the process for somebody outside.
  [[nodiscard]] bool leaves(const Entry& entry) const;
  /// A message that has come from outside.
  [[nodiscard]] bool comes(const Entry& entry) const;
  [[nodiscard]] bool is_outside(std::uint64_t lane) const {
    return lane != 0 && lanes[lane].of == "host";
  }
};

/// Longest time that a file may begin after another one, and last.
inline constexpr verbs::Duration kLongest{std::int64_t{1} << 52};

struct ReadProcessFile {
  std::optional<ProcessFile> file{};
  std::string problem{};  ///< a sentence without its end: why there is none
};
[[nodiscard]] ReadProcessFile read_process_file(std::span<const std::uint8_t> bytes);

}  // namespace anyrdma::recording
