/* A clock that goes sixteen times as fast, for programs that wait for it busily: preloaded. */
#include <sys/time.h>
#include <time.h>

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec real;
  if (clock_gettime(CLOCK_MONOTONIC, &real) != 0) return -1;
  const long long us = (real.tv_sec * 1000000LL + real.tv_nsec / 1000) * 16;
  now->tv_sec = us / 1000000;
  now->tv_usec = us % 1000000;
  return 0;
}
