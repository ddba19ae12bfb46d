#include "sim/programs/syscalls/marks.h"

#include <cerrno>
#include <span>
#include <string>

#include "base/text.h"
#include "sim/findings.h"
#include "sim/points/mark_call.h"
#include "sim/points/marks.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"
#include "sim/world.h"

namespace anyrdma::sim::programs {

Outcome on_mark(Thread& thread, const Call& call) {
  const auto& [kind, address, length, holds, unused, unused_too] = call.arguments;
  if (length > kMarkNameMax) return Outcome::answered(-EINVAL);
  std::string name(length, '\0');
  if (!thread.tracee().read(address, std::as_writable_bytes(std::span(name))))
    return Outcome::answered(-EFAULT);
  switch (kind) {
    case ANYRDMA_MARK_SOMETIMES:
      sometimes(name, holds != 0);
      return Outcome::answered(0);
    case ANYRDMA_MARK_ALWAYS:
      if (holds == 0) {
        const Instant now = thread.supervisor().world().now();
        (void)complain(thread.name() + ": \"" + name + "\" does not hold at " +
                       seconds_text(now.time_since_epoch()) + " s");
      }
      return Outcome::answered(0);
    default:  // a program may pass anything
      return Outcome::answered(-EINVAL);
  }
}

}  // namespace anyrdma::sim::programs
