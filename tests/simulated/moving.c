// One case each of calls that wait for pipes: data that the kernel moves by itself, and named pipes
// whose other end comes and goes. Linux 6.18 printed moving.txt.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "tests/simulated/cases.h"

enum { kMuch = 1 << 20 };

static int from[2];
static int to[2];
static char much[kMuch];

static void make_pipes(void) {
  check(pipe(from) == 0 && pipe(to) == 0, "pipe");
}

static void write_some(void) {
  check(write(from[1], "hello", 5) == 5, "write");
}

static void fill(int fd) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  while (write(fd, much, 4096) > 0) continue;
  fcntl(fd, F_SETFL, 0);
}

static void empty_target(void) {
  char some[65536];
  check(read(to[0], some, sizeof some) > 0, "read");
}

/// Until no other process has the other end.
static void read_all(void) {
  close(to[1]);
  while (read(to[0], much, sizeof much) > 0) continue;
}

static int file_of(long bytes) {
  const int fd = memfd_create("file", 0);
  check(fd >= 0 && ftruncate(fd, bytes) == 0, "memfd_create");
  return fd;
}

static void on_signal(int signal) {
  (void)signal;
}

/// Whether calls that a signal interrupts go on after it is `flags`'s to say.
static void expect_alarm(long microseconds, int flags) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
  sigaction(SIGALRM, &action, NULL);
  ualarm((useconds_t)microseconds, 0);
}

// --- data that the kernel moves -----------------------------------------------------------------

static long moved_by_splice(void) {
  make_pipes();
  after(1000, write_some);
  return splice(from[0], NULL, to[1], NULL, 100, 0);
}

static long moved_by_tee(void) {
  make_pipes();
  after(1000, write_some);
  return tee(from[0], to[1], 100, 0);
}

static long moved_by_vmsplice(void) {
  make_pipes();
  fill(to[1]);
  after(1000, empty_target);
  const struct iovec part = {much, 100};
  return vmsplice(to[1], &part, 1, 0);
}

static long moved_into_memory(void) {
  make_pipes();
  after(1000, write_some);
  const struct iovec part = {much, 100};
  return vmsplice(from[0], &part, 1, 0);
}

static long moved_by_sendfile(void) {
  make_pipes();
  fill(to[1]);
  after(1000, empty_target);
  return sendfile(to[1], file_of(100), NULL, 100);
}

static long moved_once_there_is_room(void) {
  make_pipes();
  fill(to[1]);
  check(write(from[1], "x", 1) == 1, "write");
  after(1000, empty_target);
  return splice(from[0], NULL, to[1], NULL, 100, 0);
}

/// All of it, though the socket takes a part at a time.
static long moved_to_a_socket(void) {
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, to) == 0, "socketpair");
  after(1000, read_all);
  const ssize_t sent = sendfile(to[1], file_of(kMuch), NULL, kMuch);
  close(to[1]);
  return sent;
}

static long moved_from_an_offset(void) {
  off_t offset = 1000;
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, to) == 0, "socketpair");
  after(1000, read_all);
  const ssize_t sent = sendfile(to[1], file_of(kMuch), &offset, kMuch);
  close(to[1]);
  return sent + offset;
}

static long moved_from_a_socket(void) {
  check(pipe(to) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, from) == 0, "socketpair");
  after(1000, write_some);
  return splice(from[0], NULL, to[1], NULL, 100, 0);
}

static void close_source(void) {
  close(from[1]);
}
static long moved_until_the_end(void) {
  make_pipes();
  after(1000, close_source);
  close(from[1]);
  return splice(from[0], NULL, to[1], NULL, 100, 0);
}

static long moved_in_vain(void) {
  make_pipes();
  return splice(from[0], NULL, to[1], NULL, 100, SPLICE_F_NONBLOCK);
}

static long moved_in_vain_by_file(void) {
  make_pipes();
  fill(to[1]);
  fcntl(to[1], F_SETFL, O_NONBLOCK);
  return sendfile(to[1], file_of(100), NULL, 100);
}

static long moved_until_a_signal(void) {
  make_pipes();
  expect_alarm(1000, 0);
  return splice(from[0], NULL, to[1], NULL, 100, 0);
}

static long moved_after_a_signal(void) {
  make_pipes();
  expect_alarm(1000, SA_RESTART);
  after(2000, write_some);
  return splice(from[0], NULL, to[1], NULL, 100, 0);
}

static long read_with_flags(void) {
  make_pipes();
  after(1000, write_some);
  const struct iovec part = {much, 100};
  return preadv2(from[0], &part, 1, -1, 0);
}

static long read_with_flags_in_vain(void) {
  make_pipes();
  const struct iovec part = {much, 100};
  return preadv2(from[0], &part, 1, -1, RWF_NOWAIT);
}

static long read_with_flags_until_a_signal(void) {
  make_pipes();
  expect_alarm(1000, 0);
  const struct iovec part = {much, 100};
  return preadv2(from[0], &part, 1, -1, 0);
}

static long written_with_flags_in_vain(void) {
  make_pipes();
  fill(to[1]);
  const struct iovec part = {much, 100};
  return pwritev2(to[1], &part, 1, -1, RWF_NOWAIT);
}

static long written_with_flags(void) {
  make_pipes();
  fill(to[1]);
  after(1000, empty_target);
  const struct iovec part = {much, 100};
  return pwritev2(to[1], &part, 1, -1, 0);
}

/// More than there is ever room for, in one call.
static long written_in_parts(void) {
  make_pipes();
  after(1000, read_all);
  const struct iovec parts[2] = {{much, kMuch / 4}, {much, kMuch / 2}};
  const ssize_t written = writev(to[1], parts, 2);
  close(to[1]);
  return written;
}

static long sent_in_parts(void) {
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, to) == 0, "socketpair");
  after(1000, read_all);
  struct iovec parts[2] = {{much, kMuch / 2}, {much, kMuch / 2}};
  const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  const ssize_t sent = sendmsg(to[1], &message, 0);
  close(to[1]);
  return sent;
}

// --- named pipes --------------------------------------------------------------------------------

static const char path[] = "pipe";
static char folder[] = "/tmp/anyrdma-moving.XXXXXX";

static void make_named_pipe(void) {
  check(mkdtemp(folder) == folder && chdir(folder) == 0 && mkfifo(path, 0600) == 0, "mkfifo");
}

static void remove_named_pipe(void) {
  const int error = errno;
  unlink(path);
  rmdir(folder);
  errno = error;
}

static void open_and_write(void) {
  const int fd = open(path, O_WRONLY);
  check(fd >= 0 && write(fd, "hello", 5) == 5, "write");
}

static void open_to_write(void) {
  check(open(path, O_WRONLY) >= 0, "open");
}

static void open_to_write_without_waiting(void) {
  check(open(path, O_WRONLY | O_NONBLOCK) >= 0, "open");
}

static void open_to_read(void) {
  check(open(path, O_RDONLY) >= 0, "open");
}

static long named_pipe_read(void) {
  make_named_pipe();
  after(1000, open_and_write);
  const int fd = open(path, O_RDONLY);
  remove_named_pipe();
  return read(fd, much, sizeof much);
}

/// What a writer left that was gone before the reader went on.
static long named_pipe_read_twice(void) {
  make_named_pipe();
  after(1000, open_and_write);
  const int fd = open(path, O_RDONLY);
  const ssize_t first = read(fd, much, sizeof much);
  while (wait(NULL) > 0) continue;
  remove_named_pipe();
  return first * 10 + read(fd, much, sizeof much);
}

static long named_pipe_of_nothing(void) {
  make_named_pipe();
  after(1000, open_to_write);
  const int fd = open(path, O_RDONLY);
  remove_named_pipe();
  return read(fd, much, sizeof much);
}

static long named_pipe_of_hasty_writer(void) {
  make_named_pipe();
  after(1000, open_to_write_without_waiting);
  const int fd = open(path, O_RDONLY);
  remove_named_pipe();
  return read(fd, much, sizeof much);
}

static long named_pipe_of_gone_reader(void) {
  signal(SIGPIPE, SIG_IGN);
  make_named_pipe();
  after(1000, open_to_read);
  const int fd = open(path, O_WRONLY);
  while (wait(NULL) > 0) continue;
  remove_named_pipe();
  return write(fd, "x", 1);
}

/// As a shell reads one line after the other.
static long named_pipe_of_many_writers(void) {
  long sum = 0;
  make_named_pipe();
  for (int i = 0; i < 3; ++i) {
    after(1000, open_and_write);
    const int fd = open(path, O_RDONLY);
    for (ssize_t some; (some = read(fd, much, sizeof much)) > 0;) sum += some;
    close(fd);
    while (wait(NULL) > 0) continue;
  }
  remove_named_pipe();
  return sum;
}

static long named_pipe_of_two_readers(void) {
  make_named_pipe();
  after(0, open_to_read);
  after(1000, open_to_write);
  const int fd = open(path, O_RDONLY);
  remove_named_pipe();
  return read(fd, much, sizeof much);
}

static long named_pipe_until_a_signal(void) {
  make_named_pipe();
  expect_alarm(1000, 0);
  const int fd = open(path, O_RDONLY);
  remove_named_pipe();
  return fd;
}

static long named_pipe_after_a_signal(void) {
  make_named_pipe();
  expect_alarm(1000, SA_RESTART);
  after(2000, open_and_write);
  const int fd = open(path, O_RDONLY);
  remove_named_pipe();
  return read(fd, much, sizeof much);
}

/// The writer's end, and with it a signal, comes with its data.
static long named_pipe_beside_a_signal(void) {
  const struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGCHLD, &action, NULL);
  make_named_pipe();
  after(1000, open_and_write);
  const int fd = open(path, O_RDONLY);
  remove_named_pipe();
  ssize_t got = -1;
  do got = read(fd, much, sizeof much);
  while (got < 0 && errno == EINTR);
  return got;
}

static long named_pipe_hung_up(void) {
  make_named_pipe();
  after(1000, open_to_write);
  struct pollfd end = {open(path, O_RDONLY), POLLIN, 0};
  while (wait(NULL) > 0) continue;
  remove_named_pipe();
  check(poll(&end, 1, 1000) == 1, "poll");
  return end.revents;
}

static const struct one_case cases[] = {
    CASE(moved_by_splice),
    CASE(moved_by_tee),
    CASE(moved_by_vmsplice),
    CASE(moved_into_memory),
    CASE(moved_by_sendfile),
    CASE(moved_once_there_is_room),
    CASE(moved_to_a_socket),
    CASE(moved_from_an_offset),
    CASE(moved_from_a_socket),
    CASE(moved_until_the_end),
    CASE(moved_in_vain),
    CASE(moved_in_vain_by_file),
    CASE(moved_until_a_signal),
    CASE(moved_after_a_signal),
    CASE(read_with_flags),
    CASE(read_with_flags_in_vain),
    CASE(read_with_flags_until_a_signal),
    CASE(written_with_flags),
    CASE(written_with_flags_in_vain),
    CASE(written_in_parts),
    CASE(sent_in_parts),
    CASE(named_pipe_read),
    CASE(named_pipe_read_twice),
    CASE(named_pipe_of_nothing),
    CASE(named_pipe_of_hasty_writer),
    CASE(named_pipe_of_gone_reader),
    CASE(named_pipe_of_many_writers),
    CASE(named_pipe_of_two_readers),
    CASE(named_pipe_until_a_signal),
    CASE(named_pipe_after_a_signal),
    CASE(named_pipe_beside_a_signal),
    CASE(named_pipe_hung_up),
};

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run_cases(cases, sizeof cases / sizeof *cases, argv[i]);
  return 0;
}
