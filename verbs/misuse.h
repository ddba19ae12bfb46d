// Reports mistakes of the program that uses the library, as far as the library can detect them. For
// mistakes of the library itself there is CM_ASSERT.
#pragma once

#include <string>
#include <string_view>

#include "verbs/runtime.h"

namespace anyrdma::verbs {

struct Misuse {
  std::string_view call;  ///< as the C API names it
  std::string subject;    ///< the object that the call was given: "id 3", "queue pair 17"
  std::string what;       ///< the mistake: "was destroyed already"
};

/// Returns the report of a mistake as one line: "rdma_ack_cm_event: id 3: ESTABLISHED was
/// acknowledged already".
[[nodiscard]] std::string to_string(const Misuse& misuse);

/// Reports a mistake of the program to the listener. Without a listener, prints a line to stderr
/// that begins with "anyrdma: the program's mistake: " and ends with the time. The caller then
/// returns an error, or does nothing if its function cannot fail. May be called inside and outside
/// of the runtime's critical section.
void report_misuse(Runtime& runtime, const Misuse& misuse);

/// A function that receives reports of mistakes. If the function does not know the runtime, it
/// returns false, and the report is printed to stderr.
using MisuseListener = bool (*)(Runtime& runtime, const Misuse& misuse);
/// Sets the function that receives all reports of mistakes in this process, from any thread. The
/// simulator sets it.
void listen_for_misuse(MisuseListener listener);

}  // namespace anyrdma::verbs
