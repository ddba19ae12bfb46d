// What a program can find out about objects of the kernel: random numbers, descriptors, sockets,
// System V objects, processes and threads.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/simulated/probe.h"

void random_numbers(void) {
  unsigned char bytes[8] = {0};
  int pipes[2];
  print_bytes("getrandom", bytes, syscall(SYS_getrandom, bytes, sizeof bytes, 0));
  const int fd = open("/dev/urandom", O_RDONLY);
  print_bytes("read", bytes, read(fd, bytes, sizeof bytes));
  print_bytes("pread", bytes, pread(fd, bytes, sizeof bytes, 0));
  if (pipe(pipes) != 0) return;
  const long moved = splice(fd, NULL, pipes[1], NULL, sizeof bytes, 0);
  print_bytes("splice", bytes, moved > 0 ? read(pipes[0], bytes, sizeof bytes) : moved);
  printf("mapped: %d\n", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED);
  print_file("/proc/sys/kernel/random/uuid");
  print_file("/proc/sys/kernel/random/boot_id");
  print_file("/proc/sys/kernel/random/entropy_avail");
}

static void print_descriptor(const char* what, int fd) {
  char path[64];
  printf("%s\n", what);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  print_link(path);
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  print_file(path);
}

void objects(void) {
  int pipes[2];
  sigset_t signals;
  struct itimerspec time = {.it_value = {.tv_sec = 1}};
  if (pipe(pipes) == 0) print_descriptor("pipe", pipes[0]);
  const int event = eventfd(0, 0);
  print_descriptor("event", event);
  const int waiter = epoll_create1(0);
  struct epoll_event wanted = {.events = EPOLLIN, .data = {.u64 = 7}};
  epoll_ctl(waiter, EPOLL_CTL_ADD, event, &wanted);
  print_descriptor("epoll", waiter);
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  print_descriptor("signals", signalfd(-1, &signals, 0));
  print_descriptor("changes", inotify_init());
  print_descriptor("memory", memfd_create("probe", 0));
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  timerfd_settime(timer, 0, &time, NULL);
  timerfd_gettime(timer, &time);
  printf("timer %ld.%09ld\n", (long)time.it_value.tv_sec, time.it_value.tv_nsec);
  const int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
  print_descriptor("process", process);
}

void sockets(void) {
  uint64_t cookie = 0;
  int cpu = 9;
  socklen_t size = sizeof cookie;
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  struct sockaddr_in address = {.sin_family = AF_INET};
  const int stream = socket(AF_INET, SOCK_STREAM, 0);
  print_descriptor("stream", stream);
  printf("cookie %d", getsockopt(stream, SOL_SOCKET, SO_COOKIE, &cookie, &size));
  size = sizeof cpu;
  printf(" %lu, processor %d", cookie,
         getsockopt(stream, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &size));
  printf(" %d\n", cpu);
  const int bound = bind(stream, (struct sockaddr*)&address, sizeof address);
  size = sizeof address;
  getsockname(stream, (struct sockaddr*)&address, &size);
  printf("bind %d, port %u\n", bound, ntohs(address.sin_port));
  for (int i = 0; i < 2; ++i) {
    const int nameless = socket(AF_UNIX, SOCK_DGRAM, 0);
    printf("bind %d", bind(nameless, (struct sockaddr*)&name, sizeof name.sun_family));
    struct sockaddr_un bound_name = {0};
    size = sizeof bound_name;
    getsockname(nameless, (struct sockaddr*)&bound_name, &size);
    printf(" to %s of %u bytes\n", bound_name.sun_path + 1, size);
  }
}

// --- System V objects ---------------------------------------------------------------------------

static void print_objects(int memory, int queue, int semaphores) {
  struct shmid_ds of_memory = {0};
  struct msqid_ds of_queue = {0};
  struct semid_ds of_semaphores = {0};
  print_result("shmctl", shmctl(memory, IPC_STAT, &of_memory));
  print_result("msgctl", msgctl(queue, IPC_STAT, &of_queue));
  print_result("semctl", semctl(semaphores, 0, IPC_STAT, &of_semaphores));
  printf("segment made %ld by %d, attached %ld, detached %ld\n", of_memory.shm_ctime,
         of_memory.shm_cpid, of_memory.shm_atime, of_memory.shm_dtime);
  printf("queue made %ld, sent %ld, received %ld by %d\n", of_queue.msg_ctime, of_queue.msg_stime,
         of_queue.msg_rtime, of_queue.msg_lrpid);
  printf("semaphores made %ld, operated on %ld\n", of_semaphores.sem_ctime,
         of_semaphores.sem_otime);
}

void ipc(void) {
  struct {
    long kind;
    char text[4];
  } message = {.kind = 1};
  struct sembuf up = {.sem_op = 1};
  const int memory = shmget(IPC_PRIVATE, 4096, 0600);
  const int queue = msgget(IPC_PRIVATE, 0600);
  const int semaphores = semget(IPC_PRIVATE, 1, 0600);
  printf("ids %d %d %d\n", memory, queue, semaphores);
  print_objects(memory, queue, semaphores);
  poll(NULL, 0, 2000);
  void* const at = shmat(memory, NULL, 0);
  msgsnd(queue, &message, sizeof message.text, 0);
  semop(semaphores, &up, 1);
  poll(NULL, 0, 2000);
  msgrcv(queue, &message, sizeof message.text, 0, 0);
  shmdt(at);
  print_objects(memory, queue, semaphores);
  struct msqid_ds changed = {0};
  msgctl(queue, IPC_STAT, &changed);
  poll(NULL, 0, 2000);
  print_result("change", msgctl(queue, IPC_SET, &changed));
  print_objects(memory, queue, semaphores);
  shmctl(memory, IPC_RMID, NULL);
  msgctl(queue, IPC_RMID, NULL);
  semctl(semaphores, 0, IPC_RMID);
}

// --- processes ---------------------------------------------------------------------------------

static void print_usage(const char* what, const struct rusage* usage) {
  printf("%s used %ld %ld %ld %ld %ld %ld\n", what, usage->ru_utime.tv_usec,
         usage->ru_stime.tv_usec, usage->ru_maxrss, usage->ru_minflt, usage->ru_nvcsw,
         usage->ru_nivcsw);
}

static void work(void) {
  volatile unsigned long sum = 0;
  for (unsigned long i = 0; i < 3000000; ++i) sum += i;
}

static void* thread(void* nothing) {
  struct timespec used = {0};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  printf("thread %ld at %p, stack %p, used %ld.%09ld\n", syscall(SYS_gettid), (void*)pthread_self(),
         (void*)&used, (long)used.tv_sec, used.tv_nsec);
  return nothing;
}

void processes(void) {
  struct rusage usage = {0};
  siginfo_t info = {0};
  int status = 0;
  pid_t child = fork();
  if (child == 0) work(), _exit(3);
  syscall(SYS_waitid, P_PID, child, &info, WEXITED, &usage);
  print_usage("waitid", &usage);
  child = fork();
  if (child == 0) work(), _exit(4);
  wait4(child, &status, 0, &usage);
  print_usage("wait4", &usage);
  struct tms used;
  times(&used);
  printf("of children %ld %ld\n", used.tms_cutime, used.tms_cstime);
  pthread_t one;
  if (pthread_create(&one, NULL, thread, NULL) == 0) pthread_join(one, NULL);
  volatile char* const pages =
      mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (long at = 0; at < 8 << 20; at += 4096) pages[at] = 1;
  struct rusage usage_now;
  getrusage(RUSAGE_SELF, &usage_now);
  print_usage("memory", &usage_now);
}
