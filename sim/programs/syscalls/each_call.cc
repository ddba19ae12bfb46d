// A program for table_test.cc: makes the system calls that its arguments name, each in a child of
// its own, and prints what they return. An argument is a number and six arguments of that call,
// with commas between them.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

/// In line: a child that vfork(2) makes may not return from a function.
[[gnu::always_inline]] inline long make(const std::array<unsigned long, 7>& call) {
  auto result = static_cast<long>(call[0]);
  register unsigned long fourth asm("r10") = call[4];
  register unsigned long fifth asm("r8") = call[5];
  register unsigned long sixth asm("r9") = call[6];
  asm volatile("syscall"
               : "+a"(result)
               : "D"(call[1]), "S"(call[2]), "d"(call[3]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}

void on_alarm(int /*signal*/) {}

[[noreturn]] void make_and_exit(const std::array<unsigned long, 7>& call, volatile long* result) {
  if (call[0] == SYS_pause) {
    std::signal(SIGALRM, on_alarm);
    ::alarm(1);
  }
  const pid_t self = ::getpid();
  const long returned = make(call);
  const bool forks = call[0] == SYS_fork || call[0] == SYS_vfork;
  if (forks && returned == 0) (void)make({SYS_exit_group});
  if (::getpid() == self) *result = returned;
  ::_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr long kNone = 1;  // no call with these arguments returns it
  void* const shared =
      ::mmap(nullptr, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const result = static_cast<volatile long*>(shared);
  for (int i = 1; i < argc; ++i) {
    std::array<unsigned long, 7> call{};
    char* rest = argv[i];
    for (unsigned long& each : call) {
      each = std::strtoul(rest, &rest, 10);
      if (*rest == ',') ++rest;
    }
    *result = kNone;
    const pid_t child = ::fork();
    if (child == 0) make_and_exit(call, result);
    int status = 0;
    if (::waitpid(child, &status, 0) != child) return 1;
    std::printf("%s %ld %d\n", argv[i], *result, status);
  }
  return 0;
}
