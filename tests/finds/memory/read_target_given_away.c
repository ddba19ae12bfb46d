// A client gives up a READ that takes too long, and uses its buffer for something else; the data
// comes later.
//
// kind: memory given away while a READ is under way
// source: novitalabs/pegaflow 403
// needs: faults, spec
//
// buggy: after the timeout the buffer goes back to the pool, which gives it to the next one who
//   asks.
// fixed: a buffer goes back to the pool when its READ has completed.
#include "tests/finds/kit.h"

enum { kReads = 20, kTimeoutUs = 60, kBytes = 64, kBuffers = kReads + 1 };

struct pool {
  int free[kBuffers];
  int count;
};

static int take_buffer(struct pool* pool) {
  CHECK(pool->count > 0);
  return pool->free[--pool->count];
}

static void give_back(struct pool* pool, int buffer) {
  pool->free[pool->count++] = buffer;
}

/// Whether a READ has completed in time; earlier ones that had been given up may complete, too.
static bool is_read_in_time(const struct end* end, struct pool* pool, int buffer, bool fixed) {
  for (const uint64_t until = now_us() + kTimeoutUs; now_us() < until; pause_us(11)) {
    struct ibv_wc wc;
    if (!poll_once(end->send_cq, &wc)) continue;
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    if (wc.wr_id == (uint64_t)buffer) return true;
    if (fixed) give_back(pool, wc.wr_id);
  }
  return false;
}

/// Somebody else's work on memory of the pool.
static void compute(const struct memory* memory, struct pool* pool) {
  const int buffer = take_buffer(pool);
  char* mine = memory->at + buffer * kBytes;
  memset(mine, 99, kBytes);
  pause_us(50);
  for (int i = 0; i < kBytes; i++) CHECK_EQ(load8(mine + i), 99);
  give_back(pool, buffer);
}

static void read_all(const struct end* end, const struct memory* memory, bool fixed) {
  struct pool pool = {0};
  for (int i = 0; i < kBuffers; i++) give_back(&pool, i);
  for (int i = 0; i < kReads; i++) {
    const int buffer = take_buffer(&pool);
    post_read(end, buffer, memory, buffer * kBytes, kBytes, 0, IBV_SEND_SIGNALED);
    const bool read = is_read_in_time(end, &pool, buffer, fixed);
    if (read || !fixed) give_back(&pool, buffer);
    compute(memory, &pool);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[kBuffers * kBytes];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, bytes, sizeof bytes);
  barrier(end.socket);
  if (is(&run, "client")) read_all(&end, &memory, run.fixed);
  barrier(end.socket);
  return 0;
}
