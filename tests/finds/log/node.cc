// A node of the log. One thread takes what happens (epoll: events of the connection manager,
// completions, a timer). In the leader a second one replicates: it writes each entry into the
// follower's log by RDMA WRITE, and says so. An entry is committed once the follower has
// acknowledged it; its client has the answer then. Heartbeats show that the follower is there; a
// connection without an answer for a tenth of a second is made anew, and what the follower lacks is
// sent once more.
//
// Bugs: `twice`: an append that is repeated is another one. `early`: an entry counts as committed
// when its WRITE has completed. `hole`: after a reconnection the leader goes on behind what had
// been acknowledged before, and the follower does not look whether something is missing.
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/finds/log/log.h"

namespace {

constexpr int64_t kBeatUs = 10000, kDeafUs = 100000, kReconnectUs = 20000;
constexpr uint64_t kEntries = 64;
constexpr int kReceives = 8;

struct alignas(64) Entry {
  uint64_t index, client, sequence, payload, check;
};
uint64_t check_of(const Entry& e) {
  return e.index * 7 ^ e.client * 5 ^ e.sequence * 3 ^ e.payload;
}

struct Conn {
  lane l{};
  ibv_mr* log = nullptr;
  Purpose purpose = kFromClient;
  bool ours = false, up = false;
  std::mutex m;  // guards what follows, and posting
  bool alive = true;
  std::vector<int> free;
  std::deque<uint64_t> writes;  // entries whose WRITE is under way
};
using Ref = std::shared_ptr<Conn>;

class Node {
 public:
  Node(const Bug& bug, const char* follower) : bug_(bug), follower_(follower) {}
  int run();

 private:
  struct Waiting {
    Ref conn;
    Message message;
  };

  bool prepare(Conn& c);
  void close(Ref c);
  void connect_to_follower();
  void on_request(rdma_cm_event* event);
  void on_event();
  void on_completions(const Ref& c);
  void on_message(const Ref& c, const Message& message);
  void on_append(const Ref& c, const Message& message);
  void on_hello(const Ref& c, const Message& message);
  Message on_stored(const Message& message);
  Message read_entry(const Message& message) const;
  void on_timer();
  void commit(uint64_t index);
  void replicate();
  int take_slot(Conn& c);
  bool send(Conn& c, const Message& message);
  bool write(Conn& c, const Entry& e);
  [[nodiscard]] bool leads() const { return follower_ != nullptr; }

  const Bug& bug_;
  const char* follower_;
  const uint64_t life_ = real_now();
  int poll_ = -1, timer_ = -1;
  rdma_event_channel* channel_ = nullptr;
  std::map<rdma_cm_id*, Ref> conns_;  // of the thread that takes events

  std::mutex m_;  // guards what follows
  std::condition_variable more_;
  alignas(4096) Entry log_[kEntries] = {};  // by index; a leader writes into its follower's
  uint64_t birth_ = 0, last_ = 0, sent_ = 0, committed_ = 0;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> index_of_;  // (client, sequence)
  std::map<uint64_t, Waiting> waiting_;                         // by index
  Ref out_;                                                     // the way to the follower
  bool ready_ = false, stalled_ = false;
  uint64_t out_address_ = 0;
  uint32_t out_rkey_ = 0;
  int64_t heard_ = 0, next_connect_ = 0;
};

bool Node::prepare(Conn& c) {
  if (!lane_open(&c.l, c.l.id)) return false;
  c.log = ibv_reg_mr(c.l.pd, log_, sizeof log_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (c.log == nullptr) return false;
  for (int i = 0; i < kReceives; ++i)
    if (post_recv(&c.l, i) != 0) return false;
  for (int i = 16; i < kSlots; ++i) c.free.push_back(i);
  return true;
}

// With m_ held, by the thread that takes events.
void Node::close(Ref c) {
  std::lock_guard l(c->m);
  if (!c->alive) return;
  c->alive = c->up = false;
  conns_.erase(c->l.id);
  if (out_ == c) {
    out_ = nullptr;
    ready_ = false;
    next_connect_ = now_us() + kReconnectUs;
  }
  if (c->l.comp != nullptr) epoll_ctl(poll_, EPOLL_CTL_DEL, c->l.comp->fd, nullptr);
  rdma_disconnect(c->l.id);
  if (c->l.id->qp != nullptr) rdma_destroy_qp(c->l.id);
  if (c->log != nullptr) ibv_dereg_mr(c->log);
  lane_close(&c->l);
}

void Node::connect_to_follower() {
  auto c = std::make_shared<Conn>();
  c->ours = true;
  rdma_event_channel* before = open_channel();
  NEED(rdma_create_id(before, &c->l.id, nullptr, RDMA_PS_TCP));
  if (!resolve(c->l.id, follower_, kPort)) give_up("the follower's address is not resolved");
  NEED(rdma_migrate_id(c->l.id, channel_));
  rdma_destroy_event_channel(before);
  if (!prepare(*c)) give_up("a queue pair");
  const Purpose purpose = kFromLeader;
  rdma_conn_param p = params(2, 7, &purpose, sizeof purpose);
  NEED(rdma_connect(c->l.id, &p));
  std::lock_guard l(m_);
  conns_[c->l.id] = c;
  out_ = c;
}

void Node::on_request(rdma_cm_event* event) {
  const auto c = std::make_shared<Conn>();
  c->l.id = event->id;
  if (event->param.conn.private_data_len >= sizeof c->purpose)
    memcpy(&c->purpose, event->param.conn.private_data, sizeof c->purpose);
  rdma_ack_cm_event(event);
  std::lock_guard l(m_);
  if (!prepare(*c)) give_up("a queue pair");
  conns_[c->l.id] = c;
  rdma_conn_param p = params(2, 7, nullptr, 0);
  if (rdma_accept(c->l.id, &p) != 0) close(c);
}

void Node::on_event() {
  rdma_cm_event* event = next_event(channel_, 0);
  if (event == nullptr) return;
  if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) return on_request(event);
  const rdma_cm_event_type type = event->event;
  rdma_cm_id* id = event->id;
  rdma_ack_cm_event(event);
  if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
  const auto found = conns_.find(id);
  if (found == conns_.end() || type == RDMA_CM_EVENT_ADDR_CHANGE) return;
  const Ref c = found->second;
  std::unique_lock l(m_);
  if (type == RDMA_CM_EVENT_UNREACHABLE && c->up) return;  // a hint
  if (type != RDMA_CM_EVENT_ESTABLISHED) return close(c);
  c->up = true;
  if (c->ours) heard_ = now_us();
  epoll_event watch{};
  watch.events = EPOLLIN;
  watch.data.ptr = id;
  epoll_ctl(poll_, EPOLL_CTL_ADD, c->l.comp->fd, &watch);
  if (c->purpose == kFromLeader) {
    Message hello{};
    hello.kind = kHello;
    hello.index = last_;
    hello.birth = birth_;
    hello.address = reinterpret_cast<uintptr_t>(log_);
    hello.rkey = c->log->rkey;
    send(*c, hello);
  }
  l.unlock();
  on_completions(c);  // asks for the first event, too
}

void Node::on_completions(const Ref& c) {
  ibv_wc wc;
  while (c->alive && next_wc(&c->l, &wc, 0)) {
    std::lock_guard l(m_);
    if (wc.status != IBV_WC_SUCCESS) return close(c);
    if (wc.wr_id < 100) {
      const int n = static_cast<int>(wc.wr_id);
      Message message;
      memcpy(&message, slot(&c->l, n), sizeof message);
      on_message(c, message);
      std::lock_guard posting(c->m);
      if (c->alive && post_recv(&c->l, n) != 0) give_up("a receive");
      continue;
    }
    uint64_t written = 0;
    {
      std::lock_guard posting(c->m);
      c->free.push_back(static_cast<int>(wc.wr_id) - 100);
      if (wc.opcode == IBV_WC_RDMA_WRITE) {
        written = c->writes.front();
        c->writes.pop_front();
      }
    }
    if (written != 0 && bug_.is("early")) commit(written);
  }
}

void Node::on_message(const Ref& c, const Message& message) {
  switch (message.kind) {
    case kAppend:
      return on_append(c, message);
    case kRead:
      send(*c, read_entry(message));
      return;
    case kHello:
      return on_hello(c, message);
    case kStored:
    case kBeat:
      send(*c, on_stored(message));
      return;
    case kAck:
      heard_ = now_us();
      if (c == out_ && ready_) commit(message.index);
      return;
    case kReply:
      return;
  }
}

void Node::on_append(const Ref& c, const Message& message) {
  if (!leads() || birth_ == 0) {
    Message reply = message;
    reply.kind = kReply;
    reply.status = kNotHere;
    send(*c, reply);
    return;
  }
  uint64_t& index = index_of_[{message.client, message.sequence}];
  if (index == 0 || bug_.is("twice")) {
    if (last_ + 1 == kEntries) give_up("the log is full");
    index = ++last_;
    Entry& e = log_[index];
    e = {index, message.client, message.sequence, message.payload, 0};
    e.check = check_of(e);
    more_.notify_one();
  }
  waiting_[index] = {c, message};
  if (index <= committed_) commit(index);
}

// All entries up to this one, whose clients have their answers now.
void Node::commit(uint64_t index) {
  if (index > committed_) committed_ = index;
  while (!waiting_.empty() && waiting_.begin()->first <= committed_) {
    Message reply = waiting_.begin()->second.message;
    reply.kind = kReply;
    reply.status = kOk;
    reply.index = waiting_.begin()->first;
    reply.birth = birth_;
    send(*waiting_.begin()->second.conn, reply);
    waiting_.erase(waiting_.begin());
  }
}

void Node::on_hello(const Ref& c, const Message& message) {
  if (c != out_) return;
  if (birth_ == 0) birth_ = real_now();
  if (message.birth != 0 && message.birth != birth_) give_up("the follower has an earlier log");
  out_address_ = message.address;
  out_rkey_ = message.rkey;
  sent_ = bug_.is("hole") ? committed_ : message.index;
  stalled_ = false;
  ready_ = true;
  more_.notify_one();
}

// Of a follower: an entry has been written into its log; or there is nothing new.
Message Node::on_stored(const Message& message) {
  birth_ = message.birth;
  if (message.kind == kStored && (message.index == last_ + 1 || bug_.is("hole"))) {
    const Entry& e = log_[message.index];
    if (e.index != message.index || e.check != check_of(e)) broken("a bad entry");
    last_ = message.index;
  }
  Message ack{};
  ack.kind = kAck;
  ack.index = last_;
  return ack;
}

Message Node::read_entry(const Message& message) const {
  Message reply = message;
  const uint64_t there = leads() ? committed_ : last_;
  reply.kind = kReply;
  reply.status = message.index <= there ? kOk : kNotHere;
  if (reply.status == kOk && message.index != 0) {
    const Entry& e = log_[message.index];
    if (e.index != message.index) broken("an entry is missing below the last one");
    reply.payload = e.payload;
  }
  reply.index = there;
  reply.birth = birth_;
  reply.life = life_;
  return reply;
}

int Node::take_slot(Conn& c) {
  if (!c.alive || c.free.empty()) return -1;
  const int n = c.free.back();
  c.free.pop_back();
  return n;
}

bool Node::send(Conn& c, const Message& message) {
  std::lock_guard l(c.m);
  const int n = take_slot(c);
  if (n < 0) return false;
  memcpy(slot(&c.l, n), &message, sizeof message);
  return post_send(&c.l, n) == 0;
}

bool Node::write(Conn& c, const Entry& e) {
  std::lock_guard l(c.m);
  const int n = take_slot(c);
  if (n < 0) return false;
  memcpy(slot(&c.l, n), &e, sizeof e);
  const uint64_t to = out_address_ + e.index * sizeof(Entry);
  if (post_rdma(&c.l, n, sizeof e, IBV_WR_RDMA_WRITE, to, out_rkey_) != 0) return false;
  c.writes.push_back(e.index);
  return true;
}

void Node::replicate() {
  for (;;) {
    std::unique_lock l(m_);
    more_.wait(l, [&] { return ready_ && !stalled_ && sent_ < last_; });
    const Entry& e = log_[sent_ + 1];
    Message stored{};
    stored.kind = kStored;
    stored.index = e.index;
    stored.birth = birth_;
    stalled_ = !write(*out_, e) || !send(*out_, stored);
    if (!stalled_) ++sent_;
  }
}

void Node::on_timer() {
  uint64_t expirations;
  if (read(timer_, &expirations, sizeof expirations) < 0 || !leads()) return;
  bool connect;
  {
    std::lock_guard l(m_);
    const int64_t now = now_us();
    if (out_ && out_->up && (stalled_ || now - heard_ > kDeafUs)) close(out_);
    if (out_ && ready_) {
      Message beat{};
      beat.kind = kBeat;
      beat.birth = birth_;
      send(*out_, beat);
    }
    connect = !out_ && now >= next_connect_;
  }
  if (connect) connect_to_follower();
}

int Node::run() {
  channel_ = open_channel();
  poll_ = epoll_create1(0);
  timer_ = timerfd_create(CLOCK_MONOTONIC, 0);
  listen_at(channel_, kPort, 16);
  itimerspec beat{};
  beat.it_interval.tv_nsec = beat.it_value.tv_nsec = kBeatUs * 1000;
  if (leads()) timerfd_settime(timer_, 0, &beat, nullptr);
  epoll_event watch{};
  watch.events = EPOLLIN;
  epoll_ctl(poll_, EPOLL_CTL_ADD, timer_, &watch);
  watch.data.ptr = channel_;
  epoll_ctl(poll_, EPOLL_CTL_ADD, channel_->fd, &watch);
  std::thread replicator([this] { replicate(); });
  for (;;) {
    epoll_event ready[8];
    const int n = epoll_wait(poll_, ready, 8, -1);
    for (int i = 0; i < n; ++i) {
      if (ready[i].data.ptr == nullptr) {
        on_timer();
      } else if (ready[i].data.ptr == channel_) {
        on_event();
      } else if (const auto c = conns_.find(static_cast<rdma_cm_id*>(ready[i].data.ptr));
                 c != conns_.end()) {
        on_completions(Ref(c->second));
      }
    }
  }
}

}  // namespace

int run_node(const Bug& bug, const char* follower) {
  return std::make_unique<Node>(bug, follower)->run();
}
