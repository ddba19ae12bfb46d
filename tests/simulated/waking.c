// One case each of what ends a wait: descriptors of signals and processes, timeouts of sockets,
// calls that want all they ask for, refused connections, timers. Linux 6.18 printed waking.txt; the
// time, in tenths of a millisecond, is only in the output.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/simulated/cases.h"

static int ends[2];
static const char* peer = "127.0.0.1";

// --- signalfd -----------------------------------------------------------------------------------

static void send_term(void) {
  kill(getppid(), SIGTERM);
}

static int signal_descriptor(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, NULL);
  return signalfd(-1, &set, SFD_CLOEXEC);
}

static long number_read(int fd) {
  struct signalfd_siginfo info;
  return read(fd, &info, sizeof info) == sizeof info ? (long)info.ssi_signo : -1;
}

static long signal_by_read(void) {
  const int fd = signal_descriptor(SIGTERM);
  after(1000, send_term);
  return number_read(fd);
}

static long signal_by_poll(void) {
  struct pollfd wanted = {signal_descriptor(SIGTERM), POLLIN, 0};
  after(1000, send_term);
  check(poll(&wanted, 1, 1000) == 1, "poll");
  return number_read(wanted.fd);
}

static long signal_by_select(void) {
  const int fd = signal_descriptor(SIGTERM);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd, &set);
  after(1000, send_term);
  check(select(fd + 1, &set, NULL, NULL, NULL) == 1, "select");
  return number_read(fd);
}

static int epoll_of(int fd, unsigned events) {
  const int set = epoll_create1(0);
  struct epoll_event event = {.events = events, .data = {.fd = fd}};
  check(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
  return set;
}

static long signal_by_epoll(void) {
  const int fd = signal_descriptor(SIGTERM);
  const int set = epoll_of(fd, EPOLLIN);
  struct epoll_event event;
  after(1000, send_term);
  check(epoll_wait(set, &event, 1, 1000) == 1 && event.data.fd == fd, "epoll_wait");
  return number_read(fd);
}

/// Each of two signals wakes once.
static long signals_by_edge(void) {
  const int fd = signal_descriptor(SIGTERM);
  const int set = epoll_of(fd, EPOLLIN | EPOLLET);
  struct epoll_event event;
  for (int i = 0; i < 2; ++i) {
    after(1000, send_term);
    check(epoll_wait(set, &event, 1, 1000) == 1, "epoll_wait");
    check(number_read(fd) == SIGTERM, "read");
  }
  return epoll_wait(set, &event, 1, 1);
}

/// Beside a descriptor that becomes ready before, and a signal that is there from the beginning.
static void write_one(void) {
  check(write(ends[1], "x", 1) == 1, "write");
}
static long signal_beside_a_pipe(void) {
  check(pipe(ends) == 0, "pipe");
  const int fd = signal_descriptor(SIGTERM);
  const int set = epoll_of(fd, EPOLLIN);
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = ends[0]}};
  check(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event) == 0, "epoll_ctl");
  after(500, write_one);
  after(1000, send_term);
  char text;
  check(epoll_wait(set, &event, 1, -1) == 1 && event.data.fd == ends[0], "first");
  check(read(ends[0], &text, 1) == 1, "read");
  check(epoll_wait(set, &event, 1, -1) == 1 && event.data.fd == fd, "second");
  check(number_read(fd) == SIGTERM, "signal");
  raise(SIGTERM);
  check(epoll_wait(set, &event, 1, 0) == 1 && event.data.fd == fd, "third");
  return number_read(fd);
}

static long child_by_signal(void) {
  const int fd = signal_descriptor(SIGCHLD);
  const int set = epoll_of(fd, EPOLLIN);
  struct epoll_event event;
  const pid_t child = after(1000, NULL);
  check(epoll_wait(set, &event, 1, -1) == 1, "epoll_wait");
  int status = 0;
  check(waitpid(child, &status, WNOHANG) == child, "waitpid");
  return number_read(fd);
}

static long alarm_by_signal(void) {
  struct pollfd wanted = {signal_descriptor(SIGALRM), POLLIN, 0};
  const struct itimerval once = {{0, 0}, {0, 1000}};
  setitimer(ITIMER_REAL, &once, NULL);
  check(poll(&wanted, 1, -1) == 1, "poll");
  return number_read(wanted.fd);
}

// --- all that is asked for ----------------------------------------------------------------------

static void send_parts(void) {
  for (int i = 0; i < 4; ++i) {
    let_pass(250);
    check(send(ends[1], "abcd" + i, 1, 0) == 1, "send");
  }
}

static void local_pair(int type) {
  check(socketpair(AF_UNIX, type, 0, ends) == 0, "socketpair");
}

static struct sockaddr_in at(const char* address, int port) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  inet_pton(AF_INET, address, &name.sin_addr);
  return name;
}

static int listener(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const struct sockaddr_in name = at("127.0.0.1", 7077);
  check(bind(fd, (const struct sockaddr*)&name, sizeof name) == 0, "bind");
  check(listen(fd, 1) == 0, "listen");
  return fd;
}

static void tcp_pair(void) {
  const int fd = listener();
  const struct sockaddr_in name = at("127.0.0.1", 7077);
  ends[1] = socket(AF_INET, SOCK_STREAM, 0);
  check(connect(ends[1], (const struct sockaddr*)&name, sizeof name) == 0, "connect");
  ends[0] = accept(fd, NULL, NULL);
  check(ends[0] >= 0, "accept");
}

static long all_by_recv(void) {
  char text[5] = "";
  local_pair(SOCK_STREAM);
  after(0, send_parts);
  const long got = recv(ends[0], text, 4, MSG_WAITALL);
  check(strcmp(text, "abcd") == 0, "text");
  return got;
}

static long all_by_tcp(void) {
  char text[5] = "";
  tcp_pair();
  after(0, send_parts);
  const long got = recv(ends[0], text, 4, MSG_WAITALL);
  check(strcmp(text, "abcd") == 0, "text");
  return got;
}

static long all_by_recvmsg(void) {
  char first[2] = "";
  char second[3] = "";
  struct iovec parts[] = {{first, 1}, {second, 3}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  local_pair(SOCK_STREAM);
  after(0, send_parts);
  const long got = recvmsg(ends[0], &message, MSG_WAITALL);
  check(first[0] == 'a' && memcmp(second, "bcd", 3) == 0, "text");
  check(parts[0].iov_base == first && parts[1].iov_len == 3, "parts");
  return got;
}

static long all_until_the_end(void) {
  char text[8];
  local_pair(SOCK_STREAM);
  after(0, send_parts);
  close(ends[1]);
  return recv(ends[0], text, sizeof text, MSG_WAITALL);
}

/// A Unix socket would not wait for all of it.
static long all_by_peek(void) {
  char text[4];
  tcp_pair();
  after(0, send_parts);
  check(recv(ends[0], text, 4, MSG_PEEK | MSG_WAITALL) == 4, "peek");
  return recv(ends[0], text, 4, MSG_WAITALL | MSG_DONTWAIT);
}

static long all_in_vain(void) {
  char text[8];
  local_pair(SOCK_STREAM);
  const struct timeval limit = {0, 5000};
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  check(write(ends[1], "abc", 3) == 3, "write");
  return recv(ends[0], text, sizeof text, MSG_WAITALL);
}

enum { kMuch = 1 << 20 };
static char much[kMuch];
static void send_much(void) {
  check(write(ends[1], much, kMuch) == kMuch, "write");
}
static long all_of_much(void) {
  local_pair(SOCK_STREAM);
  after(1000, send_much);
  return recv(ends[0], much, kMuch, MSG_WAITALL);
}

static long many(int flags) {
  char text[4];
  struct iovec parts[4];
  struct mmsghdr messages[4] = {0};
  for (int i = 0; i < 4; ++i) {
    parts[i] = (struct iovec){text + i, 1};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  const long got = recvmmsg(ends[0], messages, 4, flags, NULL);
  for (int i = 0; i < got; ++i) check(messages[i].msg_len == 1 && text[i] == "abcd"[i], "text");
  return got;
}
static long many_datagrams(void) {
  local_pair(SOCK_DGRAM);
  after(0, send_parts);
  return many(0);
}
static long many_but_one(void) {
  local_pair(SOCK_DGRAM);
  after(0, send_parts);
  return many(MSG_WAITFORONE);
}
static long many_at_once(void) {
  local_pair(SOCK_DGRAM);
  check(send(ends[1], "a", 1, 0) == 1, "send");
  return many(MSG_DONTWAIT);
}
static long many_packets(void) {
  local_pair(SOCK_SEQPACKET);
  after(0, send_parts);
  return many(0);
}
static long many_by_udp(void) {
  const struct sockaddr_in name = at("127.0.0.1", 7078);
  ends[0] = socket(AF_INET, SOCK_DGRAM, 0);
  ends[1] = socket(AF_INET, SOCK_DGRAM, 0);
  check(bind(ends[0], (const struct sockaddr*)&name, sizeof name) == 0, "bind");
  check(connect(ends[1], (const struct sockaddr*)&name, sizeof name) == 0, "connect");
  after(0, send_parts);
  return many(0);
}

// --- timeouts of sockets ------------------------------------------------------------------------

static void limit_to_5ms(int fd, int option) {
  const struct timeval limit = {0, 5000};
  check(setsockopt(fd, SOL_SOCKET, option, &limit, sizeof limit) == 0, "setsockopt");
}

static long in_vain_by_recv(void) {
  char text;
  local_pair(SOCK_STREAM);
  limit_to_5ms(ends[0], SO_RCVTIMEO);
  return recv(ends[0], &text, 1, 0);
}
static long in_vain_by_read(void) {
  char text;
  tcp_pair();
  limit_to_5ms(ends[0], SO_RCVTIMEO);
  return read(ends[0], &text, 1);
}
static long in_vain_by_recvmsg(void) {
  char text;
  struct iovec part = {&text, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  local_pair(SOCK_DGRAM);
  limit_to_5ms(ends[0], SO_RCVTIMEO);
  return recvmsg(ends[0], &message, 0);
}
static long in_vain_by_accept(void) {
  const int fd = listener();
  limit_to_5ms(fd, SO_RCVTIMEO);
  return accept(fd, NULL, NULL);
}
static long in_vain_by_udp(void) {
  char text;
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  limit_to_5ms(fd, SO_RCVTIMEO);
  return recv(fd, &text, 1, 0);
}
static long in_vain_by_write(void) {
  local_pair(SOCK_STREAM);
  limit_to_5ms(ends[1], SO_SNDTIMEO);
  const long first = write(ends[1], much, kMuch);
  check(first > 0 && first < kMuch, "first");
  return write(ends[1], much, kMuch);
}

static long in_vain_by_writev(void) {
  struct iovec parts[2] = {{much, kMuch / 2}, {much, kMuch / 2}};
  local_pair(SOCK_STREAM);
  limit_to_5ms(ends[1], SO_SNDTIMEO);
  check(writev(ends[1], parts, 2) > 0, "first");
  return writev(ends[1], parts, 2);
}
static long in_vain_by_sendmsg(void) {
  struct iovec part = {much, 1000};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  local_pair(SOCK_DGRAM);
  limit_to_5ms(ends[1], SO_SNDTIMEO);
  for (long sent = 1; sent > 0;) sent = send(ends[1], much, 1000, MSG_DONTWAIT);
  return sendmsg(ends[1], &message, 0);
}
static long in_vain_by_packet(void) {
  local_pair(SOCK_SEQPACKET);
  limit_to_5ms(ends[1], SO_SNDTIMEO);
  for (long sent = 1; sent > 0;) sent = send(ends[1], much, 1000, MSG_DONTWAIT);
  return send(ends[1], much, 1000, 0);
}

// --- refused connections ------------------------------------------------------------------------

static int ask_nobody(void) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const struct sockaddr_in name = at(peer, 7099);
  check(connect(fd, (const struct sockaddr*)&name, sizeof name) == -1, "connect");
  check(errno == EINPROGRESS, "in progress");
  struct pollfd wanted = {fd, POLLOUT, 0};
  check(poll(&wanted, 1, 1000) == 1, "poll");
  check(wanted.revents == (POLLOUT | POLLERR | POLLHUP), "revents");
  return fd;
}

static long refused_by_option(void) {
  const int fd = ask_nobody();
  int error = 0;
  socklen_t size = sizeof error;
  check(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0, "getsockopt");
  struct pollfd wanted = {fd, POLLOUT, 0};
  check(poll(&wanted, 1, 0) == 1 && wanted.revents == (POLLOUT | POLLHUP), "afterwards");
  errno = error;
  return -1;
}
static long refused_by_write(void) {
  const int fd = ask_nobody();
  const long result = write(fd, "x", 1);
  const int error = errno;
  signal(SIGPIPE, SIG_IGN);
  check(write(fd, "x", 1) == -1 && errno == EPIPE, "the second write");
  errno = error;
  return result;
}
static long refused_by_read(void) {
  char text;
  const int fd = ask_nobody();
  const long result = read(fd, &text, 1);
  const int error = errno;
  check(read(fd, &text, 1) == 0, "the second read");
  errno = error;
  return result;
}
static long refused_by_send(void) {
  return send(ask_nobody(), "x", 1, MSG_NOSIGNAL);
}
static long refused_by_connect(void) {
  const int fd = ask_nobody();
  const struct sockaddr_in name = at(peer, 7099);
  return connect(fd, (const struct sockaddr*)&name, sizeof name);
}
static long refused_by_epoll(void) {
  const int fd = ask_nobody();
  const int set = epoll_of(fd, EPOLLOUT);
  struct epoll_event event;
  check(epoll_wait(set, &event, 1, 0) == 1, "epoll_wait");
  return (long)event.events;
}

// --- timers -------------------------------------------------------------------------------------

static timer_t timer_by(struct sigevent event, long first, long every) {
  timer_t timer;
  check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  const struct itimerspec times = {{0, every * 1000}, {0, first * 1000}};
  check(timer_settime(timer, 0, &times, NULL) == 0, "timer_settime");
  return timer;
}

static struct sigevent by_signal(int number, int value) {
  return (struct sigevent){
      .sigev_notify = SIGEV_SIGNAL, .sigev_signo = number, .sigev_value = {.sival_int = value}};
}

static sigset_t blocked(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, NULL);
  return set;
}

static long value_of_timer(void) {
  const sigset_t set = blocked(SIGUSR1);
  siginfo_t info;
  (void)timer_by(by_signal(SIGUSR1, 42), 1000, 0);
  check(sigwaitinfo(&set, &info) == SIGUSR1 && info.si_code == SI_TIMER, "sigwaitinfo");
  return info.si_value.sival_int;
}

/// Two timers with one real-time signal, of which each is queued.
static long values_of_timers(void) {
  const sigset_t set = blocked(SIGRTMIN);
  siginfo_t info;
  (void)timer_by(by_signal(SIGRTMIN, 1), 500, 0);
  (void)timer_by(by_signal(SIGRTMIN, 2), 1000, 0);
  let_pass(2000);
  check(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_value.sival_int == 1, "first");
  check(sigwaitinfo(&set, &info) == SIGRTMIN, "second");
  return info.si_value.sival_int;
}

static sem_t posted;
static void post(union sigval value) {
  if (value.sival_int == 5) sem_post(&posted);
}
static long thread_of_timer(void) {
  sem_init(&posted, 0, 0);
  const struct sigevent event = {
      .sigev_notify = SIGEV_THREAD, .sigev_value = {.sival_int = 5}, .sigev_notify_function = post};
  (void)timer_by(event, 1000, 0);
  return sem_wait(&posted);
}

/// One signal is queued, four more expirations have overrun it.
static long overrun_of_timer(void) {
  const sigset_t set = blocked(SIGUSR1);
  const timer_t timer = timer_by(by_signal(SIGUSR1, 0), 1000, 1000);
  siginfo_t info;
  let_pass(5500);
  check(sigwaitinfo(&set, &info) == SIGUSR1, "sigwaitinfo");
  const long overrun = timer_getoverrun(timer);
  timer_delete(timer);
  return overrun;
}

static long timer_of_a_thread(void) {
  const sigset_t set = blocked(SIGUSR1);
  struct sigevent event = by_signal(SIGUSR1, 9);
  event.sigev_notify = SIGEV_THREAD_ID;
  event._sigev_un._tid = gettid();
  siginfo_t info;
  (void)timer_by(event, 1000, 0);
  check(sigwaitinfo(&set, &info) == SIGUSR1, "sigwaitinfo");
  return info.si_value.sival_int;
}

// --- children and the rest ----------------------------------------------------------------------

static long child_by_descriptor(void) {
  (void)after(200, NULL);
  const int fd = pidfd_open(after(1000, NULL), 0);
  siginfo_t info;
  check(waitid(P_PIDFD, (id_t)fd, &info, WEXITED) == 0, "waitid");
  return info.si_status;
}

static long child_by_poll(void) {
  struct pollfd wanted = {pidfd_open(after(1000, NULL), 0), POLLIN, 0};
  return poll(&wanted, 1, -1);
}

static long child_by_group(int by_waitid) {
  (void)after(200, NULL);
  const pid_t child = after(1000, NULL);
  setpgid(child, child);
  int status = 0;
  siginfo_t info;
  if (by_waitid) return waitid(P_PGID, (id_t)child, &info, WEXITED) == 0 ? info.si_status : -1;
  return waitpid(-child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}
static long child_by_wait_for_group(void) {
  return child_by_group(0);
}
static long child_by_waitid_for_group(void) {
  return child_by_group(1);
}

static long child_of_own_group(void) {
  const pid_t other = after(200, NULL);
  setpgid(other, other);
  const pid_t child = after(1000, NULL);
  int status = 0;
  return waitpid(0, &status, 0) == child ? WEXITSTATUS(status) : -1;
}

static long signal_by_descriptor(void) {
  const pid_t child = after(100000, NULL);
  let_pass(1000);
  check(pidfd_send_signal(pidfd_open(child, 0), SIGTERM, NULL, 0) == 0, "pidfd_send_signal");
  int status = 0;
  check(waitpid(child, &status, 0) == child, "waitpid");
  return WTERMSIG(status);
}

static void raise_semaphore(void) {
  eventfd_write(ends[0], 2);
}
static long eventfd_as_semaphore(void) {
  eventfd_t first;
  eventfd_t second;
  ends[0] = eventfd(0, EFD_SEMAPHORE);
  after(1000, raise_semaphore);
  check(eventfd_read(ends[0], &first) == 0 && eventfd_read(ends[0], &second) == 0, "read");
  return (long)(first + second);
}

static char folder[] = "/tmp/waking.XXXXXX";
static void make_file(void) {
  check(chdir(folder) == 0 && close(creat("file", 0600)) == 0 && unlink("file") == 0, "creat");
}
static long file_by_inotify(void) {
  char events[512];
  check(mkdtemp(folder) != NULL, "mkdtemp");
  const int fd = inotify_init1(0);
  check(inotify_add_watch(fd, folder, IN_CREATE) >= 0, "inotify_add_watch");
  after(1000, make_file);
  check(read(fd, events, sizeof events) > 0, "read");
  while (wait(NULL) > 0) continue;
  rmdir(folder);
  return (long)((struct inotify_event*)events)->mask;
}

static void write_to_terminal(void) {
  check(write(ends[1], "hello\n", 6) == 6, "write");
}
static long line_of_a_terminal(void) {
  char text[32];
  ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
  check(ends[0] >= 0 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0, "posix_openpt");
  ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
  after(1000, write_to_terminal);
  return read(ends[0], text, sizeof text);
}

static long sealed_memory(void) {
  const int fd = memfd_create("sealed", MFD_ALLOW_SEALING);
  check(ftruncate(fd, 4096) == 0, "ftruncate");
  check(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK) == 0, "F_ADD_SEALS");
  return write(fd, "x", 1);
}

/// TCP has a peer already, and ignores where the call wants to send.
static long address_by_sendto(void) {
  const struct sockaddr_in name = at("127.0.0.1", 7077);
  tcp_pair();
  return sendto(ends[1], "abcd", 4, 0, (const struct sockaddr*)&name, sizeof name);
}

static long address_of_another(void) {
  const struct sockaddr_in name = at("127.0.0.9", 9);
  tcp_pair();
  return sendto(ends[1], "abcd", 4, 0, (const struct sockaddr*)&name, sizeof name);
}

static long address_by_accepted(void) {
  const struct sockaddr_in name = at("127.0.0.1", 7077);
  tcp_pair();
  return sendto(ends[0], "abcd", 4, MSG_DONTWAIT, (const struct sockaddr*)&name, sizeof name);
}

/// More than there is room for, in one call.
static void take_all(void) {
  static char some[65536];
  close(ends[1]);
  while (read(ends[0], some, sizeof some) > 0) continue;
}
static long address_of_much(void) {
  const struct sockaddr_in name = at("127.0.0.1", 7077);
  tcp_pair();
  after(1000, take_all);
  const long sent =
      sendto(ends[1], much, sizeof much, 0, (const struct sockaddr*)&name, sizeof name);
  close(ends[1]);
  return sent;
}

static long address_in_vain(void) {
  char text[8];
  tcp_pair();
  return recv(ends[0], text, sizeof text, MSG_OOB);  // nothing urgent has come
}

static void queue_three(void) {
  for (int i = 1; i <= 3; ++i) sigqueue(getppid(), SIGRTMIN, (union sigval){.sival_int = i});
}
static long queued_signals(void) {
  const sigset_t set = blocked(SIGRTMIN);
  siginfo_t info;
  long values = 0;
  after(1000, queue_three);
  for (int i = 0; i < 3; ++i) {
    check(sigwaitinfo(&set, &info) == SIGRTMIN, "sigwaitinfo");
    values = 10 * values + info.si_value.sival_int;
  }
  return values;
}

static const struct one_case cases[] = {
    CASE(signal_by_read),
    CASE(signal_by_poll),
    CASE(signal_by_select),
    CASE(signal_by_epoll),
    CASE(signals_by_edge),
    CASE(signal_beside_a_pipe),
    CASE(child_by_signal),
    CASE(alarm_by_signal),
    CASE(all_by_recv),
    CASE(all_by_tcp),
    CASE(all_by_recvmsg),
    CASE(all_until_the_end),
    CASE(all_by_peek),
    CASE(all_in_vain),
    CASE(all_of_much),
    CASE(many_datagrams),
    CASE(many_but_one),
    CASE(many_at_once),
    CASE(many_packets),
    CASE(many_by_udp),
    CASE(in_vain_by_recv),
    CASE(in_vain_by_read),
    CASE(in_vain_by_recvmsg),
    CASE(in_vain_by_accept),
    CASE(in_vain_by_udp),
    CASE(in_vain_by_write),
    CASE(in_vain_by_writev),
    CASE(in_vain_by_sendmsg),
    CASE(in_vain_by_packet),
    CASE(refused_by_option),
    CASE(refused_by_write),
    CASE(refused_by_read),
    CASE(refused_by_send),
    CASE(refused_by_connect),
    CASE(refused_by_epoll),
    CASE(value_of_timer),
    CASE(values_of_timers),
    CASE(thread_of_timer),
    CASE(overrun_of_timer),
    CASE(timer_of_a_thread),
    CASE(child_by_descriptor),
    CASE(child_by_poll),
    CASE(child_by_wait_for_group),
    CASE(child_by_waitid_for_group),
    CASE(child_of_own_group),
    CASE(signal_by_descriptor),
    CASE(eventfd_as_semaphore),
    CASE(file_by_inotify),
    CASE(line_of_a_terminal),
    CASE(sealed_memory),
    CASE(queued_signals),
    CASE(address_by_sendto),
    CASE(address_of_another),
    CASE(address_by_accepted),
    CASE(address_of_much),
    CASE(address_in_vain),
};

/// An address among the arguments is that of who refuses connections.
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (strchr(argv[i], '.') != NULL) peer = argv[i];
    run_cases(cases, sizeof cases / sizeof *cases, argv[i]);
  }
  return 0;
}
