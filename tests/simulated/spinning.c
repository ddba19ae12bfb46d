// Spinners that hand a token round while another one sleeps: `spinning threads` yield the processor
// while they wait, `spinning processes` do not. What they do instead is a second argument:
// `nothing`, `pauses`, `counts` (a loop within the loop), `polls` or `looks` (at the clock). Says
// how many microseconds that took.
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kRounds = 10, kSpinners = 2 };

static int* token;
static const char* meanwhile = "nothing";

static void wait_a_little(void) {
  struct timespec time;
  switch (meanwhile[0]) {
    case 'y':
      sched_yield();
      break;
    case 'p':
      if (meanwhile[1] == 'o') {
        poll(NULL, 0, 0);
      } else {
        for (int i = 0; i < 50; ++i) __builtin_ia32_pause();
      }
      break;
    case 'c':
      for (volatile int i = 0; i < 110; ++i) continue;
      break;
    case 'l':
      clock_gettime(CLOCK_MONOTONIC, &time);
      break;
    default:
      break;
  }
}

static void* spin(void* number) {
  for (int i = 0; i < kRounds; ++i) {
    while (__atomic_load_n(token, __ATOMIC_ACQUIRE) != i * kSpinners + (int)(long)number) {
      wait_a_little();
    }
    __atomic_fetch_add(token, 1, __ATOMIC_RELEASE);
  }
  return NULL;
}

static void* wait_for_a_signal_now_and_then(void* unused) {
  const struct timespec pause = {2, 0};
  sigset_t none;
  sigemptyset(&none);
  for (;;) sigtimedwait(&none, NULL, &pause);
  return unused;
}

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static void run_threads(void) {
  pthread_t spinners[kSpinners];
  pthread_t other;
  meanwhile = "yields";
  pthread_create(&other, NULL, wait_for_a_signal_now_and_then, NULL);
  for (long i = 0; i < kSpinners; ++i) pthread_create(&spinners[i], NULL, spin, (void*)i);
  for (int i = 0; i < kSpinners; ++i) pthread_join(spinners[i], NULL);
}

static void run_processes(void) {
  pid_t spinners[kSpinners];
  const pid_t other = fork();
  if (other == 0) wait_for_a_signal_now_and_then(NULL);
  for (long i = 0; i < kSpinners; ++i) {
    spinners[i] = fork();
    if (spinners[i] != 0) continue;
    spin((void*)i);
    _exit(0);
  }
  for (int i = 0; i < kSpinners; ++i) waitpid(spinners[i], NULL, 0);
  kill(other, SIGKILL);
  waitpid(other, NULL, 0);
}

int main(int argc, char** argv) {
  token = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (argc < 2 || token == MAP_FAILED) return 2;
  if (argc > 2) meanwhile = argv[2];
  const long long begin = now();
  if (strcmp(argv[1], "threads") == 0) {
    run_threads();
  } else {
    run_processes();
  }
  printf("%d hand-overs took %lld us\n", *token, now() - begin);
  return 0;
}
