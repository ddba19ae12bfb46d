#include "sim/programs/io/answered_reading.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/number.h"
#include "sim/programs/io/chance.h"
#include "sim/programs/kernel/affinities.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/kernel/limits.h"
#include "sim/programs/kernel/priorities.h"
#include "sim/programs/kernel/proc_name.h"
#include "sim/programs/kernel/told_files.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

/// From its beginning. nullopt: it cannot be read.
std::optional<std::string> text_of(const Descriptor& descriptor) {
  constexpr std::size_t kTextMax = 16 << 20;
  std::string text;
  std::array<char, 1 << 14> piece;
  while (text.size() < kTextMax) {
    const ssize_t size =
        ::pread(descriptor.get(), piece.data(), piece.size(), static_cast<off_t>(text.size()));
    if (size < 0) return std::nullopt;
    if (size == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
  return text;
}

/// The path of the file that the call reads, if that is below /proc in the program's mount
/// namespace; else empty. The simulator has put some files there that are not of proc(5).
std::string path_of(const Thread& thread, const Call& call) {
  std::string path = target_of_link("/proc/" + std::to_string(thread.tid()) + "/fd/" +
                                    std::to_string(static_cast<int>(call.arguments[0])));
  return path.starts_with("/proc/") ? path : std::string();
}

/// Of the process that a file below /proc such as `/2/task/3/stat` is about, as programs of the
/// host know it; 0: of none.
pid_t number_in_path(std::string_view name) {
  for (std::size_t at = name.find('/'); at != std::string_view::npos; at = name.find('/', at + 1)) {
    std::string_view rest = name.substr(at + 1);
    const auto number = take_number<pid_t>(rest);
    if (number && rest.starts_with('/')) return *number;
  }
  return 0;
}

/// `name`: of a file below /proc.
ToldProcess process_of(const Thread& thread, std::string_view name) {
  const pid_t number = number_in_path(name);
  ToldProcess told{.running = number == thread.process().number, .nice = nice_of_command()};
  tell_processors(thread, name, told);
  const Process* const process = find_process(thread, number);
  if (process == nullptr) return told;
  const std::string directory = "/proc/" + std::to_string(process->pid);
  std::ifstream maps(directory + "/maps");
  measure_surplus(std::string(std::istreambuf_iterator<char>(maps), {}), told);
  const std::string root = target_of_link(directory + "/root");
  if (root.size() > 1) told.root = root;
  told.processes = shown_limit(*process, RLIMIT_NPROC);
  told.signals = shown_limit(*process, RLIMIT_SIGPENDING);
  told.queues = shown_limit(*process, RLIMIT_MSGQUEUE);
  return told;
}

}  // namespace

std::optional<std::vector<iovec>> places_of(Thread& thread, const Call& call) {
  if (call.number != SYS_readv && call.number != SYS_preadv && call.number != SYS_preadv2)
    return std::vector<iovec>{{reinterpret_cast<void*>(call.arguments[1]), call.arguments[2]}};
  std::vector<iovec> places(std::min<std::uint64_t>(call.arguments[2], IOV_MAX));
  if (!thread.tracee().read(call.arguments[1], std::as_writable_bytes(std::span(places))))
    return std::nullopt;
  return places;
}

Outcome give(Thread& thread, std::span<const iovec> places, std::span<const std::byte> bytes) {
  std::size_t done = 0;
  for (const iovec& place : places) {
    const auto piece = bytes.subspan(done, std::min(place.iov_len, bytes.size() - done));
    if (!thread.tracee().write(reinterpret_cast<std::uint64_t>(place.iov_base), piece))
      return Outcome::answered(-EFAULT);
    done += piece.size();
  }
  return Outcome::answered(static_cast<long>(done));
}

std::optional<Outcome> read_told(Thread& thread, const Call& call, const Descriptor& descriptor) {
  const std::string name = name_in_proc(descriptor);
  FactsAsked& facts = thread.supervisor().kernel().facts;
  if (facts.are_named())
    facts.note_file(program_of(thread.process()), name.empty() ? path_of(thread, call) : name);
  if (!is_told(name)) return std::nullopt;
  const bool moves = call.number != SYS_pread64 && call.number != SYS_preadv;
  const off_t offset = moves ? ::lseek(descriptor.get(), 0, SEEK_CUR) : 0;
  auto text = text_of(descriptor);
  if (!text || offset < 0) return std::nullopt;  // the kernel says why
  const std::string shown =
      told(name, std::move(*text), thread.supervisor().kernel().numbers, process_of(thread, name));
  const auto places = places_of(thread, call);
  if (!places) return Outcome::answered(-EFAULT);
  const auto begin = std::min(static_cast<std::size_t>(offset), shown.size());
  const Outcome outcome = give(thread, *places, std::as_bytes(std::span(shown)).subspan(begin));
  if (moves && outcome.result > 0)
    (void)::lseek(descriptor.get(), offset + outcome.result, SEEK_SET);
  return outcome;
}

Outcome on_pread(Thread& thread, const Call& call) {
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  if (!descriptor) return Outcome::made();
  if (is_random_device(descriptor)) return *read_chance(thread, call, descriptor);
  return read_told(thread, call, descriptor).value_or(Outcome::made());
}

}  // namespace anyrdma::sim::programs
