// A program for tests, which does what a simulator of programs has to live with: see kDeeds.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace {

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// In memory: its registers are the same each time around.
void count_in_memory() {
  std::uint32_t count = 0;
  asm volatile("1: incl %0\n cmpl $400000000, %0\n jb 1b" : "+m"(count) : : "cc");
}

/// In a register that is none of the general ones.
void count_in_a_wide_register() {
  double count = 0;
  const double one = 1;
  const double all = 2e8;
  asm volatile("1: addsd %1, %0\n ucomisd %2, %0\n jb 1b"
               : "+x"(count)
               : "x"(one), "x"(all)
               : "cc");
}

template <void (*count)()>
int tell_time_of() {
  const std::int64_t begin = now();
  count();
  std::printf("took %lld ns\n", static_cast<long long>(now() - begin));
  return 0;
}

struct Deed {
  const char* name;
  int (*run)();
};

constexpr Deed kDeeds[]{
    {"count-in-memory", tell_time_of<count_in_memory>},
    {"count-in-a-wide-register", tell_time_of<count_in_a_wide_register>},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Deed& deed : kDeeds) {
    if (argc == 2 && std::strcmp(argv[1], deed.name) == 0) return deed.run();
  }
  return 2;
}
