// Pollers of empty completion queues that hand a token round by memory, as ranks of MPI on one host
// do, while another one sleeps. `polling MEMORY` says how they share it: `threads`, or processes
// with `inherited`, `named`, `memfd`, `segment` (System V) or `attached` (each by itself) memory.
// Says how many microseconds that took.
#define _GNU_SOURCE
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kRounds = 10, kPollers = 2, kBytes = 4096 };

static int* token;
static const char* memory;

static int is(const char* name) {
  return strcmp(memory, name) == 0;
}

static void fail(const char* what) {
  perror(what);
  _exit(2);
}

static int* mapped(int fd, int flags) {
  void* const at = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);
  if (at == MAP_FAILED) fail("mmap");
  return at;
}

static int* named(int flags) {
  const int fd = shm_open("/token", O_RDWR | flags, 0600);
  if (fd < 0 || ftruncate(fd, kBytes) != 0) fail("shm_open");
  return mapped(fd, 0);
}

static int* segment(int flags) {
  void* const at = shmat(shmget(7, kBytes, 0600 | flags), NULL, 0);
  if (at == (void*)-1) fail("shmat");
  return at;
}

// Before the pollers begin.
static void make_token(void) {
  if (is("named")) {
    token = named(O_CREAT);
  } else if (is("segment") || is("attached")) {
    token = segment(IPC_CREAT);
  } else if (is("memfd")) {
    const int fd = memfd_create("token", 0);
    if (fd < 0 || ftruncate(fd, kBytes) != 0) fail("memfd_create");
    token = mapped(fd, 0);
  } else {
    token = mapped(-1, MAP_ANONYMOUS);
  }
}

static void* pass_on(void* number) {
  int devices = 0;
  struct ibv_device** const all = ibv_get_device_list(&devices);
  struct ibv_context* const context = devices > 0 ? ibv_open_device(all[0]) : NULL;
  struct ibv_cq* const queue = context != NULL ? ibv_create_cq(context, 1, NULL, NULL, 0) : NULL;
  struct ibv_wc completion;
  if (queue == NULL) fail("ibv_create_cq");
  for (int i = 0; i < kRounds; ++i) {
    while (__atomic_load_n(token, __ATOMIC_ACQUIRE) != i * kPollers + (int)(long)number) {
      if (ibv_poll_cq(queue, 1, &completion) != 0) fail("ibv_poll_cq");
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
  pthread_t pollers[kPollers], sleeper;
  pthread_create(&sleeper, NULL, wait_for_a_signal_now_and_then, NULL);
  for (long i = 0; i < kPollers; ++i) pthread_create(&pollers[i], NULL, pass_on, (void*)i);
  for (int i = 0; i < kPollers; ++i) pthread_join(pollers[i], NULL);
}

static void run_processes(void) {
  pid_t pollers[kPollers];
  const pid_t sleeper = fork();
  if (sleeper == 0) wait_for_a_signal_now_and_then(NULL);
  for (long i = 0; i < kPollers; ++i) {
    pollers[i] = fork();
    if (pollers[i] != 0) continue;
    if (is("named")) token = named(0);
    if (is("attached")) token = segment(0);
    pass_on((void*)i);
    _exit(0);
  }
  for (int i = 0; i < kPollers; ++i) waitpid(pollers[i], NULL, 0);
  kill(sleeper, SIGKILL);
  waitpid(sleeper, NULL, 0);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  memory = argv[1];
  make_token();
  const long long begin = now();
  if (is("threads")) {
    run_threads();
  } else {
    run_processes();
  }
  printf("%d hand-overs took %lld us\n", *token, now() - begin);
  return 0;
}
