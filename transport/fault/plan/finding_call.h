// How the device of a process on a simulated host reports a mistake of its program to the world: by
// a system call that no kernel has, so that the world sees which thread is where.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace anyrdma::fault {

/// The call's number; its arguments are the address of a FindingReport and its size. It returns 0,
/// or -ENOSYS without a supervisor.
inline constexpr long kReportFinding = 1'000'009;

/// The number of the call by which a device asks the supervisor to watch the memory of a region.
/// Its arguments are the address of a verbs::LostMemory, the first address of the region, and the
/// address behind it. Two equal addresses end the watch. The last argument is 1 if not all threads
/// stop at calls that unmap memory, else 0.
inline constexpr long kWatchMemory = 1'000'010;

/// In a text, a thread is its number behind the first one, and a time is what CLOCK_MONOTONIC shows
/// in nanoseconds behind the second one; the third one ends both.
inline constexpr char kThreadBegins = '\x01';
inline constexpr char kTimeBegins = '\x02';
inline constexpr char kNumberEnds = '\x03';

struct FindingReport {
  enum class Kind : std::uint8_t {
    kFinding,   ///< `text` of `checker`
    kRemark,    ///< likewise: a correct program may do that
    kWaits,     ///< the thread waits for acknowledgements, `text`; `own`: which it owes itself
    kWaitOver,  ///< it has them, or gives up
  };
  static constexpr std::size_t kFramesMost = 24;

  Kind kind{};
  bool own = false;
  std::uint8_t frames = 0;  ///< of `posted`
  std::array<char, 16> checker{};
  std::array<std::uint64_t, kFramesMost> posted{};  ///< the stack of the posting
  std::uint32_t size = 0;                           ///< of `text`
  std::array<char, 1500> text{};

  /// Cuts longer texts off.
  void set(std::string_view name, std::string_view words) {
    name.copy(checker.data(), checker.size() - 1);
    size = static_cast<std::uint32_t>(words.copy(text.data(), text.size()));
  }
};
static_assert(std::is_trivially_copyable_v<FindingReport>, "it is copied from process to process");

}  // namespace anyrdma::fault
