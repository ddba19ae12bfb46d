/* Marks: calls in a program's own code that report situations and conditions to `anyrdma sim` and
 * `anyrdma explore`. For C and C++; no library must be linked. Under anyrdma, a preloaded library
 * implements the marks; elsewhere they have no effect and cost one test of a pointer. In a program
 * that is linked statically, or compiled without -fPIE, they never have an effect.
 *
 *   #include <anyrdma/marks.h>
 *   anyrdma_sometimes("a request was retried", retries > 0);
 *   anyrdma_always("no credit is lost", credits + in_flight == window);
 *   anyrdma_reached("the lock was taken over");
 *
 * Marks may be called by any thread and by signal handlers. `name` names the mark in reports;
 * marks with the same name are counted together. A name longer than 200 bytes is truncated. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum { ANYRDMA_MARK_SOMETIMES = 0, ANYRDMA_MARK_ALWAYS = 1 };

/* Private: use the functions below. */
__attribute__((weak)) void anyrdma_mark(int kind, const char* name, int condition);

/* Reports whether a situation that should occur in some run has occurred (`condition` is not 0).
 * `anyrdma explore` prints in how many runs the situation occurred, and continues its search from
 * the first of these runs. With --must-see, it fails if the situation occurred in no run. */
static inline void anyrdma_sometimes(const char* name, int condition) {
  if (anyrdma_mark) anyrdma_mark(ANYRDMA_MARK_SOMETIMES, name, condition);
}

/* Reports whether a condition holds (is not 0) that must hold in every run. If the condition does
 * not hold, the run has failed; the program continues. */
static inline void anyrdma_always(const char* name, int condition) {
  if (anyrdma_mark) anyrdma_mark(ANYRDMA_MARK_ALWAYS, name, condition);
}

/* Reports that the program has reached a place in its code that should be reached in some run. The
 * report counts like one of anyrdma_sometimes() with a true condition. */
static inline void anyrdma_reached(const char* name) {
  if (anyrdma_mark) anyrdma_mark(ANYRDMA_MARK_SOMETIMES, name, 1);
}

#ifdef __cplusplus
}
#endif
