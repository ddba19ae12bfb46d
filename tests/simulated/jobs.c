// One case each of job control: stops and their reports, process groups, sessions, and terminals
// whose foreground changes. Linux 6.18 printed jobs.txt; the time, in tenths of a millisecond, is
// only in the output.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tests/simulated/jobs.h"

// --- stops --------------------------------------------------------------------------------------

static int stop_itself(void) {
  raise(SIGSTOP);
  return 5;
}
static long stop_by_itself(void) {
  const pid_t child = child_that(stop_itself);
  const long stopped = status_of(child, WUNTRACED);
  kill(child, SIGCONT);
  return stopped * 10000 + status_of(child, 0);
}

static long stop_by_another(void) {
  const pid_t child = child_that(wait_for_long);
  kill(child, SIGSTOP);
  const long stopped = status_of(child, WUNTRACED);
  kill(child, SIGCONT);
  const long continued = status_of(child, WCONTINUED);
  kill(child, SIGTERM);
  return (stopped * 10000 + continued) * 10000 + status_of(child, 0);
}

static long stop_by_waitid(void) {
  const pid_t child = child_that(stop_itself);
  siginfo_t info;
  check(waitid(P_PID, (id_t)child, &info, WSTOPPED) == 0, "waitid");
  check(info.si_code == CLD_STOPPED && info.si_status == SIGSTOP, "stopped");
  check(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG) == 0, "once more");
  kill(child, SIGCONT);
  check(waitid(P_PID, (id_t)child, &info, WCONTINUED) == 0, "waitid");
  check(info.si_code == CLD_CONTINUED && info.si_status == SIGCONT, "continued");
  return status_of(child, 0);
}

/// A parent that does not ask for stops waits for the end.
static void continue_group(void) {
  kill(0, SIGCONT);
}
static long stop_that_nobody_asks_for(void) {
  setpgid(0, 0);
  const pid_t child = child_that(stop_itself);
  (void)after(1000, continue_group);
  return status_of(child, 0);
}

/// SIGCHLD for the stop, the continuation and the end.
static long signals_of_stops(int flags) {
  handle(SIGCHLD, flags | SA_RESTART);
  const pid_t child = child_that(wait_for_long);
  kill(child, SIGSTOP);
  (void)status_of(child, WUNTRACED);
  let_pass(100);
  kill(child, SIGCONT);
  (void)status_of(child, WCONTINUED);
  let_pass(100);
  kill(child, SIGKILL);
  (void)status_of(child, 0);
  let_pass(100);
  return signals;
}
static long stop_with_signals(void) {
  return signals_of_stops(0);
}
static long stop_without_signals(void) {
  return signals_of_stops(SA_NOCLDSTOP);
}

/// The child's sleep ends while it is stopped, so it goes on as soon as it is continued.
static int sleep_a_little(void) {
  let_pass(1000);
  return 5;
}
static long stop_in_a_sleep(void) {
  const pid_t child = child_that(sleep_a_little);
  kill(child, SIGSTOP);
  (void)status_of(child, WUNTRACED);
  let_pass(3000);
  check(waitpid(child, NULL, WNOHANG) == 0, "it is stopped");
  kill(child, SIGCONT);
  return status_of(child, 0);
}

static int handle_stop(void) {
  handle(SIGTSTP, 0);
  raise(SIGTSTP);
  return signals;
}
static long stop_that_is_handled(void) {
  return status_of(child_that(handle_stop), WUNTRACED);
}

/// No process could continue a group without a parent in its session, so SIGTSTP stops none.
static int stop_alone(void) {
  setsid();
  raise(SIGTSTP);
  raise(SIGTTIN);
  return 6;
}
static long stop_of_an_orphan(void) {
  return status_of(child_that(stop_alone), WUNTRACED);
}

static long stop_and_kill(void) {
  const pid_t child = child_that(stop_itself);
  (void)status_of(child, WUNTRACED);
  kill(child, SIGTERM);  // waits until the child is continued
  check(waitpid(child, NULL, WNOHANG) == 0, "SIGTERM waits");
  kill(child, SIGKILL);
  return status_of(child, 0);
}

static int handle_continuation(void) {
  handle(SIGCONT, 0);
  raise(SIGSTOP);
  return signals;
}
static long stop_and_handler_of_continuation(void) {
  const pid_t child = child_that(handle_continuation);
  (void)status_of(child, WUNTRACED);
  kill(child, SIGCONT);
  return status_of(child, 0);
}

static long stop_of_a_group(void) {
  const pid_t first = child_that(wait_for_long);
  setpgid(first, first);
  const pid_t second = child_that(wait_for_long);
  setpgid(second, first);
  killpg(first, SIGSTOP);
  const long stopped = status_of(first, WUNTRACED) + status_of(second, WUNTRACED);
  killpg(first, SIGQUIT);
  killpg(first, SIGCONT);
  return stopped * 10000 + status_of(first, 0) + status_of(second, 0);
}

// --- groups and sessions ------------------------------------------------------------------------

static int lead_session(void) {
  check(setsid() == getpid() && getsid(0) == getpid() && getpgrp() == getpid(), "setsid");
  check(setsid() == -1 && errno == EPERM, "once more");
  check(setpgid(0, 0) == -1 && errno == EPERM, "a leader's group");
  return open("/dev/tty", O_RDWR) == -1 && errno == ENXIO ? 6 : 7;
}
static long group_of_a_session(void) {
  return status_of(child_that(lead_session), 0);
}

static long group_of_another_session(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  const pid_t child = child_that(wait_for_long);
  const pid_t leader = fork();
  if (leader == 0) {
    setsid();
    kill(getppid(), SIGUSR1);
    _exit(wait_for_long());
  }
  int number = 0;
  sigwait(&set, &number);
  const long result = setpgid(child, leader);
  const int error = errno;
  kill(child, SIGKILL);
  kill(leader, SIGKILL);
  errno = error;
  return result;
}

static long group_after_exec(void) {
  int there[2];
  check(pipe2(there, O_CLOEXEC) == 0, "pipe2");
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sleep", "sleep", "100", NULL);
    _exit(1);
  }
  close(there[1]);
  char text;
  check(read(there[0], &text, 1) == 0, "read");
  const long result = setpgid(child, child);
  const int error = errno;
  kill(child, SIGKILL);
  errno = error;
  return result;
}

static long group_that_is_gone(void) {
  const pid_t child = child_that(wait_for_long);
  setpgid(child, child);
  kill(child, SIGKILL);
  (void)status_of(child, 0);
  return killpg(child, SIGTERM);
}

// --- terminals ----------------------------------------------------------------------------------

static int read_line(void) {
  char text[8];
  return read(ends[1], text, sizeof text) == 3 && memcmp(text, "ab\n", 3) == 0 ? 5 : 1;
}

static int read_in_turn(void) {
  const pid_t child = in_background(read_line);
  check(status_of(child, WUNTRACED) == 1000 + SIGTTIN, "SIGTTIN");
  to_foreground(child);
  killpg(child, SIGCONT);
  check(write(ends[0], "ab\n", 3) == 3, "write");
  const int result = (int)status_of(child, 0);
  to_foreground(getpgrp());
  return result;
}
static long terminal_read_in_background(void) {
  return on_a_terminal(read_in_turn);
}

static int read_deaf(void) {
  char text;
  signal(SIGTTIN, SIG_IGN);
  return read(ends[1], &text, 1) == -1 ? errno : 0;
}
static int read_deaf_in_turn(void) {
  return (int)status_of(in_background(read_deaf), WUNTRACED);
}
static long terminal_read_by_who_ignores(void) {
  return on_a_terminal(read_deaf_in_turn);
}

static int write_line(void) {
  return (int)write(ends[1], "ab\n", 3);
}
static int write_in_turn(void) {
  return (int)status_of(in_background(write_line), WUNTRACED);
}
static long terminal_written_in_background(void) {
  return on_a_terminal(write_in_turn);
}

static int write_where_it_stops(void) {
  struct termios mode;
  check(tcgetattr(ends[1], &mode) == 0, "tcgetattr");
  mode.c_lflag |= TOSTOP;
  check(tcsetattr(ends[1], TCSANOW, &mode) == 0, "tcsetattr");
  const pid_t child = in_background(write_line);
  check(status_of(child, WUNTRACED) == 1000 + SIGTTOU, "SIGTTOU");
  to_foreground(child);
  killpg(child, SIGCONT);
  return (int)status_of(child, 0);
}
static long terminal_that_stops_writers(void) {
  return on_a_terminal(write_where_it_stops);
}

static int take_foreground(void) {
  return tcsetpgrp(ends[1], getpgrp()) == 0 ? 5 : 1;
}
static int take_foreground_in_turn(void) {
  const pid_t child = in_background(take_foreground);
  check(status_of(child, WUNTRACED) == 1000 + SIGTTOU, "SIGTTOU");
  to_foreground(child);
  killpg(child, SIGCONT);
  return (int)status_of(child, 0);
}
static long terminal_taken_by_background(void) {
  return on_a_terminal(take_foreground_in_turn);
}

static int typed;
static int type_to_child(void) {
  const pid_t child = in_background(wait_for_long);
  to_foreground(child);
  check(write(ends[0], &typed, 1) == 1, "write");
  const int result = (int)(status_of(child, WUNTRACED) / 1000 * 100);
  kill(child, SIGKILL);
  return result;
}
static long terminal_where_interrupt_is_typed(void) {
  typed = 3;
  return on_a_terminal(type_to_child) / 100 * 1000 + SIGINT;
}
static long terminal_where_quit_is_typed(void) {
  typed = 28;
  return on_a_terminal(type_to_child) / 100 * 1000 + SIGQUIT;
}
static long terminal_where_stop_is_typed(void) {
  typed = 26;
  return on_a_terminal(type_to_child) / 100 * 1000 + SIGTSTP;
}

static int wait_for_hangup(void) {
  handle(SIGHUP, 0);
  check(write(ends[1], "ready", 5) == 5, "write");
  let_pass(100000);
  return signals + 5;
}
static long terminal_whose_leader_ends(void) {
  open_terminal();
  int fate[2];
  check(pipe(fate) == 0, "pipe");
  const pid_t leader = fork();
  if (leader == 0) {
    take_terminal();
    if (fork() == 0) {
      const int result = wait_for_hangup();
      check(write(fate[1], &result, sizeof result) == sizeof result, "write");
      _exit(0);
    }
    let_pass(1000);
    _exit(0);
  }
  (void)status_of(leader, 0);
  int result = 0;
  check(read(fate[0], &result, sizeof result) == sizeof result, "read");
  return result;
}

static int wait_for_a_size(void) {
  handle(SIGWINCH, 0);
  const struct winsize size = {.ws_row = 30, .ws_col = 90};
  check(ioctl(ends[0], TIOCSWINSZ, &size) == 0, "TIOCSWINSZ");
  struct winsize now = {0};
  check(ioctl(ends[1], TIOCGWINSZ, &now) == 0 && now.ws_col == 90, "TIOCGWINSZ");
  return signals + 5;
}
static long terminal_of_another_size(void) {
  return on_a_terminal(wait_for_a_size);
}

static int read_later(void) {
  (void)after(1000, NULL);
  struct pollfd wanted = {ends[1], POLLIN, 0};
  const pid_t child = fork();
  if (child == 0) {
    let_pass(1000);
    check(write(ends[0], "ab\n", 3) == 3, "write");
    _exit(0);
  }
  check(poll(&wanted, 1, -1) == 1, "poll");
  return read_line();
}
static long terminal_by_poll(void) {
  return on_a_terminal(read_later);
}

/// A stopped group that loses its last parent in the session gets SIGHUP and SIGCONT.
static int leave_a_stopped_child(void) {
  const pid_t middle = fork();
  if (middle == 0) {
    const pid_t child = in_background(stop_itself);
    (void)status_of(child, WUNTRACED);
    check(write(ends[1], &child, sizeof child) == sizeof child, "write");
    _exit(0);
  }
  (void)status_of(middle, 0);
  return 5;
}
static long stop_without_a_parent(void) {
  check(pipe(ends) == 0, "pipe");
  int alive[2];
  check(pipe(alive) == 0, "pipe");
  setsid();
  check(leave_a_stopped_child() == 5, "left");
  close(alive[1]);
  char text;
  return read(alive[0], &text, 1);  // until the child is gone
}

static const struct one_case cases[] = {
    CASE(stop_by_itself),
    CASE(stop_by_another),
    CASE(stop_by_waitid),
    CASE(stop_that_nobody_asks_for),
    CASE(stop_with_signals),
    CASE(stop_without_signals),
    CASE(stop_in_a_sleep),
    CASE(stop_that_is_handled),
    CASE(stop_of_an_orphan),
    CASE(stop_and_kill),
    CASE(stop_and_handler_of_continuation),
    CASE(stop_of_a_group),
    CASE(stop_without_a_parent),
    CASE(group_of_a_session),
    CASE(group_of_another_session),
    CASE(group_after_exec),
    CASE(group_that_is_gone),
    CASE(terminal_read_in_background),
    CASE(terminal_read_by_who_ignores),
    CASE(terminal_written_in_background),
    CASE(terminal_that_stops_writers),
    CASE(terminal_taken_by_background),
    CASE(terminal_where_interrupt_is_typed),
    CASE(terminal_where_quit_is_typed),
    CASE(terminal_where_stop_is_typed),
    CASE(terminal_whose_leader_ends),
    CASE(terminal_of_another_size),
    CASE(terminal_by_poll),
};

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) run_cases(cases, sizeof cases / sizeof *cases, argv[i]);
  return 0;
}
