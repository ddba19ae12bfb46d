/* Small programs with a race between a program and its device, or without: races CASE client|server
 * ADDRESS. `races list` prints the label and the name of each.
 *
 * A label is what the rules of RDMA say: memory of a request is the device's from its posting to
 * its completion; memory that a peer accesses may be used after a receive that tells of it. Labels
 * were written before any measurement. Most cases end by a message, so that no process ends too
 * early. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "tests/races/pair.h"

static uint64_t sum; /* of what is loaded, lest the compiler leave it out */
static int flag;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t* used; /* by a second thread */

static void load(const uint64_t* at) {
  sum += *(const volatile uint64_t*)at;
}
static void store(uint64_t* at) {
  *(volatile uint64_t*)at += 1;
}

static void nothing(void) {}
static void just_hear(void) {
  hear();
}
static void just_tell(void) {
  tell();
}

/* A receiver for the one message of the sources' cases. */
static void take_one(void) {
  post_receive(1, inbox, kBytes);
  wait_receive(1);
}
static void send_one(void) {
  post_send(1, source, kBytes, IBV_SEND_SIGNALED);
  wait_send(1);
}
static void send_two(void) {
  post_send(1, source, kHalf, IBV_SEND_SIGNALED);
  wait_send(1);
  hear();
  post_send(2, source, kHalf, IBV_SEND_SIGNALED);
  wait_send(2);
}

/* --- the source of a SEND -------------------------------------------------------------------- */

static void send_store(void) {
  post_send(1, source, kBytes, IBV_SEND_SIGNALED);
  store(source);
  wait_send(1);
}
static void send_store_after(void) {
  send_one();
  store(source);
}
static void send_load(void) {
  post_send(1, source, kBytes, IBV_SEND_SIGNALED);
  load(source);
  wait_send(1);
}
static void send_store_last_byte(void) {
  post_send(1, source, kBytes, IBV_SEND_SIGNALED);
  ((volatile char*)source)[kBytes - 1] = 1;
  wait_send(1);
}
static void send_store_beyond(void) {
  post_send(1, source, kHalf, IBV_SEND_SIGNALED);
  store(source + kWords / 2);
  wait_send(1);
}
static void send_inline_store(void) {
  post_send(1, source, 32, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
  store(source);
  wait_send(1);
}
static void send_unsignaled_store(void) {
  post_send(1, source, kHalf, 0);
  store(source);
  post_send(2, other, 8, IBV_SEND_SIGNALED);
  wait_send(2);
}
static void send_unsignaled_store_after(void) {
  post_send(1, source, kHalf, 0);
  post_send(2, other, 8, IBV_SEND_SIGNALED);
  wait_send(2);
  store(source);
}
static void send_wrong_completion(void) {
  post_send(1, other, 8, IBV_SEND_SIGNALED);
  post_send(2, source, kHalf, IBV_SEND_SIGNALED);
  wait_send(1);
  store(source);
  wait_send(2);
}
static void take_two(void) {
  post_receive(1, inbox, kHalf);
  post_receive(2, inbox + kWords / 2, kHalf);
  wait_receive(2);
}
static void send_ring(void) {
  for (uint64_t i = 0; i < 8; ++i) {
    store(source + i % 4);
    post_send(i, source + i % 4, 8, IBV_SEND_SIGNALED);
    if (i % 4 == 3) wait_send(i);
  }
}
static void send_ring_overrun(void) {
  for (uint64_t i = 0; i < 8; ++i) {
    store(source + i % 4);
    post_send(i, source + i % 4, 8, IBV_SEND_SIGNALED);
  }
  wait_send(7);
}
static void take_ring(void) {
  for (uint64_t i = 0; i < 8; ++i) post_receive(i, inbox + i, 8);
  wait_receive(7);
}

/* --- threads --------------------------------------------------------------------------------- */

static void* store_used(void* unused) {
  store(used);
  return unused;
}
static void* load_used(void* unused) {
  load(used);
  return unused;
}
static pthread_t start(void* (*what)(void*), uint64_t* on) {
  pthread_t thread;
  used = on;
  MUST(pthread_create(&thread, 0, what, 0) == 0);
  return thread;
}
static void thread_stores(void) {
  pthread_t thread;
  post_send(1, source, kBytes, IBV_SEND_SIGNALED);
  thread = start(store_used, source);
  pthread_join(thread, 0);
  wait_send(1);
}
static void thread_stores_after(void) {
  send_one();
  pthread_join(start(store_used, source), 0);
}
static void thread_loads(void) {
  pthread_t thread;
  post_receive(1, inbox, kBytes);
  thread = start(load_used, inbox);
  pthread_join(thread, 0);
  wait_receive(1);
}
static void thread_loads_after(void) {
  take_one();
  pthread_join(start(load_used, inbox), 0);
}
static void* poll_inbox(void* unused) {
  wait_receive(1);
  return unused;
}
static void thread_polls(void) {
  post_receive(1, inbox, kBytes);
  pthread_join(start(poll_inbox, 0), 0);
  load(inbox);
}
static void* poll_and_signal(void* unused) {
  wait_receive(1);
  pthread_mutex_lock(&mutex);
  flag = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  return unused;
}
static void thread_polls_and_signals(void) {
  pthread_t thread;
  post_receive(1, inbox, kBytes);
  thread = start(poll_and_signal, 0);
  pthread_mutex_lock(&mutex);
  while (!flag) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  load(inbox);
  pthread_join(thread, 0);
}
static void* poll_and_release(void* unused) {
  wait_receive(1);
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
  return unused;
}
static void thread_polls_and_releases(void) {
  pthread_t thread;
  post_receive(1, inbox, kBytes);
  thread = start(poll_and_release, 0);
  while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) sched_yield();
  load(inbox);
  pthread_join(thread, 0);
}
static void* poll_and_tell_nothing(void* unused) {
  wait_receive(1);
  __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
  return unused;
}
static void thread_polls_relaxed(void) {
  pthread_t thread;
  post_receive(1, inbox, kBytes);
  thread = start(poll_and_tell_nothing, 0);
  while (!__atomic_load_n(&flag, __ATOMIC_RELAXED)) sched_yield();
  load(inbox);
  pthread_join(thread, 0);
}

/* --- receives -------------------------------------------------------------------------------- */

static void receive_load(void) {
  post_receive(1, inbox, kBytes);
  load(inbox);
  wait_receive(1);
}
static void receive_store(void) {
  post_receive(1, inbox, kBytes);
  store(inbox);
  wait_receive(1);
}
static void receive_load_after(void) {
  take_one();
  load(inbox);
}
static void receive_load_other(void) {
  post_receive(1, inbox, kBytes);
  load(other);
  wait_receive(1);
}
static void receive_second_too_early(void) {
  post_receive(1, inbox, kHalf);
  post_receive(2, other, kHalf);
  wait_receive(1);
  load(other);
  tell();
  wait_receive(2);
}
static void receive_second_after(void) {
  post_receive(1, inbox, kHalf);
  post_receive(2, other, kHalf);
  wait_receive(1);
  load(inbox);
  tell();
  wait_receive(2);
  load(other);
}
static void receive_repost_load(void) {
  post_receive(1, inbox, kHalf);
  wait_receive(1);
  post_receive(2, inbox, kHalf);
  load(inbox);
  tell();
  wait_receive(2);
}
static void receive_copy_repost(void) {
  post_receive(1, inbox, kHalf);
  wait_receive(1);
  memcpy(other, inbox, kHalf);
  post_receive(2, inbox, kHalf);
  load(other);
  tell();
  wait_receive(2);
}
static void receive_free(void) {
  post_receive(1, inbox, kBytes);
  free(inbox);
}
static void receive_destroy_free(void) {
  post_receive(1, inbox, kBytes);
  destroy_queue_pair();
  free(inbox);
}

/* --- WRITE, READ and atomic operations: the side that posts ---------------------------------- */

static void write_store(void) {
  post_write(1, source, kBytes, 0);
  store(source);
  wait_send(1);
  tell();
}
static void write_store_after(void) {
  post_write(1, source, kBytes, 0);
  wait_send(1);
  store(source);
  tell();
}
static void read_load(void) {
  post_read(1, inbox, kBytes, 0);
  load(inbox);
  wait_send(1);
  tell();
}
static void read_load_after(void) {
  post_read(1, inbox, kBytes, 0);
  wait_send(1);
  load(inbox);
  tell();
}
static void read_store(void) {
  post_read(1, inbox, kBytes, 0);
  store(inbox);
  wait_send(1);
  tell();
}
static void read_load_beyond(void) {
  post_read(1, inbox, kHalf, 0);
  load(inbox + kWords / 2);
  wait_send(1);
  tell();
}
static void atomic_load_result(void) {
  post_fetch_add(1, inbox);
  load(inbox);
  wait_send(1);
  tell();
}
static void atomic_load_result_after(void) {
  post_fetch_add(1, inbox);
  post_compare_swap(2, inbox + 1);
  wait_send(2);
  load(inbox);
  load(inbox + 1);
  tell();
}

/* --- the side that is accessed --------------------------------------------------------------- */

static void write_some(void) {
  post_write(1, source, kBytes, 0);
  wait_send(1);
}
static void write_first_half(void) {
  post_write(1, source, kHalf, 0);
  wait_send(1);
}
static void read_some(void) {
  post_read(1, inbox, kBytes, 0);
  wait_send(1);
}
static void add_some(void) {
  post_fetch_add(1, inbox);
  wait_send(1);
}
static void write_repeatedly(void) {
  repeat(write_some);
  tell();
}
static void write_half_repeatedly(void) {
  repeat(write_first_half);
  tell();
}
static void read_repeatedly(void) {
  repeat(read_some);
  tell();
}
static void add_repeatedly(void) {
  repeat(add_some);
  tell();
}
static void write_and_tell(void) {
  write_some();
  tell();
}
static void write_with_imm(void) {
  post_write_with_imm(1, source, kBytes);
  wait_send(1);
}
static void read_and_tell(void) {
  read_some();
  tell();
}
static void add_and_tell(void) {
  add_some();
  tell();
}
static void load_target(void) {
  load(target);
}
static void store_target(void) {
  store(target);
}
static void store_second_half(void) {
  store(target + kWords / 2);
}
static void add_target(void) {
  __atomic_fetch_add(target, 1, __ATOMIC_RELAXED);
}
static void keep_loading(void) {
  keep(load_target);
  hear();
}
static void keep_storing(void) {
  keep(store_target);
  hear();
}
static void keep_storing_second_half(void) {
  keep(store_second_half);
  hear();
}
static void keep_adding(void) {
  keep(add_target);
  hear();
}
static void hear_and_load(void) {
  hear();
  load(target);
}
static void hear_and_store(void) {
  hear();
  store(target);
}
static void take_imm_and_load(void) {
  post_receive(1, inbox, 8);
  wait_receive(1);
  load(target);
}
/* The peer says that it wants to write; the program says that it may. */
static void ask_and_write(void) {
  hear();
  write_some();
  tell();
}
static void store_and_allow(void) {
  store(target);
  tell();
  hear();
  load(target);
}
/* A device against a device: the peer writes where an answer of its own READ goes. */
static void read_into_target(void) {
  for (uint64_t i = 0; i < 10; ++i) {
    post_read(i, target, kBytes, 0);
    wait_send(i);
  }
  hear();
}

/* --- hybrid: order by something that no device takes part in ---------------------------------- */

static int in_pipe(const char* mode) {
  FILE* file = fopen(getenv("RACES_FIFO"), mode);
  int byte = 1;
  MUST(file != 0);
  if (mode[0] == 'w') MUST(fputc(byte, file) == byte);
  if (mode[0] == 'r') MUST(fgetc(file) == byte);
  fclose(file);
  return byte;
}
static void write_and_pipe(void) {
  write_some();
  in_pipe("w");
  tell();
}
static void pipe_and_load(void) {
  in_pipe("r");
  load(target);
  hear();
}

/* --------------------------------------------------------------------------------------------- */

enum Label { kConflict, kSynchronised, kAtomic, kHybridConflict, kHybrid };
static const char* const kLabels[] = {"conflict", "synchronised", "atomic", "hybrid-conflict",
                                      "hybrid"};

static const struct Case {
  const char* name;
  enum Label label;
  void (*client)(void);
  void (*server)(void);
  int shared;
} kCases[] = {
    {"send_store", kConflict, send_store, take_one, 0},
    {"send_store_after", kSynchronised, send_store_after, take_one, 0},
    {"send_load", kSynchronised, send_load, take_one, 0},
    {"send_store_last_byte", kConflict, send_store_last_byte, take_one, 0},
    {"send_store_beyond", kSynchronised, send_store_beyond, take_one, 0},
    {"send_inline_store", kSynchronised, send_inline_store, take_one, 0},
    {"send_unsignaled_store", kConflict, send_unsignaled_store, take_two, 0},
    {"send_unsignaled_store_after", kSynchronised, send_unsignaled_store_after, take_two, 0},
    {"send_wrong_completion", kConflict, send_wrong_completion, take_two, 0},
    {"send_ring", kSynchronised, send_ring, take_ring, 0},
    {"send_ring_overrun", kConflict, send_ring_overrun, take_ring, 0},
    {"thread_stores", kConflict, thread_stores, take_one, 0},
    {"thread_stores_after", kSynchronised, thread_stores_after, take_one, 0},
    {"thread_loads", kConflict, send_one, thread_loads, 0},
    {"thread_loads_after", kSynchronised, send_one, thread_loads_after, 0},
    {"thread_polls", kSynchronised, send_one, thread_polls, 0},
    {"thread_polls_and_signals", kHybrid, send_one, thread_polls_and_signals, 0},
    {"thread_polls_and_releases", kHybrid, send_one, thread_polls_and_releases, 0},
    {"thread_polls_relaxed", kHybridConflict, send_one, thread_polls_relaxed, 0},
    {"receive_load", kConflict, send_one, receive_load, 0},
    {"receive_store", kConflict, send_one, receive_store, 0},
    {"receive_load_after", kSynchronised, send_one, receive_load_after, 0},
    {"receive_load_other", kSynchronised, send_one, receive_load_other, 0},
    {"receive_second_too_early", kConflict, send_two, receive_second_too_early, 0},
    {"receive_second_after", kSynchronised, send_two, receive_second_after, 0},
    {"receive_repost_load", kConflict, send_two, receive_repost_load, 0},
    {"receive_copy_repost", kSynchronised, send_two, receive_copy_repost, 0},
    {"receive_free", kConflict, nothing, receive_free, 0},
    {"receive_destroy_free", kSynchronised, nothing, receive_destroy_free, 0},
    {"shared_receive_load", kConflict, send_one, receive_load, 1},
    {"shared_receive_load_after", kSynchronised, send_one, receive_load_after, 1},
    {"shared_receive_copy_repost", kSynchronised, send_two, receive_copy_repost, 1},
    {"write_store", kConflict, write_store, just_hear, 0},
    {"write_store_after", kSynchronised, write_store_after, just_hear, 0},
    {"read_load", kConflict, read_load, just_hear, 0},
    {"read_load_after", kSynchronised, read_load_after, just_hear, 0},
    {"read_store", kConflict, read_store, just_hear, 0},
    {"read_load_beyond", kSynchronised, read_load_beyond, just_hear, 0},
    {"atomic_load_result", kConflict, atomic_load_result, just_hear, 0},
    {"atomic_load_result_after", kAtomic, atomic_load_result_after, just_hear, 0},
    {"target_load", kConflict, write_repeatedly, keep_loading, 0},
    {"target_store", kConflict, write_repeatedly, keep_storing, 0},
    {"target_store_beyond", kSynchronised, write_half_repeatedly, keep_storing_second_half, 0},
    {"target_load_after", kSynchronised, write_and_tell, hear_and_load, 0},
    {"target_load_after_imm", kSynchronised, write_with_imm, take_imm_and_load, 0},
    {"target_by_turns", kSynchronised, ask_and_write, store_and_allow, 0},
    {"source_store", kConflict, read_repeatedly, keep_storing, 0},
    {"source_load", kSynchronised, read_repeatedly, keep_loading, 0},
    {"source_store_after", kSynchronised, read_and_tell, hear_and_store, 0},
    {"atomic_add", kAtomic, add_repeatedly, keep_adding, 0},
    {"atomic_load", kConflict, add_repeatedly, keep_loading, 0},
    {"atomic_store", kConflict, add_repeatedly, keep_storing, 0},
    {"atomic_load_after", kAtomic, add_and_tell, hear_and_load, 0},
    {"device_against_device", kConflict, write_repeatedly, read_into_target, 0},
    {"pipe_and_load", kHybrid, write_and_pipe, pipe_and_load, 0},
    {"messages_only", kSynchronised, just_tell, just_hear, 0},
};

int main(int count, char** words) {
  if (count == 2 && strcmp(words[1], "list") == 0) {
    for (unsigned i = 0; i < sizeof kCases / sizeof kCases[0]; ++i)
      printf("%s %s\n", kLabels[kCases[i].label], kCases[i].name);
    return 0;
  }
  if (count != 4) return 2;
  for (unsigned i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) {
    const struct Case* each = &kCases[i];
    const int is_client = strcmp(words[2], "client") == 0;
    if (strcmp(each->name, words[1]) != 0) continue;
    connect_pair(is_client, words[3], each->shared && !is_client);
    (is_client ? each->client : each->server)();
    disconnect_pair();
    printf("done\n");
    return 0;
  }
  return 2;
}
