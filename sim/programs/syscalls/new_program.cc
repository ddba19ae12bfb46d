#include "sim/programs/syscalls/new_program.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sim/programs/process/process.h"
#include "sim/programs/process/program.h"
#include "sim/programs/process/repeated_call.h"

namespace anyrdma::sim::programs {
namespace {

constexpr std::array<std::string_view, 3> kLists{"ASAN_OPTIONS", "LD_LIBRARY_PATH", "LD_PRELOAD"};
/// More is given to the kernel as it is.
constexpr std::size_t kVariablesMax = 16384;
constexpr std::size_t kTextMax = 1 << 17;  // of one: MAX_ARG_STRLEN

std::string_view name_in(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

std::string_view value_in(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  return equals == std::string_view::npos ? "" : entry.substr(equals + 1);
}

/// The kept entries, then what was given.
std::string joined(std::string_view kept, std::string_view given) {
  const bool begins = given.starts_with(kept);
  if (begins && (given.size() == kept.size() || given[kept.size()] == ':'))
    return std::string(given);
  return std::string(kept) + (given.empty() ? "" : ":") + std::string(given);
}

/// nullopt: it cannot be read.
std::optional<std::vector<std::string>> read_environment(Thread& thread, std::uint64_t at) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < kVariablesMax && at != 0; ++i) {
    const auto entry = thread.tracee().peek<std::uint64_t>(at + i * sizeof(std::uint64_t));
    if (!entry) return std::nullopt;
    if (*entry == 0) return all;
    all.push_back(thread.tracee().text(*entry, kTextMax));
  }
  return at == 0 ? std::optional(std::move(all)) : std::nullopt;
}

/// Memory of the thread's process, which a new program does not have any more. 0: there is none.
/// The thread is at the entry of `call` afterwards, or has stopped for something else.
std::optional<std::uint64_t> map_memory(Thread& thread, const Call& call, std::size_t bytes) {
  auto registers = thread.tracee().registers();
  if (!registers) return std::nullopt;
  registers->orig_rax = SYS_mmap;
  registers->rdi = 0;
  registers->rsi = bytes;
  registers->rdx = PROT_READ | PROT_WRITE;
  registers->r10 = MAP_PRIVATE | MAP_ANONYMOUS;
  registers->r8 = static_cast<unsigned long long>(-1);
  registers->r9 = 0;
  thread.tracee().set_registers(*registers);
  const auto at = thread.finish_call();
  if (!at || !make_again(thread, call)) return std::nullopt;
  return *at < 0 ? 0 : static_cast<std::uint64_t>(*at);
}

/// As execve(2) takes it: addresses, then what is there.
std::vector<std::byte> image_of(const std::vector<std::string>& environment, std::uint64_t at) {
  std::vector<std::uint64_t> addresses;
  std::string text;
  const std::size_t table = (environment.size() + 1) * sizeof(std::uint64_t);
  for (const std::string& entry : environment) {
    addresses.push_back(at + table + text.size());
    text.append(entry.c_str(), entry.size() + 1);
  }
  addresses.push_back(0);
  const auto numbers = std::as_bytes(std::span(addresses));
  const auto characters = std::as_bytes(std::span(text));
  std::vector<std::byte> image(numbers.begin(), numbers.end());
  image.insert(image.end(), characters.begin(), characters.end());
  return image;
}

}  // namespace

std::vector<std::string> with_kept(std::vector<std::string> environment,
                                   const std::vector<std::string>& kept) {
  for (const std::string& each : kept) {
    const std::string_view name = name_in(each);
    const auto given = std::ranges::find_if(
        environment, [&](const std::string& entry) { return name_in(entry) == name; });
    if (given == environment.end()) {
      environment.push_back(each);
    } else if (std::ranges::find(kLists, name) != kLists.end()) {
      *given = std::string(name) + "=" + joined(value_in(each), value_in(*given));
    }
  }
  return environment;
}

Outcome on_execve(Thread& thread, const Call& call) {
  const unsigned argument = call.number == SYS_execveat ? 3 : 2;
  const auto given = read_environment(thread, call.arguments[argument]);
  if (!given) return Outcome::made();  // the kernel says what is wrong
  const auto wanted = with_kept(*given, thread.process().program->kept());
  if (wanted == *given) return Outcome::made();
  const auto at = map_memory(thread, call, image_of(wanted, 0).size());
  if (!at) return thread.is_over() ? Outcome::over() : Outcome::made();
  if (*at != 0 && thread.tracee().write(*at, image_of(wanted, *at)))
    thread.tracee().set_argument(argument, *at);
  return Outcome::made();
}

}  // namespace anyrdma::sim::programs
