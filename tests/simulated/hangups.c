// One case each of signals that the kernel sends to those at a terminal: its user's end is closed
// while they wait, it is given up, it gets another size. Linux 6.18 printed hangups.txt; the time,
// in tenths of a millisecond, is only in the output.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tests/simulated/jobs.h"

static int told[2];

/// Says that the terminal may be closed: the leader is about to wait.
static void get_ready(void) {
  check(write(told[1], "x", 1) == 1, "write");
}

static void await_leader(void) {
  char text;
  close(told[1]);
  check(read(told[0], &text, 1) == 1, "the leader");
  let_pass(1000);
}

/// A leader of a session does the deed at its terminal, whose other end a third process closes
/// 1 ms after the leader is ready. What the leader ends with.
static long once_gone(void (*close_it)(void), int (*deed)(void)) {
  check(pipe2(told, O_CLOEXEC) == 0, "pipe2");
  open_terminal();
  const pid_t leader = fork();
  if (leader == 0) {
    take_terminal();
    close(ends[0]);
    _exit(deed());
  }
  const pid_t keeper = fork();
  if (keeper == 0) {
    await_leader();
    close_it();
    _exit(0);
  }
  close(ends[0]);
  const long result = status_of(leader, WUNTRACED);
  kill(keeper, SIGKILL);
  return result;
}

// --- how it is closed ---------------------------------------------------------------------------

static void stay(void) {
  let_pass(100000);
}
static void by_close(void) {
  close(ends[0]);
  stay();
}
static void by_end(void) {
  _exit(0);
}
static void by_kill(void) {
  raise(SIGKILL);
}
static void by_new_program(void) {
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  execl("/bin/sleep", "sleep", "100", NULL);
}
static void by_other_file(void) {
  dup2(open("/dev/null", O_RDWR), ends[0]);
  stay();
}
static void by_range(void) {
  close_range((unsigned)ends[0], ~0U, 0);
  stay();
}
static void by_last_of_two(void) {
  const int other = dup(ends[0]);
  close(ends[0]);
  let_pass(1000);
  close(other);
  stay();
}

static int wait_to_end(void) {
  get_ready();
  return wait_for_long();
}
static long gone_by_close(void) {
  return once_gone(by_close, wait_to_end);
}
static long gone_by_end(void) {
  return once_gone(by_end, wait_to_end);
}
static long gone_by_kill(void) {
  return once_gone(by_kill, wait_to_end);
}
static long gone_by_new_program(void) {
  return once_gone(by_new_program, wait_to_end);
}
static long gone_by_other_file(void) {
  return once_gone(by_other_file, wait_to_end);
}
static long gone_by_range(void) {
  return once_gone(by_range, wait_to_end);
}
static long gone_by_last_of_two(void) {
  return once_gone(by_last_of_two, wait_to_end);
}

/// The descriptor that a killed process waited for is the last.
static void read_until_killed(void) {
  char text;
  const pid_t reader = getpid();
  if (fork() == 0) {
    close(ends[0]);
    let_pass(1000);
    kill(reader, SIGKILL);
    _exit(0);
  }
  (void)!read(ends[0], &text, 1);
}
static long gone_by_kill_of_a_reader(void) {
  return once_gone(read_until_killed, wait_to_end);
}

/// In a message that nobody has read, which goes with its socket.
static void by_lost_message(void) {
  int pair[2];
  char text = 'x';
  struct iovec part = {&text, 1};
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr header;
  } control = {{0}};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  struct cmsghdr* const header = CMSG_FIRSTHDR(&message);
  *header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(header), &ends[0], sizeof(int));
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
  check(sendmsg(pair[0], &message, 0) == 1, "sendmsg");
  close(ends[0]);
  let_pass(1000);
  close(pair[1]);
  stay();
}
static long gone_by_lost_message(void) {
  return once_gone(by_lost_message, wait_to_end);
}

// --- who waits meanwhile ------------------------------------------------------------------------

/// Both the leader and its child in the foreground end.
static long terminal_that_is_gone(void) {
  int alive[2];
  check(pipe2(alive, O_CLOEXEC) == 0, "pipe2");
  open_terminal();
  const pid_t leader = fork();
  if (leader == 0) {
    take_terminal();
    close(ends[0]);
    (void)child_that(wait_for_long);
    _exit(wait_for_long());
  }
  close(alive[1]);
  let_pass(1000);
  close(ends[0]);
  const long result = status_of(leader, 0);
  char text;
  check(read(alive[0], &text, 1) == 0, "the end of both");
  return result;
}

static int pause_for_both(void) {
  handle(SIGHUP, 0);
  handle(SIGCONT, 0);
  get_ready();
  check(pause() == -1 && errno == EINTR, "pause");
  let_pass(100);
  return signals;  // the other one may come after the pause
}
static long gone_while_it_pauses(void) {
  return once_gone(by_close, pause_for_both);
}

static int sleep_until_signal(void) {
  handle(SIGHUP, 0);
  get_ready();
  const struct timespec time = {1, 0};
  return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}
static long gone_while_it_sleeps(void) {
  return once_gone(by_close, sleep_until_signal);
}

static int suspend(void) {
  sigset_t set;
  sigfillset(&set);
  handle(SIGHUP, 0);
  sigprocmask(SIG_BLOCK, &set, NULL);
  sigdelset(&set, SIGHUP);
  get_ready();
  return sigsuspend(&set) == -1 && signals == 1 ? errno : 0;
}
static long gone_while_it_is_suspended(void) {
  return once_gone(by_close, suspend);
}

static sigset_t hangups_blocked(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  sigprocmask(SIG_BLOCK, &set, NULL);
  get_ready();
  return set;
}
static int await_hangup(void) {
  const sigset_t set = hangups_blocked();
  siginfo_t info;
  return sigwaitinfo(&set, &info) == SIGHUP && info.si_code == SI_KERNEL ? 5 : 1;
}
static long gone_while_it_awaits_it(void) {
  return once_gone(by_close, await_hangup);
}

static int read_signal(void) {
  const sigset_t set = hangups_blocked();
  struct signalfd_siginfo info;
  const int fd = signalfd(-1, &set, 0);
  return read(fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}
static long gone_while_it_reads_signals(void) {
  return once_gone(by_close, read_signal);
}

static void be_deaf(void) {
  signal(SIGHUP, SIG_IGN);
  get_ready();
}
static int poll_deaf(void) {
  be_deaf();
  struct pollfd wanted = {ends[1], 0, 0};
  return poll(&wanted, 1, 100) == 1 ? wanted.revents & POLLHUP : 1;
}
static long gone_while_it_polls(void) {
  return once_gone(by_close, poll_deaf);
}

static int poll_for_signal(void) {
  int others[2];
  handle(SIGHUP, 0);
  check(pipe(others) == 0, "pipe");
  struct pollfd wanted = {others[0], POLLIN, 0};
  get_ready();
  return poll(&wanted, 1, 100) == -1 ? errno : 1;
}
static long gone_while_it_polls_another(void) {
  return once_gone(by_close, poll_for_signal);
}

static int select_deaf(void) {
  be_deaf();
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[1], &set);
  struct timeval limit = {0, 100000};
  return select(ends[1] + 1, &set, NULL, NULL, &limit);
}
static long gone_while_it_selects(void) {
  return once_gone(by_close, select_deaf);
}

static int epoll_deaf(void) {
  be_deaf();
  const int set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  check(epoll_ctl(set, EPOLL_CTL_ADD, ends[1], &event) == 0, "epoll_ctl");
  return epoll_wait(set, &event, 1, 100) == 1 ? (int)(event.events & EPOLLHUP) : 1;
}
static long gone_while_it_waits_for_events(void) {
  return once_gone(by_close, epoll_deaf);
}

/// The read that waits fails, later ones read the end.
static int read_to_the_end(void) {
  char text;
  check(read(ends[1], &text, 1) == -1, "read");
  const int error = errno;
  check(read(ends[1], &text, 1) == 0, "the second read");
  check(write(ends[1], "x", 1) == -1 && errno == EIO, "write");
  check(open("/dev/tty", O_RDWR) == -1 && errno == ENXIO, "/dev/tty");
  return error;
}
static int read_deaf(void) {
  be_deaf();
  return read_to_the_end();
}
static long gone_while_it_reads(void) {
  return once_gone(by_close, read_deaf);
}
static int read_with_handler(void) {
  handle(SIGHUP, 0);
  get_ready();
  return read_to_the_end() + 10 * (signals == 1);
}
static long gone_while_it_reads_with_handler(void) {
  return once_gone(by_close, read_with_handler);
}

/// 100 + the signal that has ended the leader's child; the leader is deaf to it.
static int end_of(pid_t child) {
  const long status = status_of(child, 0);
  return status > 3000 ? (int)(status - 2900) : (int)status;
}
static int sleep_for_4ms(void) {
  let_pass(4000);
  return 5;
}
/// Linux sends the signals of a hangup to the leader alone; others get them when it ends.
static int wait_for_child(void) {
  const pid_t child = child_that(sleep_for_4ms);
  be_deaf();
  return end_of(child);
}
static long gone_while_it_waits_for_a_child(void) {
  return once_gone(by_close, wait_for_child);
}

static int stop(void) {
  raise(SIGSTOP);
  return 5;
}
/// The leader's end continues the child, which ends, too.
static int wait_beside_stopped_child(void) {
  const pid_t child = child_that(stop);
  check(status_of(child, WUNTRACED) == 1000 + SIGSTOP, "SIGSTOP");
  return wait_to_end();
}
static long gone_while_a_child_is_stopped(void) {
  int alive[2];
  check(pipe2(alive, O_CLOEXEC) == 0, "pipe2");
  const long result = once_gone(by_close, wait_beside_stopped_child);
  close(alive[1]);
  char text;
  check(read(alive[0], &text, 1) == 0, "the end of both");
  return result;
}

static int wait_for_background(void) {
  const pid_t child = in_background(sleep_for_4ms);
  be_deaf();
  return end_of(child);
}
static long gone_without_the_background(void) {
  return once_gone(by_close, wait_for_background);
}

static int share_terminal(void) {
  const int other = open("/dev/tty", O_RDWR);
  check(other >= 0, "open");
  be_deaf();
  struct pollfd wanted = {other, POLLIN, 0};
  check(poll(&wanted, 1, 100) == 1 && (wanted.revents & POLLHUP) != 0, "poll");
  return tcgetpgrp(ends[1]) == -1 ? errno : 0;
}
static long gone_under_its_own_name(void) {
  return once_gone(by_close, share_terminal);
}

// --- other signals of terminals -----------------------------------------------------------------

static int give_up(void) {
  const pid_t child = child_that(wait_for_long);
  signal(SIGHUP, SIG_IGN);
  let_pass(1000);
  check(ioctl(ends[1], TIOCNOTTY) == 0, "TIOCNOTTY");
  return end_of(child);
}
static long sent_by_giving_up(void) {
  return on_a_terminal(give_up);
}

static int await_a_size(void) {
  sigset_t set;
  int number = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGWINCH);
  return sigwait(&set, &number) == 0 ? number : 0;
}
static int resize(void) {
  const struct winsize size = {.ws_row = 30, .ws_col = 90};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGWINCH);
  sigprocmask(SIG_BLOCK, &set, NULL);
  const pid_t child = in_background(await_a_size);
  to_foreground(child);
  let_pass(1000);
  check(ioctl(ends[0], TIOCSWINSZ, &size) == 0, "TIOCSWINSZ");
  return end_of(child);
}
static long sent_by_another_size(void) {
  return on_a_terminal(resize);
}

static int send_by_terminal(void) {
  const pid_t child = in_background(wait_for_long);
  to_foreground(child);
  let_pass(1000);
  check(ioctl(ends[0], TIOCSIG, SIGINT) == 0, "TIOCSIG");
  return end_of(child);
}
static long sent_by_the_other_end(void) {
  return on_a_terminal(send_by_terminal);
}

/// Each process of a group in the background stops, although only one of them uses the terminal.
static int read_one(void) {
  char text;
  return (int)read(ends[1], &text, 1);
}
static int write_one(void) {
  return (int)write(ends[1], "x", 1);
}
static int set_mode(void) {
  struct termios mode;
  check(tcgetattr(ends[1], &mode) == 0, "tcgetattr");
  return tcsetattr(ends[1], TCSADRAIN, &mode);
}
static int take_foreground(void) {
  return tcsetpgrp(ends[1], getpgrp());
}
static int discard_input(void) {
  return tcflush(ends[1], TCIFLUSH);
}

static int (*use)(void);
static int use_later(void) {
  let_pass(1000);
  return use();
}
static int stop_both(void) {
  struct termios mode;
  check(tcgetattr(ends[1], &mode) == 0, "tcgetattr");
  mode.c_lflag |= TOSTOP;
  check(tcsetattr(ends[1], TCSANOW, &mode) == 0, "tcsetattr");
  const pid_t first = in_background(wait_for_long);
  const pid_t second = child_that(use_later);
  setpgid(second, first);
  const long signal_of_first = status_of(first, WUNTRACED) - 1000;
  const long signal_of_second = status_of(second, WUNTRACED) - 1000;
  killpg(first, SIGKILL);
  return signal_of_first == signal_of_second ? (int)signal_of_first : 1;
}
static long stopped_by(int (*how)(void)) {
  use = how;
  return on_a_terminal(stop_both);
}
static long sent_by_read(void) {
  return stopped_by(read_one);
}
static long sent_by_write(void) {
  return stopped_by(write_one);
}
static long sent_by_mode(void) {
  return stopped_by(set_mode);
}
static long sent_by_foreground(void) {
  return stopped_by(take_foreground);
}
static long sent_by_flush(void) {
  return stopped_by(discard_input);
}

static const struct one_case cases[] = {
    CASE(terminal_that_is_gone),
    CASE(gone_by_close),
    CASE(gone_by_end),
    CASE(gone_by_kill),
    CASE(gone_by_new_program),
    CASE(gone_by_other_file),
    CASE(gone_by_range),
    CASE(gone_by_last_of_two),
    CASE(gone_by_kill_of_a_reader),
    CASE(gone_by_lost_message),
    CASE(gone_while_it_pauses),
    CASE(gone_while_it_sleeps),
    CASE(gone_while_it_is_suspended),
    CASE(gone_while_it_awaits_it),
    CASE(gone_while_it_reads_signals),
    CASE(gone_while_it_polls),
    CASE(gone_while_it_polls_another),
    CASE(gone_while_it_selects),
    CASE(gone_while_it_waits_for_events),
    CASE(gone_while_it_reads),
    CASE(gone_while_it_reads_with_handler),
    CASE(gone_while_it_waits_for_a_child),
    CASE(gone_while_a_child_is_stopped),
    CASE(gone_without_the_background),
    CASE(gone_under_its_own_name),
    CASE(sent_by_giving_up),
    CASE(sent_by_another_size),
    CASE(sent_by_the_other_end),
    CASE(sent_by_read),
    CASE(sent_by_write),
    CASE(sent_by_mode),
    CASE(sent_by_foreground),
    CASE(sent_by_flush),
};

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run_cases(cases, sizeof cases / sizeof *cases, argv[i]);
  return 0;
}
