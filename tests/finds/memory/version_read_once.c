// A client reads version and object with two READs that are under way together, and trusts an even
// version.
//
// kind: torn READ, version at the front only
// source: rezabrizi/AtomicRing 4 (the same mistake in shared memory)
// needs: order, spec
//
// buggy: READs are not ordered among themselves, and the object may change after its version has
//   been read.
// fixed: waits for the version, then for the object, and reads the version once more.
#include "tests/finds/kit.h"

enum { kUpdates = 25, kReads = 16, kVersion = 0, kObject = 128, kSize = 64, kBytes = 192 };

static void update(char* object) {
  for (int i = 1; i <= kUpdates; i++) {
    store64(object + kVersion, 2 * i - 1);
    for (int j = 0; j < kSize; j += 8) {
      store64(object + kObject + j, i);
      if (i % 4 == 0 && j == kSize / 2) pause_us(0);  // Long updates let other threads go on.
    }
    store64(object + kVersion, 2 * i);
    pause_us(13);
  }
}

static void post_version(const struct end* end, const struct memory* memory) {
  post_read(end, 0, memory, kVersion, 8, kVersion, IBV_SEND_SIGNALED);
}

static void post_object(const struct end* end, const struct memory* memory) {
  post_read(end, 1, memory, kObject, kSize, kObject, IBV_SEND_SIGNALED);
}

/// Whether the client believes that it has read a whole object.
static bool read_object(const struct end* end, const struct memory* memory, bool fixed) {
  post_version(end, memory);
  if (fixed) complete(end->send_cq);
  const uint64_t before = load64(memory->at + kVersion);
  post_object(end, memory);
  complete(end->send_cq);
  if (!fixed) {
    complete(end->send_cq);
    return load64(memory->at + kVersion) % 2 == 0;
  }
  post_version(end, memory);
  complete(end->send_cq);
  return before % 2 == 0 && load64(memory->at + kVersion) == before;
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char object[kBytes];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, object, sizeof object);
  barrier(end.socket);
  if (is(&run, "server")) {
    update(object);
  } else {
    for (int i = 0; i < kReads; i++) {
      AWAIT(read_object(&end, &memory, run.fixed));
      for (int j = 0; j < kSize; j += 8)
        CHECK_EQ(load64(object + kObject + j), load64(object + kObject));
    }
  }
  barrier(end.socket);
  return 0;
}
