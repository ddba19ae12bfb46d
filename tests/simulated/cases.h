// For programs that consist of cases: each prints its result, the error and, in tenths of a
// millisecond, the time that it took. What Linux prints is in a file beside the program
// (as_linux.sh).
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct one_case {
  const char* name;
  long (*run)(void);  // its result; negative: errno says why
};

#define CASE(name) \
  { #name, name }

/// Ends the case with a message if the condition does not hold.
static inline void check(int condition, const char* what) {
  if (condition) return;
  printf("%s: %s\n", what, strerror(errno));
  exit(3);
}

static inline void let_pass(long microseconds) {
  const struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

/// Does the deed in a child of this process, which ends with 7 afterwards.
static inline pid_t after(long microseconds, void (*deed)(void)) {
  const pid_t child = fork();
  if (child != 0) return child;
  let_pass(microseconds);
  if (deed != NULL) deed();
  _exit(7);
}

static inline long tenths(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 10000 + now.tv_nsec / 100000;
}

static inline void run_case(const struct one_case* each) {
  const long begin = tenths();
  errno = 0;
  const long result = each->run();
  const char* const error = result < 0 ? strerror(errno) : "no error";
  printf("%s: %ld, %s, after %ld\n", each->name, result, error, tenths() - begin);
  fflush(stdout);
  while (wait(NULL) > 0) continue;
}

/// Runs all cases whose names begin with `prefix`, each in a process of its own.
static inline void run_cases(const struct one_case* cases, size_t count, const char* prefix) {
  for (const struct one_case* each = cases; each != cases + count; ++each) {
    if (strncmp(each->name, prefix, strlen(prefix)) != 0) continue;
    const pid_t child = fork();
    if (child == 0) {
      run_case(each);
      exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) != child) continue;
    if (status != 0) printf("%s: status %x\n", each->name, (unsigned)status);
    fflush(stdout);
  }
}
