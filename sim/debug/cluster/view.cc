// The programs as gdb sees them: memory, registers, files.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "sim/debug/cluster/cluster.h"
#include "sim/debug/session/description.h"
#include "sim/programs/kernel/signals.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/thread.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/tracee/auxiliary_vector.h"

namespace anyrdma::sim::debug {

bool Cluster::read_memory(std::int64_t process, std::uint64_t address, std::span<std::byte> into) {
  const Debuggee* const it = find(process);
  if (it == nullptr || !tracee::Tracee(it->process->pid).read_any(address, into)) return false;
  it->patches.hide(address, into);
  return true;
}

bool Cluster::write_memory(std::int64_t process, std::uint64_t address,
                           std::span<const std::byte> from) {
  Debuggee* const it = find(process);
  has_written_ = true;
  return it != nullptr && it->patches.write(tracee::Tracee(it->process->pid), address, from);
}

std::optional<std::string> Cluster::registers(const ThreadId& id) {
  const programs::Thread* const thread = find(id);
  if (thread == nullptr) return std::nullopt;
  const tracee::Tracee tracee(thread->tid());
  auto general = tracee.registers();
  if (!general) return std::nullopt;
  std::vector<std::byte> extended = tracee.extended_registers();
  return packed({.general = *general, .extended = extended});
}

bool Cluster::set_registers(const ThreadId& id, std::string_view bytes) {
  programs::Thread* const thread = find(id);
  if (thread == nullptr) return false;
  auto general = thread->tracee().registers();
  if (!general) return false;
  std::vector<std::byte> extended = thread->tracee().extended_registers();
  if (!unpack(bytes, {.general = *general, .extended = extended})) return false;
  has_written_ = true;
  thread->tracee().set_registers(*general);
  thread->tracee().set_extended_registers(extended);
  return true;
}

std::string Cluster::signal_info(const ThreadId& id) {
  const programs::Thread* const thread = find(id);
  const auto info = thread == nullptr ? std::nullopt : tracee::Tracee(thread->tid()).signal_info();
  return info ? std::string(reinterpret_cast<const char*>(&*info), sizeof *info) : std::string();
}

std::string Cluster::executable(std::int64_t process) {
  const Debuggee* const it = find(process);
  if (it == nullptr) return {};
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(it->process->pid) + "/exe", error)
      .string();
}

std::string Cluster::auxiliary_vector(std::int64_t process) {
  const Debuggee* const it = find(process);
  if (it == nullptr) return {};
  return tracee::auxiliary_vector_of(it->process->pid);
}

void Cluster::kill(std::int64_t process) {
  const Debuggee* const it = find(process);
  if (it == nullptr) return;
  has_written_ = true;
  programs::Process& killed = *it->process;
  programs::send_signal(killed.threads.front()->supervisor(), killed, 0, SIGKILL);
}

void Cluster::detach(std::int64_t process) {
  detached_.insert(process);
  for (auto& [place, all] : points_) {
    if (place.first == process) all = {};
  }
  if (Debuggee* const it = find(process)) it->stale = true;
}

}  // namespace anyrdma::sim::debug
