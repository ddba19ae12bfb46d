#include "sim/power.h"

#include <cerrno>
#include <memory>
#include <utility>

#include "sim/host.h"
#include "sim/mistakes.h"
#include "sim/process.h"
#include "sim/world.h"

namespace anyrdma::sim {
namespace {

/// How many packets wait for a stopped virtual machine: the size of virtio-net's receive queue.
constexpr std::size_t kWaitingMax = 256;

Result<void> changed_or_already(bool changed) {
  return changed ? Result<void>() : Result<void>(verbs::errno_code(EALREADY));
}

}  // namespace

// --- the host -----------------------------------------------------------------------------------

void Power::end_programs() {
  World& world = host_.world();
  world.scheduler().fibers().abandon(host_);
  if (world.mistakes() != nullptr) world.mistakes()->on_end(host_.name() + " ");
}

Result<void> Power::crash() {
  if (off()) return verbs::errno_code(EALREADY);
  state_ = State::kOff;
  end_programs();
  waiting_.clear();
  host_.neighbours().clear();
  for (const Interface& interface : host_.interfaces()) interface.nic->on_crash();
  host_.start_anew();
  return {};
}

// The kernel destroys what a process had, and says of its connections what it says then; this
// happens in no program's name, so nobody hears of it here.
Result<void> Power::kill() {
  if (!running()) return verbs::errno_code(EALREADY);
  end_programs();
  for (const Interface& interface : host_.interfaces()) interface.nic->on_kill();
  host_.start_anew();
  return {};
}

void Power::restart() {
  (void)crash().has_value();
  state_ = State::kOn;
  for (const Startup& program : startups_) host_.spawn(program.name, program.body, program.ending);
}

Result<void> Power::pause() {
  if (!running()) return verbs::errno_code(EALREADY);
  state_ = State::kPaused;
  host_.world().scheduler().fibers().hold(host_);
  host_.cancel_deadline();
  return {};
}

// What came in meanwhile is there at once; timers that were due run behind it.
Result<void> Power::resume() {
  if (!paused()) return verbs::errno_code(EALREADY);
  state_ = State::kOn;
  host_.runtime().deadlines_moved() = true;
  host_.world().scheduler().fibers().release(host_);
  for (Waiting& each : std::exchange(waiting_, {})) {
    if (host_.receive(each.interface, *each.from, std::move(each.packet))) host_.runtime().leave();
  }
  host_.neighbours().resume();
  host_.runtime().leave();
  return {};
}

void Power::receive_later(std::size_t interface, const Host& from, verbs::soft::PacketPtr packet) {
  if (paused() && waiting_.size() < kWaitingMax) {
    waiting_.push_back({interface, &from, std::move(packet)});
  } else {
    host_.world().drop(host_, &from, DropCause::kHostStopped, *packet);
  }
}

// --- one program --------------------------------------------------------------------------------

Result<void> Power::kill_program(std::string_view name, std::uint32_t number) {
  if (!running()) return verbs::errno_code(EALREADY);
  for (const Interface& interface : host_.interfaces()) {
    if (interface.nic->kill_program(name, number)) return {};
  }
  const std::shared_ptr<Process> process = host_.processes().find_spawned(name, number);
  if (process != nullptr && host_.world().scheduler().fibers().kill(*process)) return {};
  return verbs::errno_code(ESRCH);
}

Result<void> Power::pause_program(std::string_view name, std::uint32_t number,
                                  std::uint32_t thread) {
  return set_paused(name, number, thread, true);
}

Result<void> Power::resume_program(std::string_view name, std::uint32_t number,
                                   std::uint32_t thread) {
  return set_paused(name, number, thread, false);
}

Result<void> Power::set_paused(std::string_view name, std::uint32_t number, std::uint32_t thread,
                               bool paused) {
  if (off()) return verbs::errno_code(EALREADY);
  for (const Interface& interface : host_.interfaces()) {
    const auto changed = interface.nic->pause_program({name, number, thread}, paused);
    if (changed) return changed_or_already(*changed);
  }
  return set_paused_fibers(name, number, paused);
}

Result<void> Power::set_paused_fibers(std::string_view name, std::uint32_t number, bool paused) {
  const std::string full = host_.name() + "/" + std::string(name);
  const std::shared_ptr<Process> process = host_.processes().find_spawned(name, number);
  Fibers& fibers = host_.world().scheduler().fibers();
  bool any = false;
  bool changed = false;
  for (const auto& fiber : fibers.all()) {
    const bool own = fiber->host() == &host_ && !fiber->abandoned();
    const bool named = process != nullptr ? fiber->process() == process : fiber->name() == full;
    if (!own || !named) continue;
    any = true;
    changed |= paused ? fibers.stop(*fiber) : fibers.go_on(*fiber);
  }
  return any ? changed_or_already(changed) : Result<void>(verbs::errno_code(ESRCH));
}

}  // namespace anyrdma::sim
