// A client reads an object of two words that the server's processor changes meanwhile, and does not
// look at its version.
//
// kind: torn READ
// source: rezabrizi/AtomicRing 4 (the same mistake in shared memory)
// needs: order, spec
//
// buggy: one READ of the object.
// fixed: READs of the version before and after, each when the one before it has completed; again
//   unless the version is even and the same.
#include "tests/finds/kit.h"

enum { kUpdates = 25, kReads = 12, kVersion = 0, kFirst = 128, kSecond = 256, kBytes = 384 };

/// The two words always add up to 1000, but for the moment in between.
static void update(char* object) {
  for (int i = 1; i <= kUpdates; i++) {
    store64(object + kVersion, 2 * i - 1);
    store64(object + kFirst, 1000 - i);
    if (i % 5 == 0) pause_us(0);  // Long updates let other threads go on.
    store64(object + kSecond, i);
    store64(object + kVersion, 2 * i);
    pause_us(11);
  }
}

static uint64_t read_version(const struct end* end, const struct memory* memory) {
  post_read(end, 0, memory, kVersion, 8, kVersion, IBV_SEND_SIGNALED);
  complete(end->send_cq);
  return load64(memory->at + kVersion);
}

static void read_object(const struct end* end, const struct memory* memory) {
  post_read(end, 0, memory, kFirst, kBytes - kFirst, kFirst, IBV_SEND_SIGNALED);
  complete(end->send_cq);
}

static void read_checked(const struct end* end, const struct memory* memory) {
  struct patience patience = patience_ms(10000);
  for (;;) {
    const uint64_t before = read_version(end, memory);
    read_object(end, memory);
    if (before % 2 == 0 && read_version(end, memory) == before) return;
    CHECK(nap(&patience));
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char object[kBytes];
  if (is(&run, "server")) store64(object + kFirst, 1000);
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, object, sizeof object);
  barrier(end.socket);
  if (is(&run, "server")) {
    update(object);
  } else {
    for (int i = 0; i < kReads; i++) {
      if (run.fixed) {
        read_checked(&end, &memory);
      } else {
        read_object(&end, &memory);
      }
      CHECK_EQ(load64(object + kFirst) + load64(object + kSecond), 1000);
    }
  }
  barrier(end.socket);
  return 0;
}
