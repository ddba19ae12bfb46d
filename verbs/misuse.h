// Reports a mistake of the program that uses the library, as far as it can be detected. CM_ASSERT
// is for mistakes of the library.
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

/// Calls the listener, or prints a line to stderr that begins with "anyrdma: the program's mistake:
/// " and ends with the time. Then the caller returns an error, or has no effect if it cannot fail.
/// Inside or outside of the critical section.
void report_misuse(Runtime& runtime, const Misuse& misuse);

/// False: it was not its own runtime, and the line is printed.
using MisuseListener = bool (*)(Runtime& runtime, const Misuse& misuse);
/// Sets the listener for every mistake, in any thread. One per process: the simulator's.
void listen_for_misuse(MisuseListener listener);

}  // namespace anyrdma::verbs
