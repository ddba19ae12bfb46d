#include "sim/debug/core/cores.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "sim/debug/core/core_file.h"
#include "sim/host.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/thread.h"
#include "sim/programs/supervisor/crash.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/tracee/auxiliary_vector.h"
#include "sim/tracee/tracee.h"

namespace anyrdma::sim::debug {
namespace {

using programs::Process;
using programs::Thread;

/// Of a thread that sleeps in the kernel, which ptrace(2) cannot read: its call and where it is.
std::optional<user_regs_struct> registers_in_kernel(pid_t tid) {
  std::ifstream file("/proc/" + std::to_string(tid) + "/syscall");
  std::string line;
  std::getline(file, line);
  long long number = 0;
  std::array<unsigned long long, 8> all{};
  if (std::sscanf(line.c_str(), "%lld %llx %llx %llx %llx %llx %llx %llx %llx", &number, &all[0],
                  &all[1], &all[2], &all[3], &all[4], &all[5], &all[6], &all[7]) != 9)
    return std::nullopt;
  user_regs_struct registers{};
  registers.orig_rax = static_cast<unsigned long long>(number);
  registers.rdi = all[0];
  registers.rsi = all[1];
  registers.rdx = all[2];
  registers.r10 = all[3];
  registers.r8 = all[4];
  registers.r9 = all[5];
  registers.rsp = all[6];
  registers.rip = all[7];
  return registers;
}

CoreThread read_thread(const Thread& thread) {
  const tracee::Tracee tracee(thread.tid());
  CoreThread core{.number = thread.number()};
  auto registers = tracee.registers();
  if (!registers) registers = registers_in_kernel(thread.tid());
  if (registers) core.general = *registers;
  core.extended = tracee.extended_registers();
  return core;
}

std::string arguments_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  std::string words(std::istreambuf_iterator<char>(file), {});
  if (!words.empty()) words.pop_back();
  std::ranges::replace(words, '\0', ' ');
  return words;
}

CoreProcess read_process(const Process& process, std::string_view first) {
  CoreProcess core{.pid = process.pid,
                   .number = process.number,
                   .parent = process.parent == nullptr ? 0 : process.parent->number,
                   .program = process.name,
                   .arguments = arguments_of(process.pid),
                   .auxiliary = tracee::auxiliary_vector_of(process.pid)};
  for (const auto& thread : process.threads) {
    if (thread->is_over()) continue;
    CoreThread read = read_thread(*thread);
    if (thread->name() != first) {
      core.threads.push_back(std::move(read));
      continue;
    }
    read.signal_info = tracee::Tracee(thread->tid()).signal_info();
    if (read.signal_info && programs::is_crash(read.signal_info->si_signo))
      read.signal = read.signal_info->si_signo;
    else
      read.signal_info.reset();
    core.threads.insert(core.threads.begin(), std::move(read));
  }
  return core;
}

}  // namespace

verbs::OrWhyNot<std::vector<Core>> write_cores(const programs::Sandbox& sandbox,
                                               const std::filesystem::path& directory,
                                               std::string_view thread) {
  std::vector<Core> all;
  for (const auto& process : sandbox.processes()) {
    if (process->status) continue;
    const CoreProcess read = read_process(*process, thread);
    if (read.threads.empty()) continue;
    Core core{.path = directory / (process->host->name() + "-" + process->name + "-" +
                                   std::to_string(process->number) + ".core")};
    std::error_code none;
    core.program =
        std::filesystem::read_symlink("/proc/" + std::to_string(process->pid) + "/exe", none);
    if (const std::error_code error = write_core(core.path, read)) {
      if (error == std::errc::no_such_process) continue;
      return verbs::WhyNot{"the core file '" + core.path.string() +
                           "' cannot be written: " + error.message() + "."};
    }
    all.push_back(std::move(core));
  }
  return all;
}

void add_code_files(const programs::Sandbox& sandbox, std::set<std::string>& files) {
  for (const auto& process : sandbox.processes()) {
    if (process->status) continue;
    std::ifstream text("/proc/" + std::to_string(process->pid) + "/maps", std::ios::binary);
    const std::string maps(std::istreambuf_iterator<char>(text), {});
    for (const Mapping& each : parse_mappings(maps))
      if (each.executable && each.inode != 0) files.insert(each.path);
  }
}

}  // namespace anyrdma::sim::debug
