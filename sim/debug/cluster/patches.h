// Breakpoints in the code of one process, and its watchpoints in the processor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "sim/debug/protocol/request.h"
#include "sim/tracee/tracee.h"

namespace anyrdma::sim::debug {

/// INT3 instructions in the code of a process.
class Patches {
 public:
  /// Sets breakpoints at these addresses only. An address that is not mapped gets none. The code
  /// may have been mapped anew since the last call.
  void sync(const tracee::Tracee& thread, const std::set<std::uint64_t>& wanted);
  /// Takes one out for a while, and puts it back.
  void lift(const tracee::Tracee& thread, std::uint64_t address) const;
  void put_back(const tracee::Tracee& thread, std::uint64_t address) const;
  [[nodiscard]] bool at(std::uint64_t address) const { return saved_.contains(address); }
  [[nodiscard]] bool any() const { return !saved_.empty(); }
  /// Shows in what was read what the program has there.
  void hide(std::uint64_t address, std::span<std::byte> bytes) const;
  /// Writes memory, and keeps the breakpoints in it.
  [[nodiscard]] bool write(const tracee::Tracee& thread, std::uint64_t address,
                           std::span<const std::byte> bytes);
  /// A process that is a copy of this one has them, too: takes them out there.
  void remove_from_copy(const tracee::Tracee& thread) const;
  /// The program is another one now.
  void forget() { saved_.clear(); }

 private:
  std::map<std::uint64_t, std::byte> saved_;
};

/// The debug registers of x86 for these watchpoints. nullopt: there are not so many.
struct DebugRegisters {
  std::array<std::uint64_t, 4> addresses{};
  std::array<std::optional<Point>, 4> points{};  ///< that each belongs to
  std::uint64_t control = 0;
};
[[nodiscard]] std::optional<DebugRegisters> debug_registers(const std::set<Point>& points);

}  // namespace anyrdma::sim::debug
