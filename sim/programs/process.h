// A process of a program in the world.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/programs/replaced_code.h"
#include "sim/programs/shared_clock.h"
#include "sim/programs/shared_entries.h"
#include "sim/programs/thread.h"
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
  Process* parent = nullptr;  ///< null: the sandbox started it
  Thread* lender = nullptr;   ///< of the parent, which waits until it has its memory back
  Host* host = nullptr;
  Program* program = nullptr;  ///< whose output it writes
  std::string name;            ///< "rping", and "rping.2" for its second process
  std::string full_name;       ///< no other's in the world: "server/rping.2[7]", with its number
  Descriptor pidfd;
  std::vector<std::unique_ptr<Thread>> threads;  ///< all there were
  std::vector<std::uint64_t> fibers{};           ///< in which these live, by their numbers
  unsigned threads_made = 0;
  unsigned children_made = 0;
  std::optional<int> last_words{};           ///< the status with which its first thread has ended
  std::optional<int> status;                 ///< as of wait(2); nullopt: it lives
  bool waited_for = false;                   ///< by its parent
  bool crash_told = false;                   ///< SandboxOptions::on_crash has heard of it
  std::optional<ReplacedCode> code{};        ///< nullopt: it runs no program yet
  std::shared_ptr<SharedClock> clock{};      ///< null: it asks by system calls
  std::unique_ptr<SharedEntries> entries{};  ///< null: it has none to leave
};

}  // namespace anyrdma::sim::programs
