// Programs that a fault plan names: it has them stand still, or kills them.
#include <csignal>
#include <fstream>
#include <string>

#include "sim/programs/supervisor/sandbox.h"
#include "transport/realtime/thread_name.h"

namespace anyrdma::sim::programs {
namespace {

/// Whether the thread does what a device does: a process that is stopped has none that stops.
bool serves_device(pid_t tid) {
  std::ifstream file("/proc/" + std::to_string(tid) + "/comm");
  std::string name;
  return std::getline(file, name) && name == transport::realtime::kProgressThreadName;
}

}  // namespace

Program* Sandbox::find(const Host& host, std::string_view name, std::uint32_t number) const {
  const std::string full = host.name() + "/" + std::string(name);
  std::uint32_t found = 0;
  for (const auto& program : programs_) {
    const std::string_view own = program->name();
    if (own.substr(0, own.find('#')) == full && ++found == number) return program.get();
  }
  return nullptr;
}

bool Sandbox::kill(const Host& host, std::string_view name, std::uint32_t number) {
  const Program* const program = find(host, name, number);
  if (program == nullptr || program->status()) return false;
  (void)set_paused(host, {name, number}, false);
  signal(*program, SIGKILL);
  return true;
}

std::optional<bool> Sandbox::set_paused(const Host& host, const Uplink::Threads& threads,
                                        bool paused) {
  const Program* const program = find(host, threads.program, threads.number);
  if (program == nullptr || program->status()) return std::nullopt;
  Fibers& fibers = world_.scheduler().fibers();
  bool changed = false;
  const auto set = [&](std::uint64_t number) {
    for (const auto& fiber : fibers.all()) {
      if (fiber->number() == number) changed |= paused ? fibers.stop(*fiber) : fibers.go_on(*fiber);
    }
  };
  for (const auto& process : processes_) {
    if (process->program != program || process->parent != nullptr || process->status) continue;
    for (std::size_t i = 0; i < process->threads.size(); ++i) {
      const Thread& thread = *process->threads[i];
      if (thread.is_over() || (threads.thread != 0 && threads.thread != i + 1)) continue;
      const bool of_device = threads.thread == 0 && paused && serves_device(thread.tid());
      if (!of_device) set(process->fibers[i]);
    }
  }
  return changed;
}

}  // namespace anyrdma::sim::programs
