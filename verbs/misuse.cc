#include "verbs/misuse.h"

#include <chrono>
#include <cstdio>

namespace anyrdma::verbs {
namespace {

MisuseListener listener = nullptr;

}  // namespace

std::string to_string(const Misuse& misuse) {
  return std::string(misuse.call) + ": " + misuse.subject + ": " + misuse.what;
}

void report_misuse(Runtime& runtime, const Misuse& misuse) {
  const MisuseListener told = __atomic_load_n(&listener, __ATOMIC_ACQUIRE);
  if (told != nullptr && told(runtime, misuse)) return;
  const auto now =
      std::chrono::duration_cast<std::chrono::microseconds>(runtime.wall_clock(runtime.now()));
  std::fprintf(stderr, "anyrdma: the program's mistake: %s (at %lld.%06lld s)\n",
               to_string(misuse).c_str(), static_cast<long long>(now.count() / 1'000'000),
               static_cast<long long>(now.count() % 1'000'000));
}

void listen_for_misuse(MisuseListener told) {
  __atomic_store_n(&listener, told, __ATOMIC_RELEASE);
}

}  // namespace anyrdma::verbs
