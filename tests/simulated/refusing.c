// System calls that simulated hosts refuse, and what programs use instead: io_uring, kernel AIO,
// fanotify, userfaultfd and raw sockets. The table docs/support.md promises each refusal in
// refusing.txt. Linux 6.18 printed what is in there of what works (`instead_`).
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/simulated/cases.h"

static int ends[2];

static void write_abc(void) {
  check(write(ends[1], "abc", 3) == 3, "write");
}

// --- io_uring -----------------------------------------------------------------------------------

static uint32_t parameters[30];  // struct io_uring_params

static long set_up_ring(uint32_t flags) {
  parameters[2] = flags;
  return syscall(425, 8, parameters);  // io_uring_setup
}
static long ring(void) {
  return set_up_ring(0);
}
static long ring_with_a_thread_of_the_kernel(void) {
  return set_up_ring(2);  // IORING_SETUP_SQPOLL
}
static long ring_without_parameters(void) {
  return syscall(425, 8, NULL);
}
static long ring_entered(void) {
  return syscall(426, 0, 1, 0, 0, NULL, 0);  // io_uring_enter
}
static long ring_registered(void) {
  return syscall(427, 0, 0, NULL, 0);  // io_uring_register
}
/// As programs ask which operations there are without having a ring.
static long ring_asked_for(void) {
  return syscall(427, -1, 8, parameters, 4);
}

// --- kernel AIO ---------------------------------------------------------------------------------

static unsigned long context;

static long requests_set_up(void) {
  return syscall(SYS_io_setup, 8, &context);
}
static long requests_submitted(void) {
  return syscall(SYS_io_submit, context, 0, NULL);
}
static long requests_done(void) {
  return syscall(SYS_io_getevents, context, 0, 0, NULL, NULL);
}
static long requests_done_with_a_mask(void) {
  return syscall(SYS_io_pgetevents, context, 0, 0, NULL, NULL, NULL);
}
static long requests_cancelled(void) {
  return syscall(SYS_io_cancel, context, NULL, NULL);
}
static long requests_destroyed(void) {
  return syscall(SYS_io_destroy, context);
}

// --- fanotify -----------------------------------------------------------------------------------

static long marks(void) {
  return syscall(SYS_fanotify_init, 0, O_RDONLY);
}
static long marks_that_decide(void) {
  return syscall(SYS_fanotify_init, 4, O_RDONLY);  // FAN_CLASS_CONTENT
}
/// The kind that needs no capability.
static long marks_with_names(void) {
  return syscall(SYS_fanotify_init, 0xe00, O_RDONLY);  // FAN_REPORT_DFID_NAME
}
static long marks_set(void) {
  return syscall(SYS_fanotify_mark, 0, 1, 1, AT_FDCWD, "/");
}
static long marks_of_a_mount(void) {
  return syscall(SYS_fanotify_mark, 0, 0x11, 0x20, AT_FDCWD, "/tmp");  // FAN_MARK_MOUNT, FAN_OPEN
}
static long marks_by_handle(void) {
  uint64_t handle[4] = {0};
  int mount = 0;
  return syscall(SYS_name_to_handle_at, AT_FDCWD, "/", handle, &mount, 0);
}

// --- others -------------------------------------------------------------------------------------

static long refused_raw_socket(void) {
  return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}
static long refused_raw_socket_of_version_six(void) {
  return socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6);
}
static long refused_header_socket(void) {
  return socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
}
static long refused_packet_socket(void) {
  return socket(AF_PACKET, SOCK_RAW, 0);
}
static long refused_datagrams_of_a_link(void) {
  return socket(AF_PACKET, SOCK_DGRAM, 0);
}
static long refused_faults(void) {
  return syscall(SYS_userfaultfd, O_CLOEXEC);
}

// --- what programs use instead ------------------------------------------------------------------

static struct aiocb request;
static char text[8];

static struct aiocb* read_later(void) {
  check(pipe(ends) == 0, "pipe");
  request = (struct aiocb){.aio_fildes = ends[0], .aio_buf = text, .aio_nbytes = sizeof text};
  request.aio_sigevent.sigev_notify = SIGEV_NONE;
  return &request;
}
static long suspended(const struct timespec* limit) {
  const struct aiocb* const list[] = {&request};
  return aio_suspend(list, 1, limit);
}
static long instead_of_requests(void) {
  check(aio_read(read_later()) == 0, "aio_read");
  check(aio_error(&request) == EINPROGRESS, "aio_error");
  after(1000, write_abc);
  check(suspended(NULL) == 0, "aio_suspend");
  return aio_return(&request);
}
static long instead_in_vain(void) {
  const struct timespec limit = {0, 5000000};
  check(aio_read(read_later()) == 0, "aio_read");
  return suspended(&limit);
}
static long instead_with_a_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &set, NULL);
  read_later()->aio_sigevent.sigev_notify = SIGEV_SIGNAL;
  request.aio_sigevent.sigev_signo = SIGRTMIN;
  request.aio_sigevent.sigev_value.sival_int = 42;
  check(aio_read(&request) == 0, "aio_read");
  after(1000, write_abc);
  siginfo_t info;
  check(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_code == SI_ASYNCIO, "sigwaitinfo");
  return info.si_value.sival_int;
}
static void write_back(union sigval value) {
  check(write(value.sival_int, "x", 1) == 1, "write");
}
static long instead_with_a_thread(void) {
  int back[2];
  check(pipe(back) == 0, "pipe");
  read_later()->aio_sigevent.sigev_notify = SIGEV_THREAD;
  request.aio_sigevent.sigev_notify_function = write_back;
  request.aio_sigevent.sigev_value.sival_int = back[1];
  check(aio_read(&request) == 0, "aio_read");
  after(1000, write_abc);
  return read(back[0], text, sizeof text);
}
static long instead_of_a_list(void) {
  struct aiocb writes[3];
  struct aiocb* list[3];
  check(pipe(ends) == 0, "pipe");
  for (int i = 0; i < 3; ++i) {
    writes[i] = (struct aiocb){.aio_fildes = ends[1], .aio_buf = "abc", .aio_nbytes = 3};
    writes[i].aio_lio_opcode = LIO_WRITE;
    writes[i].aio_sigevent.sigev_notify = SIGEV_NONE;
    list[i] = &writes[i];
  }
  check(lio_listio(LIO_WAIT, list, 3, NULL) == 0, "lio_listio");
  char all[16];
  return read(ends[0], all, sizeof all);
}
static long instead_with_a_wrong_descriptor(void) {
  read_later()->aio_fildes = 999;
  check(aio_read(&request) == 0, "aio_read");
  check(suspended(NULL) == 0, "aio_suspend");
  return aio_error(&request);
}
/// What libraries do that prefer a ring.
static long instead_of_a_ring(void) {
  check(pipe(ends) == 0, "pipe");
  const int set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  check(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event) == 0, "epoll_ctl");
  const long fd = set_up_ring(0);
  if (fd >= 0) close((int)fd);
  after(1000, write_abc);
  check(epoll_wait(set, &event, 1, -1) == 1, "epoll_wait");
  return read(ends[0], text, sizeof text);
}
static void make_and_remove(void) {
  check(close(creat("file", 0600)) == 0 && unlink("file") == 0, "file");
}
static long instead_of_marks(void) {
  static char folder[] = "/tmp/refusing.XXXXXX";
  char events[512] __attribute__((aligned(8)));
  check(mkdtemp(folder) != NULL && chdir(folder) == 0, "mkdtemp");
  int fd = (int)syscall(SYS_fanotify_init, 0x400000, O_RDONLY);  // a flag that there is not
  if (fd < 0) fd = inotify_init1(IN_CLOEXEC);
  check(inotify_add_watch(fd, folder, IN_CLOSE_WRITE) >= 0, "inotify_add_watch");
  after(1000, make_and_remove);
  check(read(fd, events, sizeof events) > 0, "read");
  while (wait(NULL) > 0) continue;
  rmdir(folder);
  return ((const struct inotify_event*)events)->mask;
}

static const struct one_case cases[] = {
    CASE(ring),
    CASE(ring_with_a_thread_of_the_kernel),
    CASE(ring_without_parameters),
    CASE(ring_entered),
    CASE(ring_registered),
    CASE(ring_asked_for),
    CASE(requests_set_up),
    CASE(requests_submitted),
    CASE(requests_done),
    CASE(requests_done_with_a_mask),
    CASE(requests_cancelled),
    CASE(requests_destroyed),
    CASE(marks),
    CASE(marks_that_decide),
    CASE(marks_with_names),
    CASE(marks_set),
    CASE(marks_of_a_mount),
    CASE(marks_by_handle),
    CASE(refused_raw_socket),
    CASE(refused_raw_socket_of_version_six),
    CASE(refused_header_socket),
    CASE(refused_packet_socket),
    CASE(refused_datagrams_of_a_link),
    CASE(refused_faults),
    CASE(instead_of_requests),
    CASE(instead_in_vain),
    CASE(instead_with_a_signal),
    CASE(instead_with_a_thread),
    CASE(instead_of_a_list),
    CASE(instead_with_a_wrong_descriptor),
    CASE(instead_of_a_ring),
    CASE(instead_of_marks),
};

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run_cases(cases, sizeof cases / sizeof *cases, argv[i]);
  return 0;
}
