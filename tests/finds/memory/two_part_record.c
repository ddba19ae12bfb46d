// A record has two parts, each brought by a WRITE; a server that reads it in between has a half of
// each.
//
// kind: torn WRITE
// source: linux-rdma/rdma-core 1780
// needs: points, spec
//
// buggy: takes both parts as soon as the first one has changed.
// fixed: the client raises a sequence number before and after, and the server reads again until it
//   is even and the same before and after.
#include <stddef.h>

#include "tests/finds/kit.h"

enum { kRecords = 20 };

struct record {
  uint64_t sequence;
  char gap1[120];
  uint64_t name;
  char gap2[120];
  uint64_t value;  ///< Seven times the name.
};

static bool read_record(const struct record* record, struct record* seen, bool fixed) {
  seen->sequence = load64(&record->sequence);
  seen->name = load64(&record->name);
  seen->value = load64(&record->value);
  return !fixed || (seen->sequence % 2 == 0 && load64(&record->sequence) == seen->sequence);
}

static void watch(const struct record* record, bool fixed) {
  struct record seen = {0};
  struct patience patience = patience_ms(10000);
  while (seen.name < kRecords) {
    CHECK(nap(&patience));
    if (!read_record(record, &seen, fixed)) {
      seen.name = 0;
      continue;
    }
    CHECK_EQ(seen.value, 7 * seen.name);
  }
}

static void update(const struct end* end, const struct memory* memory) {
  const size_t sequence = offsetof(struct record, sequence);
  for (uint64_t i = 1; i <= kRecords; i++) {
    // The sources are behind the record: the second number of the sequence must not replace the
    // first one.
    uint64_t* sources = (uint64_t*)(memory->at + sizeof(struct record));
    const uint64_t words[] = {2 * i - 1, i, 7 * i, 2 * i};
    const size_t places[] = {sequence, offsetof(struct record, name),
                             offsetof(struct record, value), sequence};
    for (int j = 0; j < 4; j++) {
      sources[j] = words[j];
      post_write(end, i, memory, sizeof(struct record) + 8 * j, 8, places[j], IBV_SEND_SIGNALED);
    }
    for (int j = 0; j < 4; j++) complete(end->send_cq);
    pause_us(1000);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static struct record record[2];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, record, sizeof record);
  if (is(&run, "server")) {
    watch(record, run.fixed);
  } else {
    update(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
