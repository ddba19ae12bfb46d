#include "sim/debug/protocol/request.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <limits>

#include "sim/debug/protocol/hex.h"

namespace anyrdma::sim::debug {
namespace {

std::optional<std::int64_t> take_id(Scanner& scanner) {
  if (scanner.take("-1")) return -1;
  const auto number = scanner.take_number();
  if (!number || *number > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<int> take_signal(Scanner& scanner) {
  constexpr std::uint64_t kSignalMax = 255;
  const auto number = scanner.take_number();
  if (!number || *number > kSignalMax) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<Action> parse_action(std::string_view text) {
  const std::size_t colon = text.find(':');
  Scanner scanner(text.substr(0, colon));
  Action action;
  if (scanner.take("C") || scanner.take("S")) {
    action.step = text.front() == 'S';
    const auto signal = take_signal(scanner);
    if (!signal) return std::nullopt;
    action.signal = *signal;
  } else if (scanner.take("r")) {
    action.step = true;
    const auto begin = scanner.take_number();
    if (!begin || !scanner.take(",")) return std::nullopt;
    const auto end = scanner.take_number();
    if (!end) return std::nullopt;
    action.begin = *begin;
    action.end = *end;
  } else if (scanner.take("s")) {
    action.step = true;
  } else if (!scanner.take("c")) {
    return std::nullopt;
  }
  if (!scanner.at_end()) return std::nullopt;
  if (colon == std::string_view::npos) return action;
  const auto whose = parse_thread_id(text.substr(colon + 1));
  if (!whose) return std::nullopt;
  action.whose = *whose;
  return action;
}

struct SignalPair {
  int linux_number;
  int gdb_number;
};

constexpr std::array kSignals{
    SignalPair{SIGHUP, 1},     SignalPair{SIGINT, 2},   SignalPair{SIGQUIT, 3},
    SignalPair{SIGILL, 4},     SignalPair{SIGTRAP, 5},  SignalPair{SIGABRT, 6},
    SignalPair{SIGFPE, 8},     SignalPair{SIGKILL, 9},  SignalPair{SIGBUS, 10},
    SignalPair{SIGSEGV, 11},   SignalPair{SIGSYS, 12},  SignalPair{SIGPIPE, 13},
    SignalPair{SIGALRM, 14},   SignalPair{SIGTERM, 15}, SignalPair{SIGURG, 16},
    SignalPair{SIGSTOP, 17},   SignalPair{SIGTSTP, 18}, SignalPair{SIGCONT, 19},
    SignalPair{SIGCHLD, 20},   SignalPair{SIGTTIN, 21}, SignalPair{SIGTTOU, 22},
    SignalPair{SIGIO, 23},     SignalPair{SIGXCPU, 24}, SignalPair{SIGXFSZ, 25},
    SignalPair{SIGVTALRM, 26}, SignalPair{SIGPROF, 27}, SignalPair{SIGWINCH, 28},
    SignalPair{SIGUSR1, 30},   SignalPair{SIGUSR2, 31}, SignalPair{SIGPWR, 32},
    SignalPair{32, 77},        SignalPair{64, 78}};
/// The real-time signals from 33 to 63 are 45 to 75.
constexpr int kRealTimeFirst = 33;
constexpr int kRealTimeLast = 63;
constexpr int kRealTimeShift = 12;

}  // namespace

std::string to_text(const ThreadId& id) {
  const auto part = [](std::int64_t number) {
    return number < 0 ? "-1" : number_text(static_cast<std::uint64_t>(number));
  };
  return "p" + part(id.process) + "." + part(id.thread);
}

std::optional<ThreadId> parse_thread_id(std::string_view text) {
  Scanner scanner(text);
  ThreadId id;
  if (scanner.take("p")) {
    const auto process = take_id(scanner);
    if (!process) return std::nullopt;
    id = {*process, -1};
    if (scanner.at_end()) return id;
    if (!scanner.take(".")) return std::nullopt;
  }
  const auto thread = take_id(scanner);
  if (!thread || !scanner.at_end()) return std::nullopt;
  id.thread = *thread;
  return id;
}

bool matches(const ThreadId& pattern, const ThreadId& id) {
  return (pattern.process <= 0 || pattern.process == id.process) &&
         (pattern.thread <= 0 || pattern.thread == id.thread);
}

std::optional<std::vector<Action>> parse_actions(std::string_view text) {
  std::vector<Action> actions;
  Scanner scanner(text);
  while (!scanner.at_end()) {
    const auto action = parse_action(scanner.take_until(';'));
    if (!action) return std::nullopt;
    actions.push_back(*action);
  }
  if (actions.empty()) return std::nullopt;
  return actions;
}

std::optional<Point> parse_point(std::string_view text) {
  constexpr std::uint64_t kKindLast = 4;
  Scanner scanner(text.substr(0, text.find(';')));
  const auto kind = scanner.take_number();
  if (!kind || *kind > kKindLast || !scanner.take(",")) return std::nullopt;
  const auto address = scanner.take_number();
  if (!address || !scanner.take(",")) return std::nullopt;
  const auto size = scanner.take_number();
  if (!size || !scanner.at_end()) return std::nullopt;
  return Point{static_cast<Point::Kind>(*kind), *address, *size};
}

std::optional<MemoryRange> parse_memory(std::string_view text) {
  Scanner scanner(text);
  const auto address = scanner.take_number();
  if (!address || !scanner.take(",")) return std::nullopt;
  const auto size = scanner.take_number();
  if (!size) return std::nullopt;
  MemoryRange range{.address = *address, .size = *size};
  if (scanner.take(":")) {
    range.data = scanner.rest();
  } else if (!scanner.at_end()) {
    return std::nullopt;
  }
  return range;
}

std::optional<Transfer> parse_transfer(std::string_view text) {
  Transfer transfer;
  Scanner scanner(text);
  transfer.object = scanner.take_until(':');
  if (!scanner.take("read:")) return std::nullopt;
  transfer.annex = scanner.take_until(':');
  const auto offset = scanner.take_number();
  if (!offset || !scanner.take(",")) return std::nullopt;
  const auto length = scanner.take_number();
  if (!length || !scanner.at_end()) return std::nullopt;
  transfer.offset = *offset;
  transfer.length = *length;
  return transfer;
}

std::string part_of(std::string_view whole, const Transfer& transfer) {
  if (transfer.offset >= whole.size()) return "l";
  const std::string_view part = whole.substr(transfer.offset, transfer.length);
  const bool last = transfer.offset + part.size() >= whole.size();
  return (last ? "l" : "m") + std::string(part);
}

int gdb_signal(int linux_signal) {
  const auto* const found = std::ranges::find(kSignals, linux_signal, &SignalPair::linux_number);
  if (found != kSignals.end()) return found->gdb_number;
  if (linux_signal >= kRealTimeFirst && linux_signal <= kRealTimeLast)
    return linux_signal + kRealTimeShift;
  return 0;
}

int linux_signal(int gdb_signal) {
  const auto* const found = std::ranges::find(kSignals, gdb_signal, &SignalPair::gdb_number);
  if (found != kSignals.end()) return found->linux_number;
  const int real_time = gdb_signal - kRealTimeShift;
  return real_time >= kRealTimeFirst && real_time <= kRealTimeLast ? real_time : 0;
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return escaped;
}

}  // namespace anyrdma::sim::debug
