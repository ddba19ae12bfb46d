// One case each of further objects that end a wait: POSIX semaphores, full backlogs, inotify,
// descriptors of processes, sealed memory, queued signals, robust locks, locks with priority
// inheritance, and several futexes at once. Linux 6.18 printed kinds.txt; the time, in tenths of a
// millisecond, is only in the output.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/simulated/cases.h"

static int ends[2];

static void* shared(size_t size) {
  void* const memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, "mmap");
  return memory;
}

static struct timespec in_ms(clockid_t clock, long ms) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += ms * 1000000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    ++time.tv_sec;
  }
  return time;
}

/// Of functions that return an error instead of setting errno.
static long by_error(int error) {
  errno = error;
  return error == 0 ? 0 : -1;
}

static void no_handler(int number) {
  (void)number;
}

// --- POSIX semaphores ---------------------------------------------------------------------------

static sem_t* semaphore;
static void raise_it(void) {
  sem_post(semaphore);
}
static void make_semaphore(void) {
  semaphore = shared(sizeof *semaphore);
  check(sem_init(semaphore, 1, 0) == 0, "sem_init");
}
static long semaphore_of_two_processes(void) {
  make_semaphore();
  after(1000, raise_it);
  return sem_wait(semaphore);
}
static long semaphore_by_name(void) {
  char name[32];
  snprintf(name, sizeof name, "/kinds.%d", getpid());
  semaphore = sem_open(name, O_CREAT, 0600, 0);
  check(semaphore != SEM_FAILED, "sem_open");
  after(1000, raise_it);
  const long result = sem_wait(semaphore);
  sem_unlink(name);
  return result;
}
static long semaphore_in_vain(void) {
  make_semaphore();
  const struct timespec end = in_ms(CLOCK_REALTIME, 5);
  return sem_timedwait(semaphore, &end);
}
static long semaphore_in_vain_by_clock(void) {
  make_semaphore();
  const struct timespec end = in_ms(CLOCK_MONOTONIC, 5);
  return sem_clockwait(semaphore, CLOCK_MONOTONIC, &end);
}
static void send_usr1(void) {
  kill(getppid(), SIGUSR1);
}
static long semaphore_until_a_signal(void) {
  const struct sigaction action = {.sa_handler = no_handler};
  sigaction(SIGUSR1, &action, NULL);
  make_semaphore();
  after(1000, send_usr1);
  return sem_wait(semaphore);
}
static long semaphore_that_is_zero(void) {
  make_semaphore();
  return sem_trywait(semaphore);
}

// --- backlogs of Unix sockets -------------------------------------------------------------------

static struct sockaddr_un place;
static int listener;

static int local(int type) {
  const int fd = socket(AF_UNIX, type, 0);
  check(fd >= 0, "socket");
  return fd;
}
static long connect_to_it(int fd) {
  return connect(fd, (struct sockaddr*)&place, sizeof place);
}
/// Listens at an abstract address whose backlog is full.
static void fill_backlog(int type) {
  place = (struct sockaddr_un){.sun_family = AF_UNIX};
  snprintf(place.sun_path + 1, sizeof place.sun_path - 1, "kinds.%d", getpid());
  listener = local(type);
  check(bind(listener, (struct sockaddr*)&place, sizeof place) == 0, "bind");
  check(listen(listener, 0) == 0, "listen");
  check(connect_to_it(local(type)) == 0, "the first");
}
static void accept_one(void) {
  check(accept(listener, NULL, NULL) >= 0, "accept");
}
static long backlog_of_streams(void) {
  fill_backlog(SOCK_STREAM);
  after(1000, accept_one);
  return connect_to_it(local(SOCK_STREAM));
}
static long backlog_of_packets(void) {
  fill_backlog(SOCK_SEQPACKET);
  after(1000, accept_one);
  return connect_to_it(local(SOCK_SEQPACKET));
}
static long backlog_without_waiting(void) {
  fill_backlog(SOCK_STREAM);
  return connect_to_it(local(SOCK_STREAM | SOCK_NONBLOCK));
}
static long backlog_in_vain(void) {
  fill_backlog(SOCK_STREAM);
  const int fd = local(SOCK_STREAM);
  const struct timeval limit = {0, 5000};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  return connect_to_it(fd);
}
static long backlog_until_a_signal(void) {
  const struct sigaction action = {.sa_handler = no_handler};
  sigaction(SIGUSR1, &action, NULL);
  fill_backlog(SOCK_STREAM);
  after(1000, send_usr1);
  return connect_to_it(local(SOCK_STREAM));
}
static long backlog_of_who_goes(void) {
  fill_backlog(SOCK_STREAM);
  const pid_t child = fork();
  if (child == 0) {
    close(listener);
    const long result = connect_to_it(local(SOCK_STREAM));
    _exit(result == -1 ? errno : 0);
  }
  let_pass(1000);
  close(listener);
  int status = 0;
  check(waitpid(child, &status, 0) == child, "waitpid");
  return by_error(WEXITSTATUS(status));
}

// --- inotify ------------------------------------------------------------------------------------

static char folder[] = "/tmp/kinds.XXXXXX";
static int watch_folder(unsigned mask) {
  check(mkdtemp(folder) != NULL && chdir(folder) == 0, "mkdtemp");
  const int fd = inotify_init1(IN_CLOEXEC);
  check(inotify_add_watch(fd, folder, mask) >= 0, "inotify_add_watch");
  return fd;
}
static long mask_read(int fd) {
  char events[512] __attribute__((aligned(8)));
  const long size = read(fd, events, sizeof events);
  while (wait(NULL) > 0) continue;
  rmdir(folder);
  return size > 0 ? (long)((const struct inotify_event*)events)->mask : size;
}
static void make_and_remove(void) {
  check(close(creat("file", 0600)) == 0 && unlink("file") == 0, "file");
}
static void make_and_move(void) {
  check(close(creat("file", 0600)) == 0 && rename("file", "other") == 0, "file");
  unlink("other");
}
static void change_mode(void) {
  check(chmod(folder, 0500) == 0, "chmod");
}
static long watched_removal(void) {
  const int fd = watch_folder(IN_DELETE);
  after(1000, make_and_remove);
  return mask_read(fd);
}
static long watched_move(void) {
  const int fd = watch_folder(IN_MOVED_TO);
  after(1000, make_and_move);
  return mask_read(fd);
}
static long watched_by_poll(void) {
  struct pollfd wanted = {watch_folder(IN_CLOSE_WRITE), POLLIN, 0};
  after(1000, make_and_remove);
  check(poll(&wanted, 1, -1) == 1, "poll");
  return mask_read(wanted.fd);
}
static long watched_by_epoll(void) {
  const int fd = watch_folder(IN_CREATE);
  const int set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  check(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
  after(1000, make_and_remove);
  check(epoll_wait(set, &event, 1, -1) == 1, "epoll_wait");
  return mask_read(fd);
}
static long watched_mode(void) {
  const int fd = watch_folder(IN_ATTRIB);
  after(1000, change_mode);
  return mask_read(fd);
}
static long watched_in_vain(void) {
  const int fd = watch_folder(IN_CREATE);
  struct pollfd wanted = {fd, POLLIN, 0};
  const long result = poll(&wanted, 1, 5);
  rmdir(folder);
  return result;
}

// --- descriptors of processes -------------------------------------------------------------------

static int descriptor_of(pid_t child) {
  const int fd = pidfd_open(child, 0);
  check(fd >= 0, "pidfd_open");
  return fd;
}
static long process_by_epoll(void) {
  const int fd = descriptor_of(after(1000, NULL));
  const int set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  check(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
  return epoll_wait(set, &event, 1, -1);
}
static long process_that_lives(void) {
  const int fd = descriptor_of(after(3000, NULL));
  siginfo_t info = {0};
  check(waitid(P_PIDFD, (id_t)fd, &info, WEXITED | WNOHANG) == 0, "waitid");
  check(info.si_pid == 0, "it lives");
  struct pollfd wanted = {fd, POLLIN, 0};
  check(poll(&wanted, 1, 1) == 0, "poll");
  check(waitid(P_PIDFD, (id_t)fd, &info, WEXITED) == 0, "waitid");
  return info.si_status;
}
/// Of a process that is no child: it can be polled, and not waited for.
static long process_of_another(void) {
  check(pipe(ends) == 0, "pipe");
  if (fork() == 0) {
    const pid_t child = after(2000, NULL);
    check(write(ends[1], &child, sizeof child) == sizeof child, "write");
    (void)waitpid(child, NULL, 0);
    _exit(0);
  }
  pid_t other = 0;
  check(read(ends[0], &other, sizeof other) == sizeof other, "read");
  struct pollfd wanted = {descriptor_of(other), POLLIN, 0};
  check(poll(&wanted, 1, -1) == 1, "poll");
  siginfo_t info;
  return waitid(P_PIDFD, (id_t)wanted.fd, &info, WEXITED);
}
static long process_asked_for_its_descriptor(void) {
  check(pipe(ends) == 0, "pipe");
  const int fd = descriptor_of(after(3000, NULL));
  const int end = (int)syscall(SYS_pidfd_getfd, fd, ends[1], 0);
  check(end >= 0 && write(end, "abc", 3) == 3, "pidfd_getfd");
  char text[8];
  return read(ends[0], text, sizeof text);
}
static long process_that_was_waited_for(void) {
  const pid_t child = after(0, NULL);
  const int fd = descriptor_of(child);
  check(waitpid(child, NULL, 0) == child, "waitpid");
  return pidfd_send_signal(fd, SIGTERM, NULL, 0);
}
static long process_sent_a_value(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  const pid_t child = fork();
  if (child == 0) {
    siginfo_t info;
    _exit(sigwaitinfo(&set, &info) == SIGUSR1 ? info.si_value.sival_int : 1);
  }
  let_pass(1000);
  siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
  info.si_value.sival_int = 42;
  check(pidfd_send_signal(descriptor_of(child), SIGUSR1, &info, 0) == 0, "pidfd_send_signal");
  int status = 0;
  check(waitpid(child, &status, 0) == child, "waitpid");
  return WEXITSTATUS(status);
}

// --- sealed memory ------------------------------------------------------------------------------

static int memory_with(int seals) {
  const int fd = memfd_create("kinds", MFD_ALLOW_SEALING);
  check(ftruncate(fd, 4096) == 0 && write(fd, "abc", 3) == 3, "memfd");
  check(fcntl(fd, F_ADD_SEALS, seals) == 0, "F_ADD_SEALS");
  return fd;
}
static long sealed_against_growth(void) {
  return ftruncate(memory_with(F_SEAL_GROW), 8192);
}
static long sealed_against_loss(void) {
  return ftruncate(memory_with(F_SEAL_SHRINK), 100);
}
static long sealed_against_seals(void) {
  return fcntl(memory_with(F_SEAL_SEAL), F_ADD_SEALS, F_SEAL_WRITE);
}
static long sealed_for_later_writers(void) {
  const int fd = memfd_create("kinds", MFD_ALLOW_SEALING);
  check(ftruncate(fd, 4096) == 0, "ftruncate");
  char* const text = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  check(text != MAP_FAILED, "mmap");
  check(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0, "F_ADD_SEALS");
  text[0] = 'x';
  char read_back = 0;
  check(pread(fd, &read_back, 1, 0) == 1 && read_back == 'x', "written");
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0;
}
static long sealed_while_mapped(void) {
  const int fd = memfd_create("kinds", MFD_ALLOW_SEALING);
  check(ftruncate(fd, 4096) == 0, "ftruncate");
  check(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED, "mmap");
  return fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE);
}
static long sealed_by_default(void) {
  return fcntl(memfd_create("kinds", 0), F_GET_SEALS);
}

// --- signals that are queued --------------------------------------------------------------------

static sigset_t block(int first, int second) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, first);
  sigaddset(&set, second);
  sigprocmask(SIG_BLOCK, &set, NULL);
  return set;
}
static int value_of_next(const sigset_t* set) {
  siginfo_t info;
  const struct timespec limit = {0, 5000000};
  return sigtimedwait(set, &info, &limit) < 0 ? -1 : info.si_value.sival_int;
}
static void queue_backwards(void) {
  for (int i = 3; i > 0; --i)
    sigqueue(getppid(), SIGRTMIN + (i == 1), (union sigval){.sival_int = i});
}
static long queued_lowest_first(void) {
  const sigset_t set = block(SIGRTMIN, SIGRTMIN + 1);
  after(1000, queue_backwards);
  let_pass(2000);
  long values = 0;
  for (int i = 0; i < 3; ++i) values = 10 * values + value_of_next(&set);
  return values;
}
static void queue_twice(void) {
  for (int i = 1; i <= 2; ++i) sigqueue(getppid(), SIGUSR1, (union sigval){.sival_int = i});
}
static long queued_only_once(void) {
  const sigset_t set = block(SIGUSR1, SIGUSR1);
  after(1000, queue_twice);
  let_pass(2000);
  check(value_of_next(&set) == 1, "the first");
  return value_of_next(&set);
}
static long queued_up_to_a_limit(void) {
  (void)block(SIGRTMIN, SIGRTMIN);
  struct rlimit limit = {0, 0};
  check(setrlimit(RLIMIT_SIGPENDING, &limit) == 0, "setrlimit");
  return sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 1});
}
static volatile sig_atomic_t values;
static void note_value(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  values = 10 * values + info->si_value.sival_int;
}
static long queued_for_a_handler(void) {
  struct sigaction action = {.sa_sigaction = note_value, .sa_flags = SA_SIGINFO};
  sigfillset(&action.sa_mask);
  sigaction(SIGRTMIN, &action, NULL);
  sigaction(SIGRTMIN + 1, &action, NULL);
  const sigset_t set = block(SIGRTMIN, SIGRTMIN + 1);
  check(waitpid(after(1000, queue_backwards), NULL, 0) > 0, "waitpid");
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  return values;
}
static void* queue_for_thread(void* thread) {
  let_pass(1000);
  pthread_sigqueue(*(pthread_t*)thread, SIGRTMIN, (union sigval){.sival_int = 9});
  return NULL;
}
static long queued_for_a_thread(void) {
  const sigset_t set = block(SIGRTMIN, SIGRTMIN);
  pthread_t self = pthread_self();
  pthread_t other;
  check(pthread_create(&other, NULL, queue_for_thread, &self) == 0, "pthread_create");
  siginfo_t info;
  check(sigwaitinfo(&set, &info) == SIGRTMIN, "sigwaitinfo");
  pthread_join(other, NULL);
  return info.si_value.sival_int;
}
/// Signals that have no effect by default can be waited for.
static long queued_without_effect(void) {
  const sigset_t set = block(SIGCHLD, SIGWINCH);
  after(1000, NULL);
  int number = 0;
  check(sigwait(&set, &number) == 0, "sigwait");
  return number;
}
static long queued_in_vain(void) {
  const sigset_t set = block(SIGRTMIN, SIGRTMIN);
  const struct timespec limit = {0, 5000000};
  return sigtimedwait(&set, NULL, &limit);
}

// --- locks --------------------------------------------------------------------------------------

static pthread_mutex_t* lock;
static void make_lock(int robust, int protocol) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&kind, robust);
  pthread_mutexattr_setprotocol(&kind, protocol);
  lock = shared(sizeof *lock);
  check(pthread_mutex_init(lock, &kind) == 0, "pthread_mutex_init");
}
/// A child has the lock for that long, and then ends with it, or gives it back.
static void let_child_have_it(long microseconds, int give_back) {
  check(pipe(ends) == 0, "pipe");
  if (fork() == 0) {
    pthread_mutex_lock(lock);
    check(write(ends[1], "x", 1) == 1, "write");
    let_pass(microseconds);
    if (give_back) pthread_mutex_unlock(lock);
    _exit(0);
  }
  char text;
  check(read(ends[0], &text, 1) == 1, "read");
}
static long lock_of_the_dead(void) {
  make_lock(PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
  let_child_have_it(1000, 0);
  return by_error(pthread_mutex_lock(lock));
}
static long lock_of_the_dead_with_inheritance(void) {
  make_lock(PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_INHERIT);
  let_child_have_it(1000, 0);
  return by_error(pthread_mutex_lock(lock));
}
static long lock_made_consistent(void) {
  make_lock(PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
  let_child_have_it(1000, 0);
  check(pthread_mutex_lock(lock) == EOWNERDEAD, "lock");
  check(pthread_mutex_consistent(lock) == 0 && pthread_mutex_unlock(lock) == 0, "consistent");
  return by_error(pthread_mutex_lock(lock));
}
static long lock_left_inconsistent(void) {
  make_lock(PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
  let_child_have_it(1000, 0);
  check(pthread_mutex_lock(lock) == EOWNERDEAD && pthread_mutex_unlock(lock) == 0, "lock");
  return by_error(pthread_mutex_lock(lock));
}
static long lock_in_time(void) {
  make_lock(PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
  let_child_have_it(1000, 0);
  const struct timespec end = in_ms(CLOCK_REALTIME, 50);
  return by_error(pthread_mutex_timedlock(lock, &end));
}
static long lock_with_inheritance(void) {
  make_lock(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
  let_child_have_it(1000, 1);
  return by_error(pthread_mutex_lock(lock));
}
static long lock_with_inheritance_in_vain(void) {
  make_lock(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
  let_child_have_it(9000, 1);
  const struct timespec end = in_ms(CLOCK_REALTIME, 5);
  return by_error(pthread_mutex_timedlock(lock, &end));
}
static long lock_with_inheritance_by_clock(void) {
  make_lock(PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_INHERIT);
  let_child_have_it(1000, 1);
  const struct timespec end = in_ms(CLOCK_MONOTONIC, 50);
  return by_error(pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &end));
}
static long lock_that_is_taken(void) {
  make_lock(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
  let_child_have_it(1000, 1);
  return by_error(pthread_mutex_trylock(lock));
}
static long lock_that_is_own(void) {
  make_lock(PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
  check(pthread_mutex_lock(lock) == 0, "lock");
  return syscall(SYS_futex, lock, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
}

// --- several futexes at once --------------------------------------------------------------------

#ifndef FUTEX_WAITV_MAX  // of the headers of Linux 5.16
enum { FUTEX_WAITV_MAX = 128, FUTEX_32 = 2 };
struct futex_waitv {
  uint64_t val;
  uint64_t uaddr;
  uint32_t flags;
  uint32_t __reserved;
};
#endif

static uint32_t* words;  // of all processes
static struct futex_waitv wanted_words[FUTEX_WAITV_MAX + 1];

static long wait_for_words(unsigned count, clockid_t clock, const struct timespec* end) {
  return syscall(449, wanted_words, count, 0, end, clock);  // futex_waitv
}
static void make_words(void) {
  words = shared(sizeof *words * (FUTEX_WAITV_MAX + 1));
  for (int i = 0; i <= FUTEX_WAITV_MAX; ++i)
    wanted_words[i] = (struct futex_waitv){.uaddr = (uintptr_t)(words + i), .flags = FUTEX_32};
}
static void wake_third(void) {
  words[2] = 1;
  syscall(SYS_futex, words + 2, FUTEX_WAKE, 1, NULL, NULL, 0);
}
static long words_of_which_one_wakes(void) {
  make_words();
  after(1000, wake_third);
  return wait_for_words(4, CLOCK_MONOTONIC, NULL);
}
static long words_as_many_as_can_be(void) {
  make_words();
  after(1000, wake_third);
  return wait_for_words(FUTEX_WAITV_MAX, CLOCK_MONOTONIC, NULL);
}
static long words_too_many(void) {
  make_words();
  return wait_for_words(FUTEX_WAITV_MAX + 1, CLOCK_MONOTONIC, NULL);
}
static void* wake_private_word(void* word) {
  let_pass(1000);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  return NULL;
}
static long words_of_a_process(void) {
  make_words();
  for (int i = 0; i < 2; ++i) wanted_words[i].flags |= FUTEX_PRIVATE_FLAG;
  pthread_t other;
  check(pthread_create(&other, NULL, wake_private_word, words + 1) == 0, "pthread_create");
  return wait_for_words(2, CLOCK_MONOTONIC, NULL);
}
static long words_in_vain(void) {
  make_words();
  const struct timespec end = in_ms(CLOCK_MONOTONIC, 5);
  return wait_for_words(3, CLOCK_MONOTONIC, &end);
}
static long words_in_vain_by_date(void) {
  make_words();
  const struct timespec end = in_ms(CLOCK_REALTIME, 5);
  return wait_for_words(3, CLOCK_REALTIME, &end);
}
static long words_that_have_changed(void) {
  make_words();
  words[1] = 5;
  return wait_for_words(3, CLOCK_MONOTONIC, NULL);
}
static long words_until_a_signal(void) {
  const struct sigaction action = {.sa_handler = no_handler};
  sigaction(SIGUSR1, &action, NULL);
  make_words();
  after(1000, send_usr1);
  return wait_for_words(3, CLOCK_MONOTONIC, NULL);
}
/// A word that is waited for twice, and not in vain afterwards.
static long words_left_behind(void) {
  make_words();
  wanted_words[1].uaddr = wanted_words[0].uaddr;
  const struct timespec end = in_ms(CLOCK_MONOTONIC, 1);
  check(wait_for_words(2, CLOCK_MONOTONIC, &end) == -1, "in vain");
  return syscall(SYS_futex, words, FUTEX_WAKE, 9, NULL, NULL, 0);
}
static long words_of_another_size(void) {
  make_words();
  wanted_words[1].flags = 0;  // bytes
  return wait_for_words(2, CLOCK_MONOTONIC, NULL);
}

static const struct one_case cases[] = {
    CASE(semaphore_of_two_processes),
    CASE(semaphore_by_name),
    CASE(semaphore_in_vain),
    CASE(semaphore_in_vain_by_clock),
    CASE(semaphore_until_a_signal),
    CASE(semaphore_that_is_zero),
    CASE(backlog_of_streams),
    CASE(backlog_of_packets),
    CASE(backlog_without_waiting),
    CASE(backlog_in_vain),
    CASE(backlog_until_a_signal),
    CASE(backlog_of_who_goes),
    CASE(watched_removal),
    CASE(watched_move),
    CASE(watched_by_poll),
    CASE(watched_by_epoll),
    CASE(watched_mode),
    CASE(watched_in_vain),
    CASE(process_by_epoll),
    CASE(process_that_lives),
    CASE(process_of_another),
    CASE(process_asked_for_its_descriptor),
    CASE(process_that_was_waited_for),
    CASE(process_sent_a_value),
    CASE(sealed_against_growth),
    CASE(sealed_against_loss),
    CASE(sealed_against_seals),
    CASE(sealed_for_later_writers),
    CASE(sealed_while_mapped),
    CASE(sealed_by_default),
    CASE(queued_lowest_first),
    CASE(queued_only_once),
    CASE(queued_up_to_a_limit),
    CASE(queued_for_a_handler),
    CASE(queued_for_a_thread),
    CASE(queued_without_effect),
    CASE(queued_in_vain),
    CASE(lock_of_the_dead),
    CASE(lock_of_the_dead_with_inheritance),
    CASE(lock_made_consistent),
    CASE(lock_left_inconsistent),
    CASE(lock_in_time),
    CASE(lock_with_inheritance),
    CASE(lock_with_inheritance_in_vain),
    CASE(lock_with_inheritance_by_clock),
    CASE(lock_that_is_taken),
    CASE(lock_that_is_own),
    CASE(words_of_which_one_wakes),
    CASE(words_as_many_as_can_be),
    CASE(words_too_many),
    CASE(words_of_a_process),
    CASE(words_in_vain),
    CASE(words_in_vain_by_date),
    CASE(words_that_have_changed),
    CASE(words_until_a_signal),
    CASE(words_left_behind),
    CASE(words_of_another_size),
};

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run_cases(cases, sizeof cases / sizeof *cases, argv[i]);
  return 0;
}
