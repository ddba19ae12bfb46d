#include "sim/fuzz/fuzz_gdb.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "sim/debug/protocol/packet.h"
#include "sim/debug/session/description.h"
#include "sim/debug/session/session.h"
#include "verbs/assert.h"

namespace anyrdma::sim::fuzz {
namespace {

/// One thread, and a page of memory at address 4096.
class OneThread final : public debug::Target {
 public:
  std::vector<ThreadEntry> threads() override { return {{{1, 1}, "a<b&\"c"}}; }
  bool read_memory(std::int64_t process, std::uint64_t address,
                   std::span<std::byte> into) override {
    if (process != 1 || !has(address, into.size())) return false;
    std::ranges::fill(into, std::byte{0x90});
    return true;
  }
  bool write_memory(std::int64_t process, std::uint64_t address,
                    std::span<const std::byte> from) override {
    return process == 1 && has(address, from.size());
  }
  std::optional<std::string> registers(const debug::ThreadId& id) override {
    if (id != debug::ThreadId{1, 1}) return std::nullopt;
    return std::string(debug::bytes_of_registers(), '\1');
  }
  bool set_registers(const debug::ThreadId& /*id*/, std::string_view bytes) override {
    return bytes.size() == debug::bytes_of_registers();
  }
  std::string signal_info(const debug::ThreadId& /*id*/) override { return {}; }
  std::string executable(std::int64_t process) override { return process == 1 ? "/bin/one" : ""; }
  std::string auxiliary_vector(std::int64_t /*process*/) override { return std::string(32, '}'); }
  bool insert(std::int64_t /*process*/, const debug::Point& point) override {
    CM_ASSERT(point.kind <= debug::Point::Kind::kAccess);
    return true;
  }
  void remove(std::int64_t /*process*/, const debug::Point& /*point*/) override {}
  void kill(std::int64_t /*process*/) override {}
  void detach(std::int64_t /*process*/) override {}
  std::string monitor(std::string_view command) override { return std::string(command); }

 private:
  static bool has(std::uint64_t address, std::size_t size) {
    constexpr std::uint64_t kBegin = 4096;
    constexpr std::uint64_t kBytes = 4096;
    return address >= kBegin && size <= kBytes && address - kBegin <= kBytes - size;
  }
};

/// Gives the bytes in pieces, and keeps what is answered.
class Script final : public debug::Connection {
 public:
  explicit Script(std::string_view text) : rest_(text) {}
  bool send(std::string_view bytes) override {
    answers_.append(bytes);
    return true;
  }
  std::optional<std::string> receive() override {
    constexpr std::size_t kPiece = 7;
    if (rest_.empty()) return std::nullopt;
    std::string piece(rest_.substr(0, kPiece));
    rest_.remove_prefix(piece.size());
    return piece;
  }
  std::optional<std::string> receive_now() override { return receive(); }
  [[nodiscard]] const std::string& answers() const { return answers_; }

 private:
  std::string_view rest_;
  std::string answers_;
};

}  // namespace

int fuzz_gdb(const std::uint8_t* data, std::size_t size) {
  const auto text =
      size == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
  OneThread target;
  Script script(text);
  debug::Session session(script, target);
  for (bool runs = false; session.is_open(); runs = !runs) {
    if (runs) {
      (void)session.is_interrupted();
      continue;
    }
    const debug::Resumed resumed =
        session.serve({.why = debug::Stopped::Why::kSignal, .thread = {1, 1}, .signal = 5});
    CM_ASSERT(resumed.how != debug::Resumed::How::kForward || !resumed.actions.empty());
    // A debugger that has left does not come back.
    if (resumed.how == debug::Resumed::How::kKilled) break;
  }
  debug::PacketReader reader;
  reader.append(script.answers());
  while (const auto answer = reader.next())
    CM_ASSERT(answer->kind == debug::Incoming::Kind::kPacket ||
              answer->kind == debug::Incoming::Kind::kRepeat);
  return 0;
}

}  // namespace anyrdma::sim::fuzz
