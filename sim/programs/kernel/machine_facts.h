// Facts about the machine that differ between machines and that the simulator cannot hide. The
// table of docs/limits.md and what `--strict` names come from here.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace anyrdma::sim::programs {

enum class Fact : std::uint8_t {
  kProcessor,
  kProcessorNumber,
  kDescriptorTables,
  kFileTimes,
  kQuickChange,
  kFileNumbers,
  kEntries,
  kFileSystems,
  kOffset,
  kMappedNumbers,
  kAddresses,
  kInterfaces,
  kDirectoryOfRun,
  kDescriptors,
  kUser,
  kLimits,
};

/// One row of the table.
struct MachineFact {
  Fact fact{};
  std::string_view what;       ///< "the user of the command"
  std::string_view seen;       ///< how programs see it, in Markdown
  std::string_view named;      ///< by what `--strict` notices it, in Markdown; empty: by nothing
  std::span<const int> calls;  ///< system calls that ask for it
  std::span<const std::string_view> files;  ///< of proc(5): "PID/limits", "filesystems"
};

/// Returns all rows, in the order of Fact.
[[nodiscard]] std::span<const MachineFact> machine_facts();

/// Whether a system call only asks for facts of the table: the kernel makes it, and it stops only
/// so that the supervisor can name the program.
[[nodiscard]] bool asks_for_fact(long number);

/// Names the programs that ask for facts, each fact once a program. The thread of the sandbox uses
/// it.
class FactsAsked {
 public:
  /// `on_fact` is called with a sentence. Empty: nothing is named.
  explicit FactsAsked(std::function<void(std::string_view)> on_fact)
      : on_fact_(std::move(on_fact)) {}

  [[nodiscard]] bool are_named() const { return static_cast<bool>(on_fact_); }
  /// Whether note() would name that program.
  [[nodiscard]] bool is_new(std::string_view program, Fact fact) const;
  /// `program`: its full name. `how`: "getuid", "/proc/self/limits".
  void note(std::string_view program, Fact fact, std::string_view how);
  /// Notes the facts for which a system call asks, by its number and its name.
  void note_call(std::string_view program, long number, std::string_view name);
  /// Notes the facts in a file below /proc, by its path, with or without "/proc/".
  void note_file(std::string_view program, std::string_view path);

 private:
  std::function<void(std::string_view)> on_fact_;
  std::set<std::pair<std::string, Fact>, std::less<>> named_;
};

}  // namespace anyrdma::sim::programs
