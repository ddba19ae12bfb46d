#include "tools/planned_ends.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "sim/faults.h"

namespace anyrdma::tools {
namespace {

using sim::programs::Program;

bool was_killed(const Program& program) {
  const std::optional<int>& status = program.status();
  return status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL;
}

bool names(const fault::KillPrograms& kill, const Program& program, std::uint32_t number) {
  const std::string_view name = program.name();
  const std::size_t slash = name.find('/');
  if (name.substr(0, slash) != kill.host) return false;
  return kill.program.empty() || (name.substr(slash + 1) == kill.program && number == kill.number);
}

}  // namespace

bool went_down(const Program& program) {
  return program.crashed() && was_killed(program);
}

bool killed_by_plan(const sim::Faults& faults, const Program& program, unsigned number) {
  if (!was_killed(program)) return false;
  const auto all = faults.status();
  return std::ranges::any_of(all, [&](const sim::FaultStatus& each) {
    const auto* kill = std::get_if<fault::KillPrograms>(&each.fault.action);
    return kill != nullptr && each.fired != 0 && names(*kill, program, number);
  });
}

}  // namespace anyrdma::tools
