// A session of gdb's remote protocol: answers gdb while the programs are stopped, until gdb lets
// them go on.
// Source: GDB manual, "Remote Protocol".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/debug/protocol/packet.h"
#include "sim/debug/protocol/request.h"
#include "sim/debug/session/connection.h"
#include "sim/debug/session/target.h"

namespace anyrdma::sim::debug {

/// Why the programs have stopped.
struct Stopped {
  enum class Why : std::uint8_t {
    kSignal,      ///< `signal`: a Linux signal is about to be delivered, or SIGTRAP after a step
    kBreakpoint,  ///< at an inserted one
    kWatchpoint,  ///< memory at `address` was accessed, as a `watch` says
    kProgram,     ///< the process runs `path` now, or gdb does not know it
    kLibraries,   ///< the process may have loaded libraries that gdb does not know
    kBegin,       ///< the run's: there is nothing before it
    kExited,      ///< the process, with `signal` as its status
    kKilled,      ///< the process, by `signal`
  };
  Why why{};
  ThreadId thread{};
  int signal = 0;
  std::uint64_t address = 0;
  Point::Kind watch = Point::Kind::kWrite;
  std::string path{};
};

/// How the programs go on.
struct Resumed {
  enum class How : std::uint8_t {
    kForward,   ///< as `actions` say
    kBack,      ///< to the last stop before
    kStepBack,  ///< by one instruction
    kAlone,     ///< without the debugger, which is gone
    kKilled,    ///< not at all
  };
  How how{};
  std::vector<Action> actions{};
};

class Session {
 public:
  /// Both outlive it.
  Session(Connection& connection, Target& target) : connection_(connection), target_(target) {}

  /// Tells gdb that the programs have stopped, if it waits for that, and answers until they go on.
  [[nodiscard]] Resumed serve(const Stopped& stopped);
  /// While programs run: whether gdb wants them to stop. It may be gone: is_open().
  [[nodiscard]] bool is_interrupted();
  [[nodiscard]] bool is_open() const { return open_; }
  /// A text on gdb's terminal. Only while programs run.
  void print(std::string_view text);
  /// Whether the signal is delivered without a word to gdb.
  [[nodiscard]] bool passes(int signal) const { return passed_.contains(gdb_signal(signal)); }

 private:
  [[nodiscard]] std::string answer(std::string_view packet);
  [[nodiscard]] std::string answer_query(std::string_view packet);
  [[nodiscard]] std::string answer_v(std::string_view packet);
  [[nodiscard]] std::string select(std::string_view text);
  [[nodiscard]] std::string read_memory(std::string_view text);
  [[nodiscard]] std::string write_memory(std::string_view text, bool binary);
  [[nodiscard]] std::string read_register(std::string_view text);
  [[nodiscard]] std::string write_register(std::string_view text);
  [[nodiscard]] std::string change_point(std::string_view text, bool insert);
  [[nodiscard]] std::string transfer(std::string_view text);
  [[nodiscard]] std::string thread_list();
  [[nodiscard]] std::string go_on(std::string_view actions);
  [[nodiscard]] std::string command(std::string_view hex);
  void send(std::string_view payload);
  [[nodiscard]] static std::string text_of(const Stopped& stopped);

  Connection& connection_;
  Target& target_;
  PacketReader reader_;
  std::string last_sent_;
  bool acknowledges_ = true;
  bool open_ = true;
  bool waits_ = false;  ///< gdb has let the programs go on, and waits for a stop
  std::string stop_;    ///< the last, as text
  ThreadId general_{};  ///< whose memory and registers are meant
  std::set<int> passed_;
  std::vector<Action> actions_;
  std::optional<Resumed> resumed_;
};

}  // namespace anyrdma::sim::debug
