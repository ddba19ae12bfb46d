// A writer puts a block into a store and tells a reader of it, who reads the store and finds the
// old block.
//
// kind: commit, then notify, by a third node
// source: thustorage/Sherman 23
// needs: spec
//
// buggy: tells the reader when the WRITE to the store has completed.
// fixed: reads the block back from the store first, which makes it visible to everybody.
#include "tests/finds/kit.h"

enum { kRounds = 8, kBytes = 64 };

static void store(void) {
  static char bytes[kRounds * kBytes];
  const int listener = listen_on(5000);
  const struct end writer = connect_by(accept_from(listener), (struct options){0});
  share_memory(&writer, bytes, sizeof bytes);
  const struct end reader =
      connect_by(accept_from(listener), (struct options){.device = &writer.device});
  share_memory(&reader, bytes, sizeof bytes);
  barrier(writer.socket);
  barrier(reader.socket);
}

static void write_all(const struct run* run) {
  static char bytes[kRounds * kBytes];
  const struct end store = connect_by(dial(run->peer, 5000), (struct options){0});
  const struct memory memory = share_memory(&store, bytes, sizeof bytes);
  const struct end reader =
      connect_by(accept_from(listen_on(5001)), (struct options){.device = &store.device});
  static char scratch[kBytes];
  struct memory back = own_memory(&store, scratch, sizeof scratch);
  back.peer_at = memory.peer_at;
  back.peer_key = memory.peer_key;
  barrier(reader.socket);
  for (int i = 0; i < kRounds; i++) {
    memset(bytes + i * kBytes, i + 1, kBytes);
    post_write(&store, i, &memory, i * kBytes, kBytes, i * kBytes, IBV_SEND_SIGNALED);
    complete(store.send_cq);
    if (run->fixed) {
      post_read(&store, i, &back, 0, kBytes, i * kBytes, IBV_SEND_SIGNALED);
      complete(store.send_cq);
    }
    post_send(&reader, i, &memory, i * kBytes, 8, IBV_SEND_SIGNALED);
    complete(reader.send_cq);
  }
  barrier(reader.socket);
  barrier(store.socket);
}

static void read_all(const struct run* run) {
  static char bytes[(kRounds + 1) * kBytes];
  const struct end store = connect_by(dial(run->peer, 5000), (struct options){0});
  const struct memory memory = share_memory(&store, bytes, kRounds * kBytes);
  const struct end writer =
      connect_by(dial("first", 5001), (struct options){.device = &store.device});
  const struct memory notices = own_memory(&writer, bytes + kRounds * kBytes, kBytes);
  for (int i = 0; i < kRounds; i++) post_receive(&writer, i, &notices, 0, 8);
  barrier(writer.socket);
  for (int i = 0; i < kRounds; i++) {
    complete(writer.recv_cq);
    post_read(&store, i, &memory, i * kBytes, kBytes, i * kBytes, IBV_SEND_SIGNALED);
    complete(store.send_cq);
    for (int j = 0; j < kBytes; j++) CHECK_EQ(load8(bytes + i * kBytes + j), i + 1);
  }
  barrier(writer.socket);
  barrier(store.socket);
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  if (is(&run, "server")) {
    store();
  } else if (is(&run, "first")) {
    write_all(&run);
  } else {
    read_all(&run);
  }
  return 0;
}
