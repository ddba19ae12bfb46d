// Ways to crash, each in functions that a report can name: `crashing WAY`.
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>

namespace ways {

volatile int zero = 0;
int* volatile nowhere = nullptr;
sigjmp_buf back;

// Not in line, and something behind the call: each has a frame of its own.
template <class Number>
[[gnu::noinline]] Number load(const Number* from) {
  return *from + 1;  // crashes: segv
}

[[gnu::noinline]] int segv() {
  return load(nowhere) + 1;
}

[[gnu::noinline]] int check_failed(const char* what) {
  fprintf(stderr, "%s\n", what);
  abort();  // crashes: abort
}

[[gnu::noinline]] int abort_itself() {
  return check_failed("this cannot be") + 1;
}

[[gnu::noinline]] int bus() {
  const int fd = memfd_create("empty", 0);
  auto* const page = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
  return page[0] + 1;  // crashes: bus
}

[[gnu::noinline]] int fpe() {
  return 7 / zero + 1;  // crashes: fpe
}

[[gnu::noinline]] int ill() {
  asm volatile("ud2");  // crashes: ill
  return zero;
}

void* wait_for_ever(void* argument) {
  for (;;) pause();
  return argument;
}

void* crash_here(void* argument) {
  segv();
  return argument;
}

int thread() {
  pthread_t one;
  pthread_t other;
  pthread_create(&one, nullptr, wait_for_ever, nullptr);
  pthread_create(&other, nullptr, crash_here, nullptr);
  pthread_join(other, nullptr);
  return 0;
}

int child() {
  const pid_t pid = fork();
  if (pid == 0) _exit(segv());
  int status = 0;
  waitpid(pid, &status, 0);
  return 0;  // it makes nothing of it
}

void handle_and_crash(int) {
  segv();
}

int in_handler() {
  signal(SIGUSR1, handle_and_crash);
  raise(SIGUSR1);
  return 0;
}

void say_and_raise(int number) {
  (void)!write(STDERR_FILENO, "caught\n", 7);
  signal(number, SIG_DFL);
  raise(number);
}

int raise_again() {
  signal(SIGSEGV, say_and_raise);
  return segv();
}

void abort_in_handler(int) {
  check_failed("caught");
}

int handled_by_abort() {
  signal(SIGSEGV, abort_in_handler);
  return segv();
}

void jump_back(int) {
  siglongjmp(back, 1);
}

// No crash.
int recover() {
  signal(SIGSEGV, jump_back);
  if (sigsetjmp(back, 1) == 0) segv();
  puts("recovered");
  return 0;
}

[[gnu::noinline]] int overflow(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  return overflow(depth + 1) + frame[0];  // crashes: overflow
}

// A handler that has no stack left: the kernel cannot call it.
int overflow_with_handler() {
  signal(SIGSEGV, say_and_raise);
  return overflow(0);
}

[[gnu::noinline]] int lose_stack() {
  asm volatile("mov $16, %rsp\n\tpush %rax");  // crashes: stack
  return zero;
}

[[gnu::noinline]] int smash_stack() {
  asm volatile("mov $0x4141414141414141, %rax\n\tmov %rax, (%rsp)\n\tret");
  return zero;
}

struct Way {
  const char* name;
  int (*run)();
};
constexpr Way kAll[] = {{"segv", segv},
                        {"abort", abort_itself},
                        {"bus", bus},
                        {"fpe", fpe},
                        {"ill", ill},
                        {"thread", thread},
                        {"child", child},
                        {"in_handler", in_handler},
                        {"raise_again", raise_again},
                        {"handled_by_abort", handled_by_abort},
                        {"recover", recover},
                        {"overflow", [] { return overflow(0); }},
                        {"overflow_with_handler", overflow_with_handler},
                        {"lose_stack", lose_stack},
                        {"smash_stack", smash_stack}};

}  // namespace ways

int main(int argc, char** argv) {
  for (const ways::Way& each : ways::kAll) {
    if (argc > 1 && strcmp(argv[1], each.name) == 0) return each.run();
  }
  return 2;
}
