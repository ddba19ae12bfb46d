// A mistake of the program that uses us, as far as it can be seen: said as such, so that nobody
// looks for it in here. CM_ASSERT is for our own.
#pragma once

#include <string>
#include <string_view>

#include "verbs/runtime.h"

namespace anyrdma::verbs {

struct Misuse {
  std::string_view call;  ///< as the C API names it
  std::string subject;    ///< what it was given: "id 3", "queue pair 17"
  std::string what;       ///< is wrong with it: "was destroyed already"
};

/// "rdma_ack_cm_event: id 3: ESTABLISHED was acknowledged already".
[[nodiscard]] std::string to_string(const Misuse& misuse);

/// Tells whoever listens, or prints a line to stderr that begins with "anyrdma: the program's
/// mistake: " and ends with the time. The caller goes on: a call that can fail does, and one that
/// cannot leaves everything as it was. Inside or outside of the critical section.
void report_misuse(Runtime& runtime, const Misuse& misuse);

/// False: it was not its own runtime, and the line is printed.
using MisuseListener = bool (*)(Runtime& runtime, const Misuse& misuse);
/// From now on hears of every mistake, in any thread. One per process: the simulator's.
void listen_for_misuse(MisuseListener listener);

}  // namespace anyrdma::verbs
