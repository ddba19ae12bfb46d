// A process of a program in the world.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/programs/patching/replaced_code.h"
#include "sim/programs/process/thread.h"
#include "sim/programs/shim/shared_clock.h"
#include "sim/programs/shim/shared_entries.h"
#include "sim/regions/region_watch.h"
#include "transport/realtime/descriptor.h"

namespace anyrdma::sim {
class Host;
}

namespace anyrdma::sim::programs {

class Program;

/// A process of an unmodified program, owned by the Sandbox. Ended processes are kept until the
/// world ends.
struct Process {
  pid_t pid = 0;
  pid_t number = 0;           ///< as programs of the host know it
  Process* parent = nullptr;  ///< null: the supervisor started it

  /// the parent's thread that waits in vfork(2) until this process no longer uses its memory
  Thread* lender = nullptr;
  Host* host = nullptr;
  Program* program = nullptr;  ///< whose output it writes
  std::string name;            ///< "rping", and "rping.2" for its second process
  std::string full_name;       ///< unique in the world: "server/rping.2[7]", where 7 is its number
  Descriptor pidfd;
  std::vector<std::unique_ptr<Thread>> threads;  ///< all there were
  std::vector<std::uint64_t> fibers{};           ///< in which these live, by their numbers
  unsigned threads_made = 0;
  unsigned children_made = 0;
  /// the status with which the first thread of the process has ended
  std::optional<int> last_words{};
  std::optional<int> status;       ///< as of wait(2); nullopt: it lives
  bool awaited = false;            ///< its end is handled once others have ended, too
  std::optional<int> end_heard{};  ///< the status of an end that is not handled yet
  bool waited_for = false;         ///< by its parent
  enum class Job : std::uint8_t { kRuns, kStopping, kStopped, kContinued };
  Job job = Job::kRuns;                      ///< what signals such as SIGSTOP and SIGCONT did
  bool job_reported = true;                  ///< to its parent
  bool crash_told = false;                   ///< SandboxOptions::on_crash has heard of it
  std::optional<ReplacedCode> code{};        ///< nullopt: it runs no program yet
  std::shared_ptr<SharedClock> clock{};      ///< null: it asks by system calls
  std::unique_ptr<SharedEntries> entries{};  ///< null: it has none to leave
  bool writes_shared = false;                ///< it may have memory that other processes read
  RegionWatch regions{};                     ///< what its devices have registered
  /// Whether its program has no dynamic loader. Code that it maps is for itself to read, as in
  /// Valgrind, which would not know the instructions that replace RDTSC and RDRAND.
  bool is_static = false;
  std::map<int, rlimit> limits{};  ///< that it has set, by resource (kernel/limits.h)
};

/// Returns the thread that the process knows by `number`. Null: there is none, or it has ended.
[[nodiscard]] Thread* find_thread(const Process& process, pid_t number);

/// Returns the process that programs of the thread's host know by `number`. Null: there is none, or
/// it has ended.
[[nodiscard]] Process* find_process(const Thread& thread, pid_t number);

/// Returns the full name of the program of a process: "server/rping", also for its child processes.
[[nodiscard]] std::string program_of(const Process& process);

}  // namespace anyrdma::sim::programs
