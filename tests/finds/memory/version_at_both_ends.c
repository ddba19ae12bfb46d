// A record of three cache lines has its version in the first and in the last one; what is between
// them is not covered.
//
// kind: torn WRITE, versions per cache line
// source: linux-rdma/rdma-core 1780
// needs: spec
//
// buggy: takes a record for whole when the version is the same at both ends, although a WRITE may
//   become visible in any order, 64 bytes at a time.
// fixed: takes it when a checksum of all of it is right.
#include "tests/finds/kit.h"

enum { kRecords = 16, kWords = 24 };

struct record {
  uint64_t words[kWords];  ///< The first and the last one are the version; the last but one is the
                           ///< checksum.
};

static uint64_t checksum(const struct record* record) {
  uint64_t sum = 1;
  for (int i = 0; i < kWords - 2; i++) sum = 31 * sum + record->words[i];
  return sum;
}

static bool is_whole(const struct record* record, uint64_t version, bool fixed) {
  struct record seen;
  for (int i = 0; i < kWords; i++) seen.words[i] = load64(&record->words[i]);
  if (seen.words[0] != version || seen.words[kWords - 1] != version) return false;
  if (fixed && seen.words[kWords - 2] != checksum(&seen)) return false;
  for (int i = 1; i < kWords - 2; i++) CHECK_EQ(seen.words[i], version * 100 + i);
  return true;
}

static void take_all(const struct record* records, bool fixed) {
  for (int i = 0; i < kRecords; i++) AWAIT(is_whole(&records[i], i + 1, fixed));
}

static void write_all(const struct end* end, const struct memory* memory) {
  struct record* records = (struct record*)memory->at;
  for (int i = 0; i < kRecords; i++) {
    uint64_t* words = records[i].words;
    words[0] = words[kWords - 1] = i + 1;
    for (int j = 1; j < kWords - 2; j++) words[j] = (i + 1) * 100 + j;
    words[kWords - 2] = checksum(&records[i]);
    post_write(end, i, memory, i * sizeof *records, sizeof *records, i * sizeof *records,
               IBV_SEND_SIGNALED);
    complete(end->send_cq);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static struct record records[kRecords] __attribute__((aligned(64)));
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, records, sizeof records);
  if (is(&run, "server")) {
    take_all(records, run.fixed);
  } else {
    write_all(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
