// Ways to get stuck, each in functions that a report can name.
#include <poll.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

// Not in line, and something behind the call: each has a frame of its own.
static __attribute__((noinline)) int want(pthread_mutex_t* mutex) {
  int error = pthread_mutex_lock(mutex);
  return error + 1;
}

static __attribute__((noinline)) int want_second(void) {
  return want(&second) + 1;
}

static __attribute__((noinline)) int want_first(void) {
  return want(&first) + 1;
}

static void* run_backwards(void* argument) {
  pthread_mutex_lock(&second);
  pthread_barrier_wait(&both);
  want_first();
  return argument;
}

static int lock_each_other_out(void) {
  pthread_t other;
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&other, NULL, run_backwards, NULL);
  pthread_mutex_lock(&first);
  pthread_barrier_wait(&both);
  return want_second();
}

static __attribute__((noinline)) int wait_for_ever(void) {
  int rounds = 0;
  while (rounds >= 0) rounds = poll(NULL, 0, 1);
  return rounds;
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "poll") == 0) return wait_for_ever();
  return lock_each_other_out();
}
