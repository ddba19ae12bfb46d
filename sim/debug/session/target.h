// What a debugger sees of the programs: their threads, memory and registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/debug/protocol/request.h"

namespace anyrdma::sim::debug {

/// Stopped programs. Processes and threads have numbers of the debugger's own, from 1, the same in
/// each run of one trial. Belongs to the thread of the simulation.
class Target {
 public:
  struct ThreadEntry {
    ThreadId id;
    std::string name;  ///< "server/rping"
  };

  /// All that live, in the order of creation.
  [[nodiscard]] virtual std::vector<ThreadEntry> threads() = 0;
  [[nodiscard]] bool has_thread(const ThreadId& id);

  /// All or nothing. Breakpoints are not visible.
  [[nodiscard]] virtual bool read_memory(std::int64_t process, std::uint64_t address,
                                         std::span<std::byte> into) = 0;
  [[nodiscard]] virtual bool write_memory(std::int64_t process, std::uint64_t address,
                                          std::span<const std::byte> from) = 0;
  /// In the order of target_description(). nullopt: the thread has ended.
  [[nodiscard]] virtual std::optional<std::string> registers(const ThreadId& id) = 0;
  [[nodiscard]] virtual bool set_registers(const ThreadId& id, std::string_view bytes) = 0;
  /// `siginfo_t` of the signal that the thread stopped for; empty: none.
  [[nodiscard]] virtual std::string signal_info(const ThreadId& id) = 0;

  /// The path of its program; empty: it has ended.
  [[nodiscard]] virtual std::string executable(std::int64_t process) = 0;
  [[nodiscard]] virtual std::string auxiliary_vector(std::int64_t process) = 0;

  /// False: there are no more watchpoints, or of such a size.
  [[nodiscard]] virtual bool insert(std::int64_t process, const Point& point) = 0;
  virtual void remove(std::int64_t process, const Point& point) = 0;

  virtual void kill(std::int64_t process) = 0;
  /// The debugger has no more to do with it: it goes on by itself.
  virtual void detach(std::int64_t process) = 0;

  /// The answer to a command of `monitor`, in lines.
  [[nodiscard]] virtual std::string monitor(std::string_view command) = 0;

 protected:
  ~Target() = default;
};

}  // namespace anyrdma::sim::debug
