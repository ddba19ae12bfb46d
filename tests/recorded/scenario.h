// A program in C, as a process of its own or in a fiber: a connection that is rejected, then one
// that works, with a shared receive queue, signaled and unsignaled work, and an orderly end.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Both return 0, or the line of the call that failed.
int scenario_serve(void);
int scenario_ask(void);

#ifdef __cplusplus
}
#endif
