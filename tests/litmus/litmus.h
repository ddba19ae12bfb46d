/* Litmus tests of RDMA's memory: small programs of up to three nodes, all outcomes that the
 * specification allows, and those of a device that does everything at once and in order. Written by
 * hand from docs/memory.md. What runs a program is here, too: the same for fibers and processes. */
#pragma once

#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LITMUS_NODES = 3, LITMUS_QPS = 2, LITMUS_LINE = 64, LITMUS_BYTES = 26 * LITMUS_LINE };

/* Programs: "put T Q d s": the word d of node T becomes the own word s, by queue pair Q (q, or p
 * for a second one). "get T Q d s": the own word d becomes s of node T. "faa T Q d s": likewise,
 * and s becomes one more. ",fence" may follow. "poll T Q": waits for a completion. "st x 1",
 * "ld r x", "add x": the processor's store, load and atomic increment. A node that takes part has a
 * program. `initial`: words that are not 0, as in "y@1=2". `observed`: registers ("1:r") and words
 * at the end ("z@1"). Outcomes are their values with commas, in any order. */
struct litmus_test {
  const char* name;
  const char* nodes[LITMUS_NODES];
  const char* initial;
  const char* observed;
  const char* spec;   /* all that is allowed, and no other */
  const char* strict; /* of a device in order */
  const char* weaker; /* as spec, where the region is weak; null: as spec */
};

#define MESSAGE "put 1 q d i;put 1 q f i", "ld f f;ld d d"
#define MESSAGE_OUTCOMES "0,0 0,1 1,1"
#define ALL_FOUR "0,0 0,1 1,0 1,1"

static const struct litmus_test litmus_tests[] = {
    {"V1", {"ld a x", "put 0 q x y;poll 0 q;get 0 q z x;poll 0 q;ld b z"}, "y@1=2 z@1=1",
     "0:a 1:b", "0,2 2,2", "0,2 2,2", 0},
    {"V2", {"ld a x", "put 0 q x y;poll 0 q;faa 0 q z x;poll 0 q;ld b z"}, "y@1=2 z@1=1",
     "0:a 1:b", "0,2 2,2 3,2", "0,2 2,2 3,2", 0},
    {"V3", {"ld c x;ld d x", "put 0 q x p;put 0 q x y"}, "p@1=1 y@1=2", "0:c 0:d",
     "0,0 0,1 0,2 1,1 1,2 2,2", "0,0 0,1 0,2 1,1 1,2 2,2", 0},
    {"L1", {"put 1 q z x;st x 1"}, "", "z@1", "0 1", "0", 0},
    {"L2", {"put 1 q z x;poll 1 q;st x 1"}, "", "z@1", "0", "0", 0},
    {"L3", {"st x 1;put 1 q z x"}, "", "z@1", "1", "1", 0},
    {"L4", {MESSAGE}, "i@0=1", "1:f 1:d", MESSAGE_OUTCOMES, MESSAGE_OUTCOMES, 0},
    {"L5", {MESSAGE}, "i@0=1", "1:f 1:d", MESSAGE_OUTCOMES, MESSAGE_OUTCOMES, ALL_FOUR},
    {"L6", {"put 1 q d i;put 1 p f i", "ld f f;ld d d"}, "i@0=1", "1:f 1:d", ALL_FOUR,
     MESSAGE_OUTCOMES, 0},
    {"L7", {"put 1 q d i;faa 1 q t f", "ld f f;ld d d"}, "i@0=1", "1:f 1:d", MESSAGE_OUTCOMES,
     MESSAGE_OUTCOMES, 0},
    {"L8", {"get 1 q x z;put 1 q w x"}, "z@1=5", "w@1", "0 5", "0 5", 0},
    {"L9", {"get 1 q x z;put 1 q w x,fence"}, "z@1=5", "w@1", "5", "5", 0},
    /* A device reads for a READ when its answer leaves: a WRITE may have come with the READ. */
    {"L10", {"get 1 q r z;put 1 q z i"}, "i@0=1 r@0=9", "r@0", "0 1", "0 1", 0},
    {"L11", {"get 1 q r z;put 1 q z i,fence"}, "i@0=1 r@0=9", "r@0", "0", "0", 0},
    {"L12", {"put 1 q z i;get 1 q r z"}, "i@0=1 r@0=9", "r@0", "1", "1", 0},
    {"L13", {"put 1 q z i;get 1 q r z"}, "i@0=1 r@0=9", "r@0", "1", "1", "0 1"},
    {"L14", {"get 1 q r z;get 1 q s y", "st y 1;st z 1"}, "r@0=9 s@0=9", "r@0 s@0", ALL_FOUR,
     MESSAGE_OUTCOMES, 0},
    {"L15", {"put 1 q y i;poll 1 q;ld r x", "put 0 q x i;poll 0 q;ld r y"}, "i@0=1 i@1=1",
     "0:r 1:r", ALL_FOUR, "0,1 1,0 1,1", 0},
    {"L16",
     {"put 1 q y i;poll 1 q;get 1 q t y;poll 1 q;ld r x",
      "put 0 q x i;poll 0 q;get 0 q t x;poll 0 q;ld r y"},
     "i@0=1 i@1=1", "0:r 1:r", "0,1 1,0 1,1", "0,1 1,0 1,1", 0},
    {"L17", {"put 1 q x i;poll 1 q;put 2 q y i", 0, "ld r y;get 1 q s x;poll 1 q;ld s s"}, "i@0=1",
     "2:r 2:s", ALL_FOUR, MESSAGE_OUTCOMES, 0},
    {"L18",
     {"put 1 q x i;poll 1 q;get 1 q t x;poll 1 q;put 2 q y i", 0,
      "ld r y;get 1 q s x;poll 1 q;ld s s"},
     "i@0=1", "2:r 2:s", MESSAGE_OUTCOMES, MESSAGE_OUTCOMES, 0},
    {"L19", {"faa 1 q t z", 0, "faa 1 q t z"}, "", "z@1", "2", "2", 0},
    {"L20", {"faa 1 q t z", "add z"}, "", "z@1", "1 2", "2", 0},
    {"L21", {"faa 1 q t z", 0, "put 1 q z v"}, "v@2=5", "z@1", "1 5 6", "5 6", 0},
    {"L22", {"get 1 q x z;ld r x"}, "z@1=5", "0:r", "0 5", "0 5", 0},
    {"L23", {"get 1 q x z;poll 1 q;ld r x"}, "z@1=5", "0:r", "5", "5", 0},
    {"L24", {"put 1 q z x;get 1 q x w"}, "z@1=9 w@1=5", "z@1", "0", "0", 0},
};

enum { LITMUS_TESTS = sizeof litmus_tests / sizeof litmus_tests[0] };

/* What one node has. */
struct litmus_node {
  uint64_t* words; /* LITMUS_BYTES of registered memory, of which each word has a line */
  uint32_t lkey;
  struct ibv_qp* qp[LITMUS_NODES][LITMUS_QPS]; /* to the other nodes, each with its own queue */
  uint64_t there[LITMUS_NODES];                /* their words' address and key */
  uint32_t rkey[LITMUS_NODES];
  int outstanding[LITMUS_NODES][LITMUS_QPS];
  uint64_t registers[26];
  void (*pause)(void*); /* time may pass: before each step, and while a completion is not there */
  void* context;
  int failed; /* a call failed, or a completion says so */
};

static inline volatile uint64_t* litmus_word(const struct litmus_node* node, char name) {
  return node->words + (size_t)(name - 'a') * (LITMUS_LINE / sizeof(uint64_t));
}

static inline void litmus_initialise(struct litmus_node* node, int number, const char* text) {
  for (int i = 0; i < 26; ++i) {
    *litmus_word(node, (char)('a' + i)) = 0;
    node->registers[i] = 0;
  }
  char name;
  int at, value;
  while (sscanf(text, " %c@%d=%d", &name, &at, &value) == 3) {
    if (at == number) *litmus_word(node, name) = (uint64_t)value;
    text += strcspn(text, " ");
    text += strspn(text, " ");
  }
}

static inline void litmus_poll(struct litmus_node* node, int target, int which) {
  struct ibv_qp* const qp = node->qp[target][which];
  struct ibv_wc completion;
  --node->outstanding[target][which];
  int count;
  while ((count = ibv_poll_cq(qp->send_cq, 1, &completion)) == 0) node->pause(node->context);
  if (count < 0 || completion.status != IBV_WC_SUCCESS) node->failed = 1;
}

/* One step of a program, which ends with ; or the text. */
static inline void litmus_step(struct litmus_node* node, const char* program) {
  char step[32], word[8], queue, first, second;
  int target, value;
  snprintf(step, sizeof step, "%.*s", (int)strcspn(program, ";"), program);
  if (sscanf(step, "%7s %d %c %c %c", word, &target, &queue, &first, &second) == 5) {
    const int atomic = strcmp(word, "faa") == 0, put = strcmp(word, "put") == 0;
    const char own = put ? second : first, remote = put ? first : second;
    const size_t comma = strcspn(step, ",");
    struct ibv_sge piece = {(uintptr_t)litmus_word(node, own), sizeof(uint64_t), node->lkey};
    struct ibv_send_wr request, *bad;
    memset(&request, 0, sizeof request);
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = put ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
    request.send_flags = IBV_SEND_SIGNALED | (step[comma] == ',' ? IBV_SEND_FENCE : 0);
    request.wr.rdma.remote_addr = node->there[target] + (size_t)(remote - 'a') * LITMUS_LINE;
    request.wr.rdma.rkey = node->rkey[target];
    if (atomic) {
      const uint64_t address = request.wr.rdma.remote_addr;
      request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
      request.wr.atomic.remote_addr = address;
      request.wr.atomic.rkey = node->rkey[target];
      request.wr.atomic.compare_add = 1;
    }
    ++node->outstanding[target][queue == 'p'];
    if (ibv_post_send(node->qp[target][queue == 'p'], &request, &bad) != 0) node->failed = 1;
  } else if (sscanf(step, "poll %d %c", &target, &queue) == 2) {
    litmus_poll(node, target, queue == 'p');
  } else if (sscanf(step, "st %c %d", &first, &value) == 2) {
    *litmus_word(node, first) = (uint64_t)value;
  } else if (sscanf(step, "ld %c %c", &first, &second) == 2) {
    node->registers[first - 'a'] = *litmus_word(node, second);
  } else if (sscanf(step, "add %c", &first) == 1) {
    __atomic_fetch_add(litmus_word(node, first), 1, __ATOMIC_SEQ_CST);
  } else {
    node->failed = 1;
  }
}

static inline void litmus_run(struct litmus_node* node, const char* program) {
  while (program != 0 && *program != 0) {
    node->pause(node->context);
    litmus_step(node, program);
    program += strcspn(program, ";");
    program += *program == ';';
  }
}

/* Takes all completions that the program has left. */
static inline void litmus_finish(struct litmus_node* node) {
  for (int target = 0; target < LITMUS_NODES; ++target)
    for (int which = 0; which < LITMUS_QPS; ++which)
      while (node->outstanding[target][which] > 0) litmus_poll(node, target, which);
}

/* The bytes of a READ's target are not defined until its completion: in the simulator a pattern
 * says so, which counts as what was there before, 0. */
static inline uint64_t litmus_value(uint64_t seen) {
  return seen == UINT64_C(0xa5a5a5a5a5a5a5a5) ? 0 : seen;
}

/* Appends the values of what is observed at one node, with a comma behind each. */
static inline size_t litmus_observe(const struct litmus_node* node, int number, const char* text,
                                    int index, char* out, size_t size) {
  char name;
  int at;
  for (int i = 0; i < index; ++i) {
    text += strcspn(text, " ");
    text += strspn(text, " ");
  }
  uint64_t seen;
  if (sscanf(text, "%d:%c", &at, &name) == 2)
    seen = node->registers[name - 'a'];
  else if (sscanf(text, "%c@%d", &name, &at) == 2)
    seen = *litmus_word(node, name);
  else
    return 0;
  if (at != number) return 0;
  return (size_t)snprintf(out, size, "%llu", (unsigned long long)litmus_value(seen));
}

#ifdef __cplusplus
}
#endif
