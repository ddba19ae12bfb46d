// Parses the requests in gdb's packets. No I/O, no state.
// Source: GDB manual, "Packets", "General Query Packets".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace anyrdma::sim::debug {

/// `pPROCESS.THREAD`. Each number: -1 is all, 0 is any.
struct ThreadId {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  bool operator==(const ThreadId&) const = default;
};

[[nodiscard]] std::string to_text(const ThreadId& id);
/// The whole text. Without a process, it is any.
[[nodiscard]] std::optional<ThreadId> parse_thread_id(std::string_view text);
/// Whether a pattern, with its -1 and 0, names the thread.
[[nodiscard]] bool matches(const ThreadId& pattern, const ThreadId& id);

/// One of `vCont`'s.
struct Action {
  bool step = false;
  int signal = 0;           ///< to be delivered, by gdb's number; 0: none
  std::uint64_t begin = 0;  ///< steps as long as it is in [begin, end)
  std::uint64_t end = 0;
  ThreadId whose{-1, -1};
};
/// The text after "vCont;". nullopt: it is invalid.
[[nodiscard]] std::optional<std::vector<Action>> parse_actions(std::string_view text);

/// `Z` and `z`: where a thread is to stop.
struct Point {
  enum class Kind : std::uint8_t { kCode, kHardwareCode, kWrite, kRead, kAccess };
  Kind kind{};
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  auto operator<=>(const Point&) const = default;
};
/// The text after the `Z`.
[[nodiscard]] std::optional<Point> parse_point(std::string_view text);

/// `m`, `M`, `X`: memory.
struct MemoryRange {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string_view data{};  ///< after the colon, if there is one
};
[[nodiscard]] std::optional<MemoryRange> parse_memory(std::string_view text);

/// `qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH`.
struct Transfer {
  std::string_view object{};
  std::string_view annex{};
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
/// The text after "qXfer:".
[[nodiscard]] std::optional<Transfer> parse_transfer(std::string_view text);
/// The answer to one: a part of `whole`.
[[nodiscard]] std::string part_of(std::string_view whole, const Transfer& transfer);

/// gdb numbers signals by itself. 0: there is none such.
[[nodiscard]] int gdb_signal(int linux_signal);
[[nodiscard]] int linux_signal(int gdb_signal);

/// Text in an XML attribute.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace anyrdma::sim::debug
