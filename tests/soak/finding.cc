#include "tests/soak/finding.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace anyrdma::soak {
namespace {

Place place;

}  // namespace

void set_place(const Place& now) {
  place = now;
}

Totals& totals() {
  static Totals* const shared = [] {
    void* const at =
        ::mmap(nullptr, sizeof(Totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? nullptr : new (at) Totals{};
  }();
  return *shared;
}

void end_with(End end, const char* format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "%s: seed %llu, round %llu, %s (%d): %s\n",
               end == End::kWrong ? "WRONG" : "ended", static_cast<unsigned long long>(place.seed),
               static_cast<unsigned long long>(place.round), place.role, ::getpid(), text);
  ::_exit(static_cast<int>(end));
}

void end_with_errno(const char* call) {
  end_with(End::kBroken, "%s: %s", call, std::strerror(errno));
}

}  // namespace anyrdma::soak
