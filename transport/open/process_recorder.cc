#include "transport/open/process_recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <variant>

#include "recording/packets/packet_fields.h"
#include "transport/realtime/cancellation.h"
#include "transport/realtime/fork_guard.h"
#include "transport/realtime/progress_thread.h"
#include "transport/soft/address.h"
#include "verbs/version.h"

namespace anyrdma::transport {
namespace {

using recording::EntryKind;
using recording::Number;
using verbs::soft::Packet;

constexpr std::size_t kGids = 2 * sizeof(ibv_gid);

std::string words_of_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  for (char& c : text) c = c == '\0' ? ' ' : c;
  return text;
}

std::string machine() {
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// "10.0.0.2", "[fe80::1]": a GID has no port.
std::string address_of(const ibv_gid& gid) {
  const std::string text = soft::Address::from_gid(gid).to_string();
  return text.substr(0, text.rfind(':'));
}

/// "2026-11-23T17:25:03Z".
std::string date_of(verbs::Duration since_1970) {
  const auto seconds = static_cast<std::time_t>(
      std::chrono::duration_cast<std::chrono::seconds>(since_1970).count());
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return {};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

/// Never the same for two threads of a process, as the system's numbers are.
std::uint64_t serial_of_thread() {
  static std::atomic<std::uint64_t> last = 0;
  thread_local const std::uint64_t serial = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return serial;
}

std::string name_of_thread() {
  std::array<char, 32> name{};
  (void)::pthread_getname_np(::pthread_self(), name.data(), name.size());
  return name.data();
}

}  // namespace

/// While it lasts nobody else writes, and the thread cannot be cancelled.
class ProcessRecorder::Turn {
 public:
  /// In a forked child the lock may be somebody's who is not there.
  explicit Turn(ProcessRecorder& recorder) : lock_(recorder.mutex_, std::defer_lock) {
    if (recorder.forked_.load(std::memory_order_relaxed)) return;
    lock_.lock();
    may_write_ = !recorder.ended_;
  }
  explicit operator bool() const { return may_write_; }

 private:
  realtime::CancellationOff off_;
  std::unique_lock<std::mutex> lock_;
  bool may_write_ = false;
};

ProcessRecorder::ProcessRecorder(std::shared_ptr<recording::Sink> sink,
                                 const RecordingProcess& process, std::string_view transport)
    : name_(process.host),
      program_(process.program),
      began_(realtime::monotonic_now()),
      writer_(std::move(sink)) {
  const verbs::Duration wall = realtime::wall_clock(began_);
  writer_.about("clock", "real");
  writer_.about("build", verbs::kVersion);
  writer_.about("program", words_of_file("/proc/self/cmdline"));
  writer_.about("process", std::to_string(process.pid));
  writer_.about("machine", machine());
  writer_.about("transport", transport);
  writer_.about("began", date_of(wall));
  writer_.about("since 1970", std::to_string(wall.count()));
  writer_.about("boot", words_of_file("/proc/sys/kernel/random/boot_id"));
  writer_.about("since boot", std::to_string(began_.time_since_epoch().count()));
  own_ = writer_.lane({}, "host", name_);
  const auto no_forks = realtime::hold_off_forks();
  realtime::remember(*this);
}

ProcessRecorder::~ProcessRecorder() {
  const auto no_forks = realtime::hold_off_forks();
  realtime::forget(*this);
}

verbs::Instant ProcessRecorder::now() const {
  return verbs::Instant(realtime::monotonic_now() - began_);
}

// --- lanes --------------------------------------------------------------------------------------

Number ProcessRecorder::lane_of(const ibv_gid& outsider) {
  const std::string name = address_of(outsider);
  const auto found = outsiders_.find(name);
  if (found != outsiders_.end()) return found->second;
  return outsiders_.emplace(name, writer_.lane(now(), "host", name)).first->second;
}

void ProcessRecorder::tell_thread() {
  const std::uint64_t serial = serial_of_thread();
  auto found = threads_.find(serial);
  if (found == threads_.end()) {
    const std::string number = threads_.empty() ? "" : "/" + std::to_string(threads_.size() + 1);
    const std::string name = name_ + "/" + name_of_thread() + number;
    found = threads_.emplace(serial, writer_.lane(now(), "thread", name, own_)).first;
  }
  if (running_ == found->second + 1) return;
  running_ = found->second + 1;
  write<EntryKind::kRunning>(running_);
}

// --- ids and work -------------------------------------------------------------------------------

recording::EntrySink& ProcessRecorder::sink_of_device(std::string_view device) {
  const std::scoped_lock lock(mutex_);
  const Number lane = writer_.lane(now(), "device", name_ + "/" + std::string(device), own_);
  return *devices_.emplace_back(std::make_unique<DeviceSink>(*this, lane));
}

void ProcessRecorder::put_in(Number lane, const recording::Entry& entry) {
  const Turn turn(*this);
  if (!turn) return;
  if (recording::is_deed(entry.kind)) tell_thread();
  recording::Entry own = entry;
  own.numbers[0] = lane;
  own.time = now();
  writer_.write(own);
}

// --- messages -----------------------------------------------------------------------------------

void ProcessRecorder::send(const Packet& packet, Number from, Number to) {
  const recording::FieldWriter fields = recording::fields_of(packet);
  const std::span<const std::uint8_t> bytes = fields.bytes();
  const std::string_view gids(reinterpret_cast<const char*>(bytes.data()), kGids);
  write<EntryKind::kSent>(from, to + 1, gids, bytes.subspan(kGids), packet.udp_source_port);
  passing_ = writer_.next_message();
}

void ProcessRecorder::on_leaving(const Packet& packet, bool own) {
  const Turn turn(*this);
  if (!turn) return;
  send(packet, own_, own ? own_ : lane_of(packet.destination));
  if (own) write<EntryKind::kArrives>(*passing_, 0u);
}

// When it left is for whoever has the sender's recording, too.
void ProcessRecorder::on_arriving(const Packet& packet) {
  const Turn turn(*this);
  if (!turn) return;
  send(packet, lane_of(packet.source), own_);
  write<EntryKind::kArrives>(*passing_, 0u);
}

void ProcessRecorder::on_passed() {
  const Turn turn(*this);
  if (turn) passing_.reset();
}

// --- faults -------------------------------------------------------------------------------------

void ProcessRecorder::planned(const fault::FaultPlan& plan) {
  const Turn turn(*this);
  if (!turn) return;
  for (const fault::Fault& each : plan.faults) writer_.about("plan", to_string(each));
}

void ProcessRecorder::fired(const fault::FaultStatus& status) {
  const Turn turn(*this);
  if (!turn) return;
  write<EntryKind::kFault>(to_string(status.fault), status.fault.action.kind(),
                           status.fault.action.private_data());
  if (!passing_) return;
  write<EntryKind::kStruck>(*passing_);
  if (!std::holds_alternative<fault::LoseMessage>(status.fault.action)) return;
  write<EntryKind::kLost>(*passing_, "lost by a fault", 0u);
}

void ProcessRecorder::end(const std::vector<fault::FaultStatus>& faults) {
  const Turn turn(*this);
  if (!turn) return;
  for (const fault::FaultStatus& each : faults) writer_.about("fault", each.to_string());
  writer_.end(now(), "ended", 0);
  ended_ = true;
}

}  // namespace anyrdma::transport
