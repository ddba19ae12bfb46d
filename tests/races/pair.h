/* Two processes with a connection, buffers that the peer may access, and calls that do one thing. A
 * call that fails ends the process with status 9 and its line. */
#pragma once

#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBytes = 256, kHalf = kBytes / 2, kWords = kBytes / 8 };

#define MUST(what)                                              \
  do {                                                          \
    if (!(what)) {                                              \
      printf("line %d of %s: %s\n", __LINE__, __FILE__, #what); \
      exit(9);                                                  \
    }                                                           \
  } while (0)

/* One of four buffers, which are all registered. The peer's `target` can be reached. */
extern uint64_t *source, *inbox, *other, *target;

void connect_pair(int is_client, const char* address, int with_shared_queue);
void disconnect_pair(void);
void destroy_queue_pair(void);

/* Posts; wr_id is `id`. Flags of ibv_send_flags. */
void post_send(uint64_t id, void* at, unsigned bytes, int flags);
void post_receive(uint64_t id, void* at, unsigned bytes);
void post_write(uint64_t id, void* at, unsigned bytes, unsigned offset);
void post_write_with_imm(uint64_t id, void* at, unsigned bytes);
void post_read(uint64_t id, void* at, unsigned bytes, unsigned offset);
void post_fetch_add(uint64_t id, void* result);
void post_compare_swap(uint64_t id, void* result);
/* Polls until a completion with this id comes, which is a success. */
void wait_send(uint64_t id);
void wait_receive(uint64_t id);
/* One message each, of a buffer of their own: the peer has done all that it did before. */
void tell(void);
void hear(void);
/* Calls `what` again and again for a third of a second, without a call of verbs. */
void keep(void (*what)(void));
/* Calls `what` ten times in that time. */
void repeat(void (*what)(void));
