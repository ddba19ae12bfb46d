#include "sim/debug/session/session.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include "sim/debug/protocol/hex.h"
#include "sim/debug/session/description.h"

namespace anyrdma::sim::debug {
namespace {

constexpr std::string_view kDone = "OK";
constexpr std::string_view kInvalid = "E16";   // EINVAL
constexpr std::string_view kNoMemory = "E0e";  // EFAULT
constexpr std::string_view kNoThread = "E03";  // ESRCH
constexpr std::string_view kUnknown = "";
constexpr std::size_t kMemoryMax = 1 << 16;

std::span<std::byte> bytes_of(std::string& text) {
  return std::as_writable_bytes(std::span(text.data(), text.size()));
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string two_digits(int number) {
  const char byte = static_cast<char>(number);
  return to_hex({&byte, 1});
}

std::string_view name_of(Point::Kind watch) {
  switch (watch) {
    case Point::Kind::kRead:
      return "rwatch";
    case Point::Kind::kAccess:
      return "awatch";
    default:
      return "watch";
  }
}

}  // namespace

bool Target::has_thread(const ThreadId& id) {
  return std::ranges::any_of(threads(), [&](const ThreadEntry& each) { return each.id == id; });
}

std::string Session::text_of(const Stopped& stopped) {
  const std::string process = number_text(static_cast<std::uint64_t>(stopped.thread.process));
  const auto trap = [&](const std::string& reason) {
    return "T05" + reason + "thread:" + to_text(stopped.thread) + ";";
  };
  switch (stopped.why) {
    case Stopped::Why::kSignal:
      return "T" + two_digits(gdb_signal(stopped.signal)) + "thread:" + to_text(stopped.thread) +
             ";";
    case Stopped::Why::kBreakpoint:
      return trap("swbreak:;");
    case Stopped::Why::kWatchpoint:
      return trap(std::string(name_of(stopped.watch)) + ":" + number_text(stopped.address) + ";");
    case Stopped::Why::kProgram:
      return trap("exec:" + to_hex(stopped.path) + ";");
    case Stopped::Why::kLibraries:
      return trap("library:;");
    case Stopped::Why::kBegin:
      return trap("replaylog:begin;");
    case Stopped::Why::kExited:
      return "W" + two_digits(stopped.signal) + ";process:" + process;
    case Stopped::Why::kKilled:
      return "X" + two_digits(gdb_signal(stopped.signal)) + ";process:" + process;
  }
  return {};
}

Resumed Session::serve(const Stopped& stopped) {
  stop_ = text_of(stopped);
  general_ = stopped.thread;
  if (waits_) send(stop_);
  waits_ = false;
  resumed_.reset();
  while (open_) {
    auto incoming = reader_.next();
    if (!incoming) {
      const auto bytes = connection_.receive();
      open_ = bytes.has_value();
      if (bytes) reader_.append(*bytes);
      continue;
    }
    switch (incoming->kind) {
      case Incoming::Kind::kInterrupt:
        break;  // nothing runs
      case Incoming::Kind::kRepeat:
        open_ = connection_.send(last_sent_);
        break;
      case Incoming::Kind::kDamaged:
        if (acknowledges_) open_ = connection_.send("-");
        break;
      case Incoming::Kind::kPacket: {
        if (acknowledges_) open_ = connection_.send("+");
        const std::string reply = answer(incoming->payload);
        if (resumed_) {
          waits_ = resumed_->how != Resumed::How::kKilled && resumed_->how != Resumed::How::kAlone;
          if (!waits_) send(reply);
          return *std::exchange(resumed_, std::nullopt);
        }
        send(reply);
        break;
      }
    }
  }
  return {.how = Resumed::How::kAlone};
}

bool Session::is_interrupted() {
  bool interrupted = false;
  if (const auto bytes = connection_.receive_now()) {
    reader_.append(*bytes);
  } else {
    open_ = false;
  }
  while (open_) {
    const auto incoming = reader_.next();
    if (!incoming) break;
    if (incoming->kind == Incoming::Kind::kInterrupt) {
      interrupted = true;
    } else if (incoming->kind == Incoming::Kind::kPacket) {
      // While programs run gdb asks for nothing but that they stop, or leaves one after the other.
      if (acknowledges_) open_ = connection_.send("+");
      const bool stops = incoming->payload == "vCtrlC";
      interrupted |= stops;
      send(stops || incoming->payload.starts_with('D') ? kDone : kInvalid);
    }
  }
  return interrupted;
}

void Session::print(std::string_view text) {
  if (waits_) send("O" + to_hex(text));
}

void Session::send(std::string_view payload) {
  last_sent_ = framed(payload);
  if (open_) open_ = connection_.send(last_sent_);
}

std::string Session::answer(std::string_view packet) {
  if (packet.empty()) return std::string(kUnknown);
  const std::string_view rest = packet.substr(1);
  switch (packet.front()) {
    case '!':
      return std::string(kDone);
    case '?':
      return stop_;
    case 'q':
    case 'Q':
      return answer_query(packet);
    case 'v':
      return answer_v(packet);
    case 'H':
      return select(rest);
    case 'T': {
      const auto id = parse_thread_id(rest);
      return std::string(id && target_.has_thread(*id) ? kDone : kNoThread);
    }
    case 'g': {
      const auto all = target_.registers(general_);
      // gdb goes on with a program that has ended if it has registers, whatever they are.
      return to_hex(all ? *all : std::string(bytes_of_registers(), '\0'));
    }
    case 'G': {
      const auto all = from_hex(rest);
      return std::string(all && target_.set_registers(general_, *all) ? kDone : kInvalid);
    }
    case 'p':
      return read_register(rest);
    case 'P':
      return write_register(rest);
    case 'm':
      return read_memory(rest);
    case 'M':
      return write_memory(rest, false);
    case 'X':
      return write_memory(rest, true);
    case 'Z':
      return change_point(rest, true);
    case 'z':
      return change_point(rest, false);
    case 'b':
      if (rest != "c" && rest != "s") return std::string(kUnknown);
      resumed_ = {.how = rest == "c" ? Resumed::How::kBack : Resumed::How::kStepBack};
      return {};
    case 'D': {
      Scanner scanner(rest);
      const auto process = scanner.take(";") ? scanner.take_number() : std::nullopt;
      if (process) target_.detach(static_cast<std::int64_t>(*process));
      if (!process || target_.threads().empty()) resumed_ = {.how = Resumed::How::kAlone};
      return std::string(kDone);
    }
    case 'k':
      resumed_ = {.how = Resumed::How::kKilled};
      return {};
    default:
      return std::string(kUnknown);
  }
}

std::string Session::answer_query(std::string_view packet) {
  Scanner scanner(packet);
  if (scanner.take("qSupported")) {
    return "PacketSize=20000;QStartNoAckMode+;multiprocess+;swbreak+;hwbreak+;vContSupported+;"
           "exec-events+;ReverseContinue+;ReverseStep+;QPassSignals+;qXfer:features:read+;"
           "qXfer:exec-file:read+;qXfer:auxv:read+;qXfer:threads:read+;qXfer:siginfo:read+";
  }
  if (packet == "QStartNoAckMode") {
    acknowledges_ = false;
    return std::string(kDone);
  }
  if (packet == "qC") return "QC" + to_text(general_);
  if (scanner.take("qXfer:")) return transfer(scanner.rest());
  if (scanner.take("qRcmd,")) return command(scanner.rest());
  if (scanner.take("qAttached")) return "1";
  if (scanner.take("QPassSignals:")) {
    passed_.clear();
    while (!scanner.at_end()) {
      Scanner one(scanner.take_until(';'));
      if (const auto number = one.take_number()) passed_.insert(static_cast<int>(*number));
    }
    return std::string(kDone);
  }
  return std::string(kUnknown);
}

std::string Session::answer_v(std::string_view packet) {
  Scanner scanner(packet);
  if (packet == "vCont?") return "vCont;c;C;s;S;r";
  if (scanner.take("vCont;")) return go_on(scanner.rest());
  if (packet == "vCtrlC") return std::string(kDone);
  if (scanner.take("vKill;")) {
    const auto process = scanner.take_number();
    if (!process) return std::string(kInvalid);
    target_.kill(static_cast<std::int64_t>(*process));
    if (target_.threads().empty()) resumed_ = {.how = Resumed::How::kKilled};
    return std::string(kDone);
  }
  return std::string(kUnknown);
}

std::string Session::go_on(std::string_view text) {
  const auto actions = parse_actions(text);
  if (!actions) return std::string(kInvalid);
  resumed_ = {.how = Resumed::How::kForward, .actions = *actions};
  return {};
}

/// `Hg`: whose memory and registers later packets mean. `Hc` is about `c` and `s`, which gdb does
/// not use where there is `vCont`.
std::string Session::select(std::string_view text) {
  if (text.empty()) return std::string(kInvalid);
  const auto id = parse_thread_id(text.substr(1));
  if (!id) return std::string(kInvalid);
  if (text.front() != 'g') return std::string(kDone);
  if (matches(*id, general_)) return std::string(kDone);
  const auto all = target_.threads();
  const auto found =
      std::ranges::find_if(all, [&](const auto& each) { return matches(*id, each.id); });
  // Of one that has ended gdb may still want to see something.
  general_ = found == all.end() ? *id : found->id;
  return std::string(kDone);
}

std::string Session::read_memory(std::string_view text) {
  const auto range = parse_memory(text);
  if (!range || range->size > kMemoryMax) return std::string(kInvalid);
  constexpr std::uint64_t kPageBytes = 4096;
  std::string bytes(range->size, '\0');
  if (target_.read_memory(general_.process, range->address, bytes_of(bytes))) return to_hex(bytes);
  // As much as there is.
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::uint64_t address = range->address + done;
    const std::size_t part =
        std::min<std::size_t>(bytes.size() - done, kPageBytes - address % kPageBytes);
    if (!target_.read_memory(general_.process, address, bytes_of(bytes).subspan(done, part))) break;
    done += part;
  }
  if (done == 0) return std::string(kNoMemory);
  return to_hex(std::string_view(bytes).substr(0, done));
}

std::string Session::write_memory(std::string_view text, bool binary) {
  const auto range = parse_memory(text);
  if (!range || range->size > kMemoryMax) return std::string(kInvalid);
  const auto data = binary ? std::optional(std::string(range->data)) : from_hex(range->data);
  if (!data || data->size() != range->size) return std::string(kInvalid);
  if (data->empty()) return std::string(kDone);
  return std::string(
      target_.write_memory(general_.process, range->address, bytes_of(*data)) ? kDone : kNoMemory);
}

std::string Session::read_register(std::string_view text) {
  Scanner scanner(text);
  const auto number = scanner.take_number();
  const auto place = number ? place_of_register(*number) : std::nullopt;
  if (!place || !scanner.at_end()) return std::string(kInvalid);
  const auto all = target_.registers(general_);
  if (!all) return std::string(kNoThread);
  return to_hex(std::string_view(*all).substr(place->offset, place->bytes));
}

std::string Session::write_register(std::string_view text) {
  Scanner scanner(text);
  const auto number = scanner.take_number();
  const auto place = number ? place_of_register(*number) : std::nullopt;
  if (!place || !scanner.take("=")) return std::string(kInvalid);
  const auto value = from_hex(scanner.rest());
  auto all = target_.registers(general_);
  if (!value || value->size() != place->bytes || !all) return std::string(kInvalid);
  all->replace(place->offset, place->bytes, *value);
  return std::string(target_.set_registers(general_, *all) ? kDone : kInvalid);
}

std::string Session::change_point(std::string_view text, bool insert) {
  const auto point = parse_point(text);
  if (!point) return std::string(kInvalid);
  if (point->kind == Point::Kind::kRead) return std::string(kUnknown);  // x86 has none such
  if (insert) return std::string(target_.insert(general_.process, *point) ? kDone : kInvalid);
  target_.remove(general_.process, *point);
  return std::string(kDone);
}

std::string Session::transfer(std::string_view text) {
  const auto wanted = parse_transfer(text);
  if (!wanted) return std::string(kInvalid);
  if (wanted->object == "features") {
    if (wanted->annex != "target.xml") return std::string(kInvalid);
    return part_of(target_description(), *wanted);
  }
  if (wanted->object == "threads") return part_of(thread_list(), *wanted);
  if (wanted->object == "auxv") return part_of(target_.auxiliary_vector(general_.process), *wanted);
  if (wanted->object == "siginfo") {
    const std::string info = target_.signal_info(general_);
    return info.empty() ? std::string(kInvalid) : part_of(info, *wanted);
  }
  if (wanted->object == "exec-file") {
    Scanner scanner(wanted->annex);
    const auto process = scanner.take_number();
    const std::string path =
        target_.executable(process ? static_cast<std::int64_t>(*process) : general_.process);
    return path.empty() ? std::string(kNoThread) : part_of(path, *wanted);
  }
  return std::string(kUnknown);
}

std::string Session::thread_list() {
  std::string text = "<?xml version=\"1.0\"?>\n<threads>\n";
  for (const auto& each : target_.threads())
    text += "<thread id=\"" + to_text(each.id) + "\" name=\"" + xml_escaped(each.name) + "\"/>\n";
  return text + "</threads>\n";
}

std::string Session::command(std::string_view hex) {
  const auto text = from_hex(hex);
  if (!text) return std::string(kInvalid);
  const std::string reply = target_.monitor(*text);
  return reply.empty() ? std::string(kDone) : to_hex(reply);
}

}  // namespace anyrdma::sim::debug
