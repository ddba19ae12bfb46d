// The interface between the ownership checks of a device and the receiver of their findings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "verbs/lost_memory.h"
#include "verbs/runtime.h"

namespace anyrdma::verbs::soft {

/// One mistake, or what looks like one.
struct OwnershipFinding {
  std::string_view checker;  ///< its name in docs/checkers.md
  bool remark = false;       ///< a correct program may do this
  std::string text;          ///< one line, without host and program
  /// Return addresses of the thread that posted the work, innermost first. Empty: not kept.
  std::span<void* const> posted{};
};

/// Takes the findings of one device. It outlives the device.
class OwnershipSink {
 public:
  virtual ~OwnershipSink() = default;
  /// Inside the critical section, in the thread whose call or poll made the device find it. Must
  /// not call the device.
  virtual void on_finding(const OwnershipFinding& finding) = 0;
  /// Stores the caller's return addresses, innermost first, and returns how many there are. 0:
  /// stacks of posting are not wanted, and cost nothing.
  [[nodiscard]] virtual std::size_t capture(std::span<void*> /*frames*/) { return 0; }
  /// The calling thread and the time, and the same in words: as Runtime has them.
  [[nodiscard]] virtual Runtime::Mark mark() = 0;
  [[nodiscard]] virtual std::string describe(const Runtime::Mark& mark) = 0;
  /// From now on `lost` lists the parts of [begin, end) that the program unmaps or maps anew.
  /// `lost` stays at its address until forget_memory(). A sink that cannot see such calls does
  /// nothing.
  virtual void watch_memory(LostMemory& /*lost*/, std::uint64_t /*begin*/, std::uint64_t /*end*/) {}
  virtual void forget_memory(LostMemory& /*lost*/) {}
  /// As Runtime has them.
  virtual void on_owed(const Runtime::Owed& owed) = 0;
  virtual void on_paid() = 0;
};

}  // namespace anyrdma::verbs::soft
