/* Lets the simulator switch threads at every basic block of a program's own code. Include this
 * header in one source file of a program that is compiled with
 * -fsanitize-coverage=trace-pc-guard (clang) or trace-pc (gcc). `anyrdma explore` then finds races
 * between plain loads and stores, and measures which code each run reaches. If the program does not
 * run under anyrdma, the functions of this header have no effect.
 *
 *   clang -fsanitize-coverage=trace-pc-guard ...
 *   gcc -fsanitize-coverage=trace-pc ...
 * Source: the names and arguments of the functions are those of Clang's SanitizerCoverage and of
 * gcc(1). */
#pragma once

#include <stdint.h>

#if defined(__clang__)
#define ANYRDMA_UNCOVERED __attribute__((no_sanitize("coverage")))
#else
#define ANYRDMA_UNCOVERED __attribute__((no_sanitize_coverage))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Reports that a thread has reached a basic block. Private; a library of anyrdma, which is
 * preloaded if the program runs under anyrdma, implements this function. */
__attribute__((weak)) void anyrdma_guard(uint32_t block);

ANYRDMA_UNCOVERED void __sanitizer_cov_trace_pc_guard_init(uint32_t* start, uint32_t* stop);
ANYRDMA_UNCOVERED void __sanitizer_cov_trace_pc_guard(uint32_t* guard);
ANYRDMA_UNCOVERED void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc_guard_init(uint32_t* start, uint32_t* stop) {
  static uint32_t numbers = 0;
  if (start == stop || *start != 0) return;
  while (start != stop) *start++ = ++numbers;
}

void __sanitizer_cov_trace_pc_guard(uint32_t* guard) {
  if (anyrdma_guard) anyrdma_guard(*guard);
}

void __sanitizer_cov_trace_pc(void) {
  if (anyrdma_guard) anyrdma_guard((uint32_t)(uintptr_t)__builtin_return_address(0));
}

#ifdef __cplusplus
}
#endif
