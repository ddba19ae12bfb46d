// The log's client. It appends numbers, and repeats what has no answer in time, on another
// connection if need be; a second thread reads at the follower what has been acknowledged. At the
// end each number must be in the log once.
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "tests/finds/log/log.h"

namespace {

constexpr uint64_t kNumbers = 16;
constexpr int kAttempts = 60, kPatienceMs = 30;
constexpr int kReceives = 16, kSends = 16;

std::atomic<uint64_t> birth{0};  // of the log
std::mutex m;                    // guards what follows
std::condition_variable changed;
uint64_t acknowledged = 0;  // the index of the last entry
bool appended = false, looking = false;

// Asks one node, on one connection after the other.
class Caller {
 public:
  Caller(const char* node, uint32_t client) : node_(node), client_(client) {}
  ~Caller() { close(); }

  // The answer that says OK; `message` is as it came then.
  void call(Message& message) {
    Message first = message;
    first.client = client_;
    first.sequence = ++sequence_;
    for (int i = 0; i < kAttempts; ++i) {
      if (!up_) open();
      message = first;
      if (up_ && ask(message)) {
        if (message.status == kOk || message.kind != kReply) return heed_birth(message);
        if (first.kind == kRead) return heed_birth(message);
        sleep_us(5000);
      }
      if (!up_) sleep_us(10000);
    }
    give_up("no answer");
  }

 private:
  static void heed_birth(const Message& message) {
    uint64_t none = 0;
    if (message.birth == 0) return;
    if (!birth.compare_exchange_strong(none, message.birth) && none != message.birth)
      give_up("the log is another one");
  }

  void open() {
    close();
    channel_ = open_channel();
    rdma_cm_id* id;
    NEED(rdma_create_id(channel_, &id, nullptr, RDMA_PS_TCP));
    if (!resolve(id, node_, kPort)) give_up("the address is not resolved");
    if (!lane_open(&l_, id)) give_up("a queue pair");
    for (int i = 0; i < kReceives; ++i) NEED(post_recv(&l_, i));
    const Purpose purpose = kFromClient;
    rdma_conn_param p = params(2, 7, &purpose, sizeof purpose);
    NEED(rdma_connect(id, &p));
    up_ = next_type(channel_, kPatience) == RDMA_CM_EVENT_ESTABLISHED;
    posted_ = sent_ = 0;
  }

  void close() {
    up_ = false;
    if (l_.id != nullptr) rdma_disconnect(l_.id);
    lane_close(&l_);
    if (channel_ != nullptr) rdma_destroy_event_channel(channel_);
    channel_ = nullptr;
  }

  // False also when no slot is free any more, as nothing has been sent: that connection is given
  // up.
  bool ask(Message& message) {
    if (posted_ - sent_ == kSends) return up_ = false;
    const int n = kReceives + posted_++ % kSends;
    memcpy(slot(&l_, n), &message, sizeof message);
    if (post_send(&l_, n) != 0) up_ = false;
    const int64_t until = now_us() + kPatienceMs * 1000;
    ibv_wc wc;
    while (up_ && next_wc(&l_, &wc, static_cast<int>((until - now_us()) / 1000))) {
      if (wc.status != IBV_WC_SUCCESS) up_ = false;
      if (wc.wr_id >= 100) ++sent_;
      if (!up_ || wc.wr_id >= 100) continue;
      Message got;
      memcpy(&got, slot(&l_, static_cast<int>(wc.wr_id)), sizeof got);
      if (post_recv(&l_, static_cast<int>(wc.wr_id)) != 0) up_ = false;
      if (got.sequence != message.sequence) continue;
      message = got;
      return true;
    }
    if (next_type(channel_, 0) == RDMA_CM_EVENT_DISCONNECTED) up_ = false;
    return false;
  }

  const char* node_;
  const uint32_t client_;
  lane l_{};
  rdma_event_channel* channel_ = nullptr;
  bool up_ = false;
  int posted_ = 0, sent_ = 0;  // on this connection
  uint64_t sequence_ = 0;
};

Message read_at(Caller& call, uint64_t index) {
  Message message{};
  message.kind = kRead;
  message.index = index;
  call.call(message);
  return message;
}

// What has been acknowledged is at the follower, as long as that is the same process.
void read_all(const char* follower) {
  Caller ask(follower, 2);
  const uint64_t life = read_at(ask, 0).life;
  std::unique_lock l(m);
  looking = true;
  changed.notify_all();
  for (uint64_t seen = 0;; l.lock()) {
    changed.wait(l, [&] { return appended || acknowledged > seen; });
    const uint64_t index = acknowledged;
    if (index == seen) break;
    l.unlock();
    const Message got = read_at(ask, index);
    if (got.life != life) break;  // it has begun anew, and has to catch up first
    if (got.status != kOk) broken("what is acknowledged is not at the follower");
    seen = index;
  }
}

void append_all(const char* leader) {
  Caller ask(leader, 1);
  std::unique_lock l(m);
  changed.wait(l, [] { return looking; });
  for (uint64_t n = 1; n <= kNumbers; ++n) {
    Message message{};
    message.kind = kAppend;
    message.payload = n;
    l.unlock();
    ask.call(message);
    l.lock();
    acknowledged = message.index;
    changed.notify_all();
    l.unlock();
    sleep_us(4000);
    l.lock();
  }
  appended = true;
  changed.notify_all();
}

// Each number is in the log once; and both nodes have the same.
void compare(const char* leader, const char* follower) {
  Caller first(leader, 3), second(follower, 4);
  std::map<uint64_t, int> times;
  const uint64_t last = read_at(first, 0).index;
  for (uint64_t i = 1; i <= last; ++i) {
    const Message one = read_at(first, i);
    if (++times[one.payload] > 1) broken("a number is in the log twice");
    Message other = read_at(second, i);
    for (int tries = 0; other.status != kOk; ++tries) {
      if (tries == 100) give_up("the follower does not catch up");
      sleep_us(10000);
      other = read_at(second, i);
    }
    if (one.payload != other.payload) broken("two nodes, two logs");
  }
  if (times.size() != kNumbers) broken("a number is missing");
}

}  // namespace

int run_client(const char* leader, const char* follower) {
  std::thread writer(append_all, leader), reader(read_all, follower);
  writer.join();
  reader.join();
  compare(leader, follower);
  return 0;
}

// log buggy|fixed BUG leader FOLLOWER, ... follower, or ... client LEADER FOLLOWER
int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const Bug bug{strcmp(argv[1], "buggy") == 0 ? argv[2] : ""};
  if (strcmp(argv[3], "follower") == 0) return run_node(bug, nullptr);
  if (strcmp(argv[3], "leader") == 0 && argc == 5) return run_node(bug, argv[4]);
  return argc == 6 ? run_client(argv[4], argv[5]) : 2;
}
