/* Two threads, of which one writes a plain word and the other reads it afterwards: locks WAY. A
 * function of pthread or a semaphore orders both accesses, so ThreadSanitizer must report nothing.
 * With the way `nothing`, only relaxed atomic operations do, so it must report a race. `locks list`
 * prints all other ways. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int word, ready;
static int turn; /* which thread goes first; its accesses order nothing */

static void await_turn(void) {
  while (!__atomic_load_n(&turn, __ATOMIC_RELAXED)) sched_yield();
}
static void give_turn(void) {
  __atomic_store_n(&turn, 1, __ATOMIC_RELAXED);
}

static void give_nothing(void) {
  word = 1;
  give_turn();
}

static void give_mutex(void) {
  pthread_mutex_lock(&mutex);
  word = 1;
  pthread_mutex_unlock(&mutex);
  give_turn();
}
static void take_mutex(void) {
  await_turn();
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}
static void take_mutex_trylock(void) {
  await_turn();
  if (pthread_mutex_trylock(&mutex) == 0) pthread_mutex_unlock(&mutex);
}

static void give_rwlock(void) {
  pthread_rwlock_wrlock(&lock);
  word = 1;
  pthread_rwlock_unlock(&lock);
  give_turn();
}
static void take_rwlock(void) {
  await_turn();
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
}

static void give_semaphore(void) {
  word = 1;
  sem_post(&semaphore);
  give_turn();
}
static void take_semaphore(void) {
  sem_wait(&semaphore);
}
static void take_semaphore_trywait(void) {
  await_turn();
  sem_trywait(&semaphore);
}

/* The taker has the mutex until it waits, so it always waits before the change. */
static void change(void) {
  await_turn();
  pthread_mutex_lock(&mutex);
  word = ready = 1;
  pthread_mutex_unlock(&mutex);
}
static void give_signal(void) {
  change();
  pthread_cond_signal(&changed);
}
static void give_broadcast(void) {
  change();
  pthread_cond_broadcast(&changed);
}
static void take_condition(void) {
  pthread_mutex_lock(&mutex);
  give_turn();
  while (!ready) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}
static struct timespec in_a_minute(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  at.tv_sec += 60;
  return at;
}
static void take_condition_timed(void) {
  const struct timespec at = in_a_minute(CLOCK_REALTIME);
  pthread_mutex_lock(&mutex);
  give_turn();
  while (!ready) pthread_cond_timedwait(&changed, &mutex, &at);
  pthread_mutex_unlock(&mutex);
}
static void take_condition_clock(void) {
  const struct timespec at = in_a_minute(CLOCK_MONOTONIC);
  pthread_mutex_lock(&mutex);
  give_turn();
  while (!ready) pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC, &at);
  pthread_mutex_unlock(&mutex);
}

static const struct Way {
  const char* name;
  void (*give)(void);
  void (*take)(void);
} kWays[] = {
    {"nothing", give_nothing, await_turn},
    {"mutex", give_mutex, take_mutex},
    {"trylock", give_mutex, take_mutex_trylock},
    {"rwlock", give_rwlock, take_rwlock},
    {"semaphore", give_semaphore, take_semaphore},
    {"trywait", give_semaphore, take_semaphore_trywait},
    {"condition", give_signal, take_condition},
    {"timed_condition", give_broadcast, take_condition_timed},
    {"clock_condition", give_signal, take_condition_clock},
};
enum { kWayCount = sizeof kWays / sizeof kWays[0] };

static void* taker(void* way) {
  ((const struct Way*)way)->take();
  printf("the word is %d\n", word);
  return 0;
}

int main(int count, char** words) {
  if (count != 2) return 2;
  sem_init(&semaphore, 0, 0);
  for (unsigned i = 0; i < kWayCount; ++i) {
    pthread_t thread;
    if (strcmp(words[1], "list") == 0 && i != 0) printf("%s\n", kWays[i].name);
    if (strcmp(words[1], kWays[i].name) != 0) continue;
    pthread_create(&thread, 0, taker, (void*)&kWays[i]);
    kWays[i].give();
    pthread_join(thread, 0);
  }
  return 0;
}
