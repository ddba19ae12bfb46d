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
  std::string what;       ///< the mistake: "was destroyed already"
};

/// Returns the report as one line: "rdma_ack_cm_event: id 3: ESTABLISHED was acknowledged already".
[[nodiscard]] std::string to_string(const Misuse& misuse);

/// Reports a mistake to the listener. Without a listener, prints a line to stderr that begins with
/// "anyrdma: the program's mistake: " and ends with the time. The caller then returns an error, or
/// does nothing if its function cannot fail. Inside or outside the critical section.
void report_misuse(Runtime& runtime, const Misuse& misuse);

/// A function that receives reports. Returns false if the runtime is not one of its own; then the
/// report is printed to stderr.
using MisuseListener = bool (*)(Runtime& runtime, const Misuse& misuse);
/// Sets the listener that receives all reports of this process, from any thread. The simulator sets
/// it.
void listen_for_misuse(MisuseListener listener);

}  // namespace anyrdma::verbs
