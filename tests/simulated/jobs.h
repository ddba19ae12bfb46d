// For programs of job control: children, handlers of signals, and terminals of sessions.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tests/simulated/cases.h"

static int ends[2];  // of a terminal, or of a pipe

/// Starts a child that does the deed, and ends with what the deed returns.
static inline pid_t child_that(int (*deed)(void)) {
  const pid_t child = fork();
  if (child != 0) return child;
  _exit(deed());
}

/// A status as a number: 1000 + signal stopped, 2000 continued, 3000 + signal ended by it.
static inline long number_of(int status) {
  if (WIFSTOPPED(status)) return 1000 + WSTOPSIG(status);
  if (WIFCONTINUED(status)) return 2000;
  if (WIFSIGNALED(status)) return 3000 + WTERMSIG(status);
  return WEXITSTATUS(status);
}

static inline long status_of(pid_t child, int options) {
  int status = 0;
  check(waitpid(child, &status, options) == child, "waitpid");
  return number_of(status);
}

static inline int wait_for_long(void) {
  let_pass(100000);
  return 5;
}

static volatile sig_atomic_t signals;
static inline void count_signal(int number) {
  (void)number;
  ++signals;
}
static inline void handle(int number, int flags) {
  struct sigaction action = {.sa_handler = count_signal, .sa_flags = flags};
  sigaction(number, &action, NULL);
}

static inline void open_terminal(void) {
  ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
  check(ends[0] >= 0 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0, "posix_openpt");
}

static inline void take_terminal(void) {
  check(setsid() > 0, "setsid");
  ends[1] = open(ptsname(ends[0]), O_RDWR);  // and so it becomes that of the session
  check(ends[1] >= 0 && tcgetpgrp(ends[1]) == getpgrp(), "the terminal");
}

/// Does the deed in the leader of a session that has a terminal; `ends[0]` is its other end.
static inline long on_a_terminal(int (*deed)(void)) {
  open_terminal();
  const pid_t leader = fork();
  if (leader == 0) {
    take_terminal();
    _exit(deed());
  }
  return status_of(leader, WUNTRACED);
}

static inline pid_t in_background(int (*deed)(void)) {
  const pid_t child = fork();
  if (child != 0) {
    setpgid(child, child);
    return child;
  }
  setpgid(0, 0);
  _exit(deed());
}

static inline void to_foreground(pid_t group) {
  signal(SIGTTOU, SIG_IGN);
  check(tcsetpgrp(ends[1], group) == 0, "tcsetpgrp");
}
