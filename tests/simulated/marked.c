// A program with marks, compiled with points at its blocks. Two threads add to a plain variable:
// one addition is lost when a thread stores what it has read before the other stored.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "sim/points/coverage.h"
#include "sim/points/marks.h"

static volatile int sum;
static int atomically;

static void* add(void* unused) {
  if (atomically) {
    __atomic_fetch_add(&sum, 1, __ATOMIC_SEQ_CST);
    return unused;
  }
  const int seen = sum;
  if (seen > 0) anyrdma_reached("the other thread came first");
  sum = seen + 1;
  return unused;
}

int main(int argc, char** argv) {
  atomically = argc > 1 && strcmp(argv[1], "atomic") == 0;
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  anyrdma_sometimes("an argument is given", argc > 1);
  anyrdma_sometimes("ten arguments are given", argc > 10);
  anyrdma_always("both additions count", sum == 2);
  printf("sum %d\n", sum);
  return 0;
}
