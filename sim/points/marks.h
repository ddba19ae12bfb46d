/* Marks in a program's own code, for `anyrdma sim` and `anyrdma explore`. C and C++, no library to
   link: under anyrdma the marks are found in a library that the loader puts first, elsewhere they
   do nothing (one test of a pointer). A program that is linked statically, or without -fPIE, has no
   such place: its marks do nothing anywhere.

     #include <anyrdma/marks.h>
     anyrdma_sometimes("a request was retried", retries > 0);
     anyrdma_always("no credit is lost", credits + in_flight == window);
     anyrdma_reached("the lock was taken over");

   Threads: any, and signal handlers. `name` is a string that names the mark in reports; marks of
   one name are one. At most 200 bytes of it count. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum { ANYRDMA_MARK_SOMETIMES = 0, ANYRDMA_MARK_ALWAYS = 1 };

/* Private: use the functions below. */
__attribute__((weak)) void anyrdma_mark(int kind, const char* name, int condition);

/* The situation is to occur in some run. `explore` says in how many of its runs it did, searches
   on from the runs in which it did first, and with --must-see fails when it never did. */
static inline void anyrdma_sometimes(const char* name, int condition) {
  if (anyrdma_mark) anyrdma_mark(ANYRDMA_MARK_SOMETIMES, name, condition);
}

/* The condition is to hold in every run. A run in which it does not has failed; the program goes
   on. */
static inline void anyrdma_always(const char* name, int condition) {
  if (anyrdma_mark) anyrdma_mark(ANYRDMA_MARK_ALWAYS, name, condition);
}

/* This place is to be reached in some run. */
static inline void anyrdma_reached(const char* name) {
  if (anyrdma_mark) anyrdma_mark(ANYRDMA_MARK_SOMETIMES, name, 1);
}

#ifdef __cplusplus
}
#endif
