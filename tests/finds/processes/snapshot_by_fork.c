// A server makes snapshots of its memory by fork(2), while a client changes that memory by WRITE.
//
// kind: fork with registered memory
// source: pmem/rpma 751, ceph/ceph 13740 (programs that fork with memory registered)
// needs: points, spec
//
// buggy: forks between two WRITEs that belong together: what the child writes down is neither old
//   nor new.
// fixed: asks the client to make a pause first, which makes its WRITEs visible by a READ.
#include "tests/finds/kit.h"

#include <sys/socket.h>
#include <sys/wait.h>

enum { kSnapshots = 5, kTransfers = 200, kSum = 1000, kOther = 128, kScratch = 256, kBytes = 384 };

static void snapshot(const char* accounts) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(load64(accounts) + load64(accounts + kOther) == kSum ? 0 : 1);
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

static void serve(const struct end* end, const char* accounts, bool fixed) {
  char word;
  for (int i = 0; i < kSnapshots; i++) {
    pause_us(70);
    if (fixed) {
      send_bytes(end->socket, "p", 1);
      take_bytes(end->socket, &word, 1);
    }
    snapshot(accounts);
    if (fixed) send_bytes(end->socket, "g", 1);
  }
  send_bytes(end->socket, "e", 1);
}

static void make_transfer(const struct end* end, const struct memory* memory, int number) {
  store64(memory->at, kSum - number);
  store64(memory->at + kOther, number);
  post_write(end, 0, memory, 0, 8, 0, IBV_SEND_SIGNALED);
  post_write(end, 0, memory, kOther, 8, kOther, IBV_SEND_SIGNALED);
  complete(end->send_cq);
  complete(end->send_cq);
  pause_us(25);
}

static void make_visible_and_wait(const struct end* end, const struct memory* memory) {
  post_read(end, 0, memory, kScratch, kOther, kOther, IBV_SEND_SIGNALED);
  post_read(end, 0, memory, kScratch, 8, 0, IBV_SEND_SIGNALED);
  complete(end->send_cq);
  complete(end->send_cq);
  char word;
  send_bytes(end->socket, "p", 1);
  take_bytes(end->socket, &word, 1);
}

static void change(const struct end* end, const struct memory* memory) {
  char word = 0;
  for (int i = 1; word != 'e'; i++) {
    if (i <= kTransfers) make_transfer(end, memory, i);
    if (recv(end->socket, &word, 1, i < kTransfers ? MSG_DONTWAIT : 0) != 1) continue;
    if (word == 'p') make_visible_and_wait(end, memory);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[kBytes];
  store64(bytes, kSum);
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, bytes, sizeof bytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    serve(&end, bytes, run.fixed);
  } else {
    change(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
