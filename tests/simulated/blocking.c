// One call each that blocks in the kernel until a child does something after 1 ms, or until its
// timeout of 5 ms. Prints what the call returned, and after how many tenths of a millisecond.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct letter {
  long type;
  char text[8];
};

static int queue;
static mqd_t posix_queue;
static int ends[2];
static struct sockaddr_un place = {.sun_family = AF_UNIX};

static void after_a_millisecond(void (*deed)(void)) {
  if (fork() != 0) return;
  const struct timespec millisecond = {0, 1000000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &millisecond, NULL);
  deed();
  _exit(0);
}

static void send_letter(void) {
  const struct letter letter = {1, "text"};
  msgsnd(queue, &letter, sizeof letter.text, 0);
}

static long take_letter(void) {
  struct letter letter;
  queue = msgget(IPC_PRIVATE, 0600);
  after_a_millisecond(send_letter);
  const long result = msgrcv(queue, &letter, sizeof letter.text, 0, 0);
  msgctl(queue, IPC_RMID, NULL);
  return result;
}

static void raise_semaphore(void) {
  struct sembuf up = {0, 1, 0};
  semop(queue, &up, 1);
}

static long lower_semaphore(const struct timespec* timeout, void (*deed)(void)) {
  struct sembuf down = {0, -1, 0};
  queue = semget(IPC_PRIVATE, 1, 0600);
  if (deed != NULL) after_a_millisecond(deed);
  const long result = semtimedop(queue, &down, 1, timeout);
  const int error = errno;
  semctl(queue, 0, IPC_RMID);
  errno = error;
  return result;
}

static long wait_for_semaphore(void) {
  return lower_semaphore(NULL, raise_semaphore);
}

static long wait_for_semaphore_in_vain(void) {
  const struct timespec timeout = {0, 5000000};
  return lower_semaphore(&timeout, NULL);
}

static void open_queue(const char* name, long room) {
  struct mq_attr attributes = {.mq_maxmsg = room, .mq_msgsize = 64};
  mq_unlink(name);
  posix_queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
  mq_unlink(name);
}

static void post(void) {
  mq_send(posix_queue, "x", 1, 0);
}
static void unpost(void) {
  char text[64];
  mq_receive(posix_queue, text, sizeof text, NULL);
}

static long receive_posted(void) {
  char text[64];
  open_queue("/blocking-receive", 1);
  after_a_millisecond(post);
  return mq_receive(posix_queue, text, sizeof text, NULL);
}

static long receive_for_ever(void) {
  char text[64];
  open_queue("/blocking-for-ever", 1);
  return mq_receive(posix_queue, text, sizeof text, NULL);
}

static long receive_posted_in_vain(void) {
  char text[64];
  struct timespec until;
  open_queue("/blocking-vain", 1);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 5000000;
  return mq_timedreceive(posix_queue, text, sizeof text, NULL, &until);
}

static long post_to_a_full_queue(void) {
  open_queue("/blocking-full", 1);
  post();
  after_a_millisecond(unpost);
  return mq_send(posix_queue, "x", 1, 0);
}

static void ignore(int signal) {
  (void)signal;
}

static long pause_until_posted(void) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  signal(SIGUSR1, ignore);
  open_queue("/blocking-notify", 1);
  mq_notify(posix_queue, &event);
  after_a_millisecond(post);
  return pause();
}

static void write_to_pipe(void) {
  if (write(ends[1], "abc", 3) != 3) abort();
}

static long tee_from_an_empty_pipe(void) {
  int others[2];
  if (pipe(ends) != 0 || pipe(others) != 0) abort();
  after_a_millisecond(write_to_pipe);
  return tee(ends[0], others[1], 100, 0);
}

static long read_a_vector_from_an_empty_pipe(void) {
  char text[8];
  const struct iovec into = {text, sizeof text};
  if (pipe(ends) != 0) abort();
  after_a_millisecond(write_to_pipe);
  return preadv2(ends[0], &into, 1, -1, 0);
}

static long splice_from_an_empty_pipe(void) {
  int others[2];
  if (pipe(ends) != 0 || pipe(others) != 0) abort();
  after_a_millisecond(write_to_pipe);
  return splice(ends[0], NULL, others[1], NULL, 100, 0);
}

static void accept_one(void) {
  accept(queue, NULL, NULL);
}

static long connect_to_a_full_backlog(void) {
  snprintf(place.sun_path, sizeof place.sun_path, "/tmp/blocking.%d", getpid());
  unlink(place.sun_path);
  queue = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(queue, (struct sockaddr*)&place, sizeof place) != 0 || listen(queue, 0) != 0) abort();
  const int first = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(first, (struct sockaddr*)&place, sizeof place) != 0) abort();
  after_a_millisecond(accept_one);
  const int second = socket(AF_UNIX, SOCK_STREAM, 0);
  const long result = connect(second, (struct sockaddr*)&place, sizeof place);
  unlink(place.sun_path);
  return result;
}

static const struct {
  const char* name;
  long (*run)(void);
} calls[] = {
    {"msgrcv", take_letter},
    {"semop", wait_for_semaphore},
    {"semtimedop", wait_for_semaphore_in_vain},
    {"mq_receive", receive_posted},
    {"mq_receive-for-ever", receive_for_ever},
    {"mq_timedreceive", receive_posted_in_vain},
    {"mq_send", post_to_a_full_queue},
    {"mq_notify", pause_until_posted},
    {"tee", tee_from_an_empty_pipe},
    {"splice", splice_from_an_empty_pipe},
    {"preadv2", read_a_vector_from_an_empty_pipe},
    {"connect", connect_to_a_full_backlog},
};

static long tenths(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 10000 + now.tv_nsec / 100000;
}

int main(int argc, char** argv) {
  for (size_t i = 0; argc == 2 && i < sizeof calls / sizeof *calls; ++i) {
    if (strcmp(argv[1], calls[i].name) != 0) continue;
    const long begin = tenths();
    errno = 0;
    const long result = calls[i].run();
    const char* const error = result < 0 ? strerror(errno) : "no error";
    printf("%ld, %s, after %ld\n", result, error, tenths() - begin);
    while (wait(NULL) > 0) continue;
    return 0;
  }
  return 2;
}
