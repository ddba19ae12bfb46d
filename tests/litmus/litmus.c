/* The litmus tests between processes: litmus NODE ROUNDS. Node 0 prints "TEST OUTCOME" for each
 * test of each round. litmus table: prints what is allowed, "TEST;SPEC;STRICT;WEAKER" a line. */
#include "tests/litmus/litmus.h"

#include <sys/random.h>
#include <time.h>

#include "tests/finds/kit.h"

enum { PORT = 6000, LONGEST = 32 };

struct place {
  struct litmus_node self;
  int number;
  int sockets[LITMUS_NODES];
  struct ibv_mr* mr[2]; /* default, relaxed */
  uint32_t rkeys[2][LITMUS_NODES];
};

/* Not at all, or for less or more than what a round trip takes. */
static void pause_a_while(void* unused) {
  static const uint32_t longest[] = {0, 1000, 8000, 30000};
  (void)unused;
  uint32_t chance[2];
  CHECK(getrandom(chance, sizeof chance, 0) == sizeof chance);
  const struct timespec time = {0, chance[1] % (longest[chance[0] % 4] + 1) + 1};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, 0);
}

static void* buffer(void) {
  static _Alignas(4096) char bytes[4096];
  return bytes;
}

static struct device device_of(struct place* place) {
  const struct device device = open_device();
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                     IBV_ACCESS_REMOTE_ATOMIC;
  place->mr[0] = ibv_reg_mr(device.pd, buffer(), LITMUS_BYTES, access);
  place->mr[1] =
      ibv_reg_mr(device.pd, buffer(), LITMUS_BYTES, access | IBV_ACCESS_RELAXED_ORDERING);
  CHECK(place->mr[0] != 0 && place->mr[1] != 0);
  return device;
}

static void connect_with(struct place* place, int peer, const struct device* device) {
  struct tale {
    uint64_t there;
    uint32_t rkey[2];
  } ours = {(uintptr_t)buffer(), {place->mr[0]->rkey, place->mr[1]->rkey}}, theirs;
  const struct options options = {.device = device};
  const struct end first = connect_by(place->sockets[peer], options);
  const struct end second = connect_another(&first, options);
  place->self.qp[peer][0] = first.qp;
  place->self.qp[peer][1] = second.qp;
  swap_bytes(place->sockets[peer], &ours, &theirs, sizeof ours);
  place->self.there[peer] = theirs.there;
  place->rkeys[0][peer] = theirs.rkey[0];
  place->rkeys[1][peer] = theirs.rkey[1];
}

/* All have come here, and node 0 has what each of them says. */
static void meet_all(struct place* place, char said[LITMUS_NODES][LONGEST]) {
  char nothing[LITMUS_NODES][LONGEST] = {{0}};
  for (int go = 0; go < 2; ++go) { /* the second time node 0 says that all have come */
    for (int peer = 0; peer < LITMUS_NODES; ++peer) {
      if (peer == place->number || (peer != 0 && place->number != 0)) continue;
      swap_bytes(place->sockets[peer], go ? nothing[0] : said[place->number],
                 go ? nothing[1] : said[peer], LONGEST);
    }
  }
}

static void run_one(struct place* place, const struct litmus_test* test) {
  char said[LITMUS_NODES][LONGEST] = {{0}};
  char outcome[LONGEST * LITMUS_NODES] = "";
  const int relaxed = test->weaker != 0;
  place->self.lkey = place->mr[relaxed]->lkey;
  memcpy(place->self.rkey, place->rkeys[relaxed], sizeof place->self.rkey);
  litmus_initialise(&place->self, place->number, test->initial);
  meet_all(place, said);
  litmus_run(&place->self, test->nodes[place->number]);
  litmus_finish(&place->self);
  CHECK(!place->self.failed);
  meet_all(place, said);
  pause_us(1000); /* what was acknowledged becomes visible by then */
  for (int index = 0; index < 2; ++index) {
    char* const own = said[place->number];
    memset(said, 0, sizeof said);
    litmus_observe(&place->self, place->number, test->observed, index, own, LONGEST);
    meet_all(place, said);
    for (int node = 0; node < LITMUS_NODES; ++node) {
      if (said[node][0] == 0) continue;
      if (outcome[0] != 0) strcat(outcome, ",");
      strcat(outcome, said[node]);
    }
  }
  if (place->number == 0) printf("%s %s\n", test->name, outcome);
}

static void print_table(void) {
  for (int i = 0; i < LITMUS_TESTS; ++i) {
    const struct litmus_test* const test = &litmus_tests[i];
    printf("%s;%s;%s;%s\n", test->name, test->spec, test->strict,
           test->weaker != 0 ? test->weaker : "");
  }
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "table") == 0) {
    print_table();
    return 0;
  }
  CHECK(argc == 3);
  struct place place = {.number = atoi(argv[1])};
  place.self.words = buffer();
  place.self.pause = pause_a_while;
  const struct device device = device_of(&place);
  for (int peer = 0; peer < LITMUS_NODES; ++peer) {
    char host[8];
    if (peer == place.number) continue;
    snprintf(host, sizeof host, "n%d", peer);
    place.sockets[peer] = peer > place.number
                              ? accept_from(listen_on(PORT + 10 * place.number + peer))
                              : dial(host, PORT + 10 * peer + place.number);
    connect_with(&place, peer, &device);
  }
  for (int round = 0; round < atoi(argv[2]); ++round)
    for (int i = 0; i < LITMUS_TESTS; ++i) run_one(&place, &litmus_tests[i]);
  return 0;
}
