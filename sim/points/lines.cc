// Standard output of programs in C and C++ is written line by line, as on a terminal, so that the
// supervisor sees when each line is printed.
#include <cstdio>
#include <cstdlib>

namespace {

/// Before anything of the program runs: a setvbuf of its own replaces this one.
__attribute__((constructor)) void write_line_by_line() {
  if (std::getenv("ANYRDMA_BUFFERED") == nullptr) (void)std::setvbuf(stdout, nullptr, _IOLBF, 0);
}

}  // namespace
