// The store's client: two threads write a key each, a third one reads the first key. A value names
// its key and its number, and a read must not be older than what was acknowledged before it was
// asked for.
#include <poll.h>

#include <atomic>
#include <thread>

#include "tests/finds/store/store.h"

namespace {

constexpr uint64_t kWrites = 12, kReads = 40;
constexpr int kAttempts = 60, kPatienceMs = 20, kWriterStays = 3, kReaderStays = 12;
constexpr int kSends = 16;

std::atomic<uint64_t> acknowledged{0};  // the first key's
std::atomic<bool> written{false};
std::atomic<uint64_t> birth{0};  // of the data

uint64_t value_of(uint64_t key, uint64_t number) {
  return key << 32 | number;
}

// One thread's connection to one server.
struct Session {
  lane l{};
  rdma_event_channel* channel = nullptr;
  bool up = false;
  int next = kReceives;
  int posted = 0, sent = 0;
  int heard = 0;

  void open(const char* server) {
    channel = open_channel();
    rdma_cm_id* id;
    NEED(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP));
    if (!resolve(id, server, kPort)) give_up("the address is not resolved");
    if (!lane_open(&l, id)) give_up("a queue pair");
    for (int i = 0; i < kReceives; ++i) NEED(post_recv(&l, i));
    const Purpose purpose = kFromClient;
    rdma_conn_param p = params(2, 7, &purpose, sizeof purpose);
    NEED(rdma_connect(id, &p));
    up = next_type(channel, 200) == RDMA_CM_EVENT_ESTABLISHED;
    if (!up) close();
  }
  void close() {
    if (l.id != nullptr) rdma_disconnect(l.id);
    lane_close(&l);
    if (channel != nullptr) rdma_destroy_event_channel(channel);
    *this = Session{};
  }
  // The reply to this attempt; false: none within so many milliseconds. A connection on which no
  // slot is free any more, as nothing has been sent, is given up.
  bool call(Message& message, int ms) {
    if (posted - sent == kSends) return up = false;
    memcpy(slot(&l, next), &message, sizeof message);
    if (post_send(&l, next) != 0) up = false;
    ++posted;
    next = next + 1 == kReceives + kSends ? kReceives : next + 1;
    const int64_t until = now_us() + ms * 1000;
    ibv_wc wc;
    while (up && next_wc(&l, &wc, static_cast<int>((until - now_us()) / 1000))) {
      if (wc.status != IBV_WC_SUCCESS) up = false;
      if (wc.wr_id >= 100) ++sent;
      if (!up || wc.wr_id >= 100) continue;
      Message got;
      memcpy(&got, slot(&l, static_cast<int>(wc.wr_id)), sizeof got);
      if (post_recv(&l, static_cast<int>(wc.wr_id)) != 0) up = false;
      ++heard;
      if (got.sequence != message.sequence) continue;
      if (got.kind != kReply || (message.kind == kGet && got.attempt != message.attempt)) continue;
      message = got;
      return true;
    }
    if (next_type(channel, 0) == RDMA_CM_EVENT_DISCONNECTED) up = false;
    return false;
  }
};

// Calls of one thread: patient with one server for some attempts, then with the other.
class Caller {
 public:
  Caller(uint32_t client, int stays, const char* const* servers)
      : client_(client), stays_(stays), servers_(servers) {}

  // True: it is done, and `floor` is what was acknowledged before the attempt that succeeded.
  bool operator()(Message& message, uint64_t& floor) {
    message.client = client_;
    message.sequence = ++sequence_;
    for (int i = 0; i < kAttempts; ++i) {
      Session& s = sessions_[at_];
      if (!s.up) s.close();
      if (!s.up) s.open(servers_[at_]);
      Message attempt = message;
      attempt.attempt = ++attempts_;
      floor = acknowledged;
      const bool replied = s.up && s.call(attempt, kPatienceMs);
      if (replied && attempt.status == kOk) {
        uint64_t first = 0;
        if (!birth.compare_exchange_strong(first, attempt.address) && first != attempt.address)
          give_up("the store has lost its memory");
        tries_ = 0;
        message = attempt;
        return true;
      }
      if (replied || !s.up || ++tries_ >= stays_) {
        at_ = 1 - at_;
        tries_ = 0;
        sleep_us(5000);
      }
    }
    return false;
  }

  // A server whose device takes a WRITE is there. If it has had time enough, it has to answer.
  void last_look() {
    for (Session& s : sessions_) {
      if (s.up && !call_once(s, 20000) && s.up && s.heard == 0)
        unanswered(&s.l, "the server is silent");
      s.close();
    }
  }

 private:
  bool call_once(Session& s, int ms) {
    s.heard = 0;
    Message question{};
    question.kind = kGet;
    question.client = client_;
    question.sequence = ++sequence_;
    question.attempt = ++attempts_;
    question.key = 1;
    return s.call(question, ms);
  }

  const uint32_t client_;
  const int stays_;
  const char* const* servers_;
  Session sessions_[2];
  int at_ = 0, tries_ = 0;
  uint64_t sequence_ = 0, attempts_ = 0;
};

void write_all(uint64_t key, const char* const* servers) {
  Caller call(static_cast<uint32_t>(key), kWriterStays, servers);
  for (uint64_t n = 1; n <= kWrites; ++n) {
    Message message{};
    uint64_t floor;
    message.kind = kPut;
    message.key = key;
    message.value = value_of(key, n);
    if (!call(message, floor)) {
      call.last_look();
      give_up("a write finds no primary");
    }
    if (key == 1) acknowledged = n;
    sleep_us(5000);
  }
  if (key == 1) written = true;
  call.last_look();
}

void read_all(const char* const* servers) {
  Caller call(3, kReaderStays, servers);
  for (uint64_t n = 0; n < kReads && !written; ++n) {
    Message message{};
    uint64_t floor;
    message.kind = kGet;
    message.key = 1;
    if (!call(message, floor)) {
      call.last_look();
      give_up("a read finds no primary");
    }
    if (message.value < (floor == 0 ? 0 : value_of(1, floor))) broken("a stale read");
    if (message.value > value_of(1, kWrites)) broken("a value of another key");
    sleep_us(3000);
  }
  call.last_look();
}

}  // namespace

int run_client(const char* const* servers) {
  std::thread first(write_all, 1, servers), second(write_all, 2, servers),
      reader(read_all, servers);
  first.join();
  second.join();
  reader.join();
  return 0;
}

// store buggy|fixed BUG server NUMBER BACKUP, or store buggy|fixed BUG client SERVER0 SERVER1
int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const Bug bug{strcmp(argv[1], "buggy") == 0 ? argv[2] : ""};
  if (strcmp(argv[3], "server") == 0) return run_server(bug, atoi(argv[4]), argv[5]);
  return run_client(argv + 4);
}
