// A host's power: on, paused, off, and on again with nothing left.
#include <cerrno>
#include <utility>

#include "sim/boot.h"
#include "sim/host_tasks.h"
#include "sim/mistakes.h"
#include "sim/process.h"
#include "sim/recorder.h"
#include "sim/world.h"
#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

/// How many packets wait for a stopped virtual machine: the size of virtio-net's receive queue.
constexpr std::size_t kWaitingMax = 256;

}  // namespace

const transport::soft::LocalPortTable& Host::ports() const {
  return boot_->ports;
}

void Host::keep(std::shared_ptr<void> object) {
  boot_->kept.push_back(std::move(object));
}

void Host::boot() {
  boot_ = std::make_unique<Boot>(*this);
  transport_ = boot_->transport.get();
  transport_->set_admission(this);
  const bool recorded = world_.recorder() != nullptr;
  const bool watched = world_.stream() != nullptr;
  if (world_.trace().on() || recorded) transport_->set_observer(this);
  if (world_.trace().on() || watched || world_.faults().watches_events()) watch_events();
  if (watched || world_.faults().watches_calls()) watch_calls();
  if (world_.faults().watches_gate()) watch_gate();
}

Result<void> Host::crash() {
  if (power_ == Power::kOff) return verbs::errno_code(EALREADY);
  power_ = Power::kOff;
  world_.scheduler().fibers().abandon(*this);
  if (world_.mistakes() != nullptr) world_.mistakes()->on_end(name_ + " ");
  waiting_.clear();
  neighbours_.clear();
  for (const Interface& interface : interfaces_) {
    if (interface.uplink != nullptr) interface.uplink->on_crash();
  }
  start_anew();
  return {};
}

// The kernel destroys what a process had, and says of its connections what it says then; this
// happens in no program's name, so nobody hears of it here.
Result<void> Host::kill() {
  if (!running()) return verbs::errno_code(EALREADY);
  world_.scheduler().fibers().abandon(*this);
  if (world_.mistakes() != nullptr) world_.mistakes()->on_end(name_ + " ");
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    Interface& interface = interfaces_[i];
    if (interface.uplink != nullptr) interface.uplink->on_kill();
    if (!interface.present) continue;
    transport_->remove_device(*interface.hca);
    send_packets(interface, i);
  }
  start_anew();
  return {};
}

Result<void> Host::kill_program(std::string_view name, std::uint32_t number) {
  if (!running()) return verbs::errno_code(EALREADY);
  for (const Interface& interface : interfaces_) {
    if (interface.uplink != nullptr && interface.uplink->on_kill_program(name, number)) return {};
  }
  std::uint32_t found = 0;
  for (const Spawned& each : spawned_) {
    if (each.name != name || ++found != number) continue;
    const std::shared_ptr<Process> process = each.process.lock();
    if (process != nullptr && world_.scheduler().fibers().kill(*process)) return {};
  }
  return verbs::errno_code(ESRCH);
}

void Host::start_anew() {
  world_.scheduler().cancel(*deadline_);
  slowness_ = {};
  for (const auto& [token, question] : std::exchange(open_questions_, {})) {
    world_.scheduler().cancel(*question);
  }
  spare_questions_.clear();
  for (const auto& question : questions_) spare_questions_.push_back(question.get());
  transport_->set_observer(nullptr);
  transport_->set_admission(nullptr);
  transport_->set_event_observer(nullptr);
  transport_->set_call_observer(nullptr);
  transport_->set_call_gate(nullptr);
  boot_->over = true;
  past_.push_back(std::move(boot_));
  if (world_.stream() != nullptr) world_.stream()->crashed(index_);
  boot();
  deadlines_moved() = true;
  for (Interface& interface : interfaces_) {
    if (interface.hca != nullptr) interface.hca->set_call_gate(nullptr);
    if (!interface.present) continue;
    const verbs::soft::HcaConfig config = interface.hca->config();
    removed_.push_back(std::move(interface.hca));
    plug(interface, config);
  }
}

void Host::restart() {
  (void)crash().has_value();
  power_ = Power::kOn;
  for (const Startup& program : startups_) spawn(program.name, program.body, program.ending);
}

Result<void> Host::pause() {
  if (!running()) return verbs::errno_code(EALREADY);
  power_ = Power::kPaused;
  world_.scheduler().fibers().hold(*this);
  world_.scheduler().cancel(*deadline_);
  return {};
}

// What came in meanwhile is there at once; timers that were due run behind it.
Result<void> Host::resume() {
  if (power_ != Power::kPaused) return verbs::errno_code(EALREADY);
  power_ = Power::kOn;
  deadlines_moved() = true;
  world_.scheduler().fibers().release(*this);
  for (Waiting& each : std::exchange(waiting_, {})) {
    if (receive(each.interface, *each.from, std::move(each.packet))) leave();
  }
  for (const auto& question : questions_) {
    const auto open = open_questions_.find(question->token);
    const bool is_open = open != open_questions_.end() && open->second == question.get();
    if (is_open && !question->armed()) world_.scheduler().at(*question, world_.now());
  }
  leave();
  return {};
}

Result<void> Host::pause_program(std::string_view name, std::uint32_t number,
                                 std::uint32_t thread) {
  return set_paused(name, number, thread, true);
}

Result<void> Host::resume_program(std::string_view name, std::uint32_t number,
                                  std::uint32_t thread) {
  return set_paused(name, number, thread, false);
}

Result<void> Host::set_paused(std::string_view name, std::uint32_t number, std::uint32_t thread,
                              bool paused) {
  if (off()) return verbs::errno_code(EALREADY);
  const auto done = [](bool changed) {
    return changed ? Result<void>() : Result<void>(verbs::errno_code(EALREADY));
  };
  for (const Interface& interface : interfaces_) {
    if (interface.uplink == nullptr) continue;
    const auto changed = interface.uplink->on_pause_program({name, number, thread}, paused);
    if (changed) return done(*changed);
  }
  const std::string full = name_ + "/" + std::string(name);
  std::shared_ptr<Process> process;
  std::uint32_t found = 0;
  for (const Spawned& each : spawned_) {
    if (each.name == name && ++found == number) process = each.process.lock();
  }
  Fibers& fibers = world_.scheduler().fibers();
  bool any = false;
  bool changed = false;
  for (const auto& fiber : fibers.all()) {
    const bool own = fiber->host() == this && !fiber->abandoned();
    const bool named = process != nullptr ? fiber->process() == process : fiber->name() == full;
    if (!own || !named) continue;
    any = true;
    changed |= paused ? fibers.stop(*fiber) : fibers.go_on(*fiber);
  }
  return any ? done(changed) : Result<void>(verbs::errno_code(ESRCH));
}

void Host::receive_later(std::size_t interface, const Host& from, verbs::soft::PacketPtr packet) {
  if (power_ == Power::kPaused && waiting_.size() < kWaitingMax) {
    waiting_.push_back({interface, &from, std::move(packet)});
  } else {
    world_.drop(*this, &from, DropCause::kHostStopped, *packet);
  }
}

}  // namespace anyrdma::sim
