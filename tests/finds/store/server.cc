// A server of the store. Server 0 begins as the primary, server 1 is its backup.
//
// One thread takes what happens (epoll: events of the connection manager, completions, a timer),
// one works off the clients' writes, and one their reads. The primary writes each entry into the
// backup's table by RDMA WRITE, then says COMMIT; the entry counts once the backup has said ACK. It
// answers reads by itself as long as it has a lease: until 30 ms after a heartbeat was sent that
// the backup has acknowledged. A backup that has heard no heartbeat for 60 ms is the primary from
// then on. Nothing is on a disk: a store that has lost both servers is another one, and says so by
// its birth.
//
// Bugs: `reuse`: a backup that becomes the primary goes on with a table into which the last primary
// may still write. `lease`: a lease lasts for six ticks of the timer, of which a pause, however
// long, takes one. `deadlock`: completions are counted
// under the server's lock, with the connection's lock in hand; all others take them the other way
// round.
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tests/finds/store/store.h"

namespace {

constexpr int64_t kTick = 5000, kLease = 30000, kSilence = 60000, kReconnect = 20000,
                  kDeaf = 100000;         // us
constexpr int kKeys = 16, kRequests = 8;  // receives of a connection

struct alignas(64) Entry {
  uint64_t index, key, value, check;
};

struct Conn {
  lane l{};
  ibv_mr* table = nullptr;
  Purpose purpose = kFromClient;
  bool ours = false;  // we have asked for it: the way to our backup
  bool up = false;
  std::mutex m;  // guards what follows, and posting
  std::vector<int> free;
  bool alive = true;
};
using Ref = std::shared_ptr<Conn>;

enum class Role { kPrimary, kBackup, kFenced };

class Server {
 public:
  Server(const Bug& bug, int me, const char* backup)
      : bug_(bug), me_(me), backup_(backup), role_(me == 0 ? Role::kPrimary : Role::kBackup) {}
  int run();

 private:
  struct Request {
    Ref conn;
    Message message;
  };

  // ---- Connections
  bool prepare(Conn& c);
  void close(Ref c);
  void connect_to_backup();
  void on_request(rdma_cm_event* event);
  void on_event();
  void greet(Conn& c);
  bool send(Conn& c, const Message& message);
  bool write(Conn& c, const Entry& e, uint64_t to, uint32_t rkey);

  // ---- What comes in
  void on_completions(const Ref& c);
  void on_message(const Ref& c, const Message& message, int slot_number);
  void on_hello(const Ref& c, const Message& message);
  void on_commit(const Ref& c, const Message& message);
  void on_tick();
  void promote();

  // ---- Requests
  void work(std::deque<Request>& requests);
  void serve(const Request& request);
  Message put(const Message& message, std::unique_lock<std::mutex>& l);
  Message get(const Message& message);
  void replicate(const Entry& e);
  [[nodiscard]] bool has_lease() const;

  const Bug& bug_;
  const int me_;
  const char* backup_;
  int poll_ = -1, timer_ = -1;
  rdma_event_channel* channel_ = nullptr;
  std::map<rdma_cm_id*, Ref> conns_;

  std::mutex m_;  // guards what follows
  std::condition_variable queued_, changed_;
  std::deque<Request> writes_, reads_;
  Role role_;
  Ref out_, in_;  // the way to our backup; the one from our primary
  uint64_t out_address_ = 0, last_ = 0, acked_ = 0;
  uint32_t out_rkey_ = 0;
  alignas(4096) Entry table_[kKeys] = {};  // by key; a primary writes into its backup's
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> done_;  // (client, sequence) -> index
  std::set<std::pair<uint32_t, uint64_t>> pending_;         // the same, of what waits
  int64_t heard_ = 0, out_heard_ = 0, lease_until_ = 0, next_connect_ = 0;
  uint64_t completed_ = 0;  // by the device
  int ticks_ = 1000;        // since a heartbeat was acknowledged
  bool stalled_ = false;    // the backup misses something
  uint64_t birth_ = 0;      // of the data; 0: there is none yet
};

bool Server::prepare(Conn& c) {
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  rdma_cm_id* id = c.l.id;
  if (!lane_open(&c.l, id)) return false;
  c.table = ibv_reg_mr(c.l.pd, table_, sizeof table_, access);
  if (c.table == nullptr) return false;
  for (int i = 0; i < kRequests; ++i)
    if (post_recv(&c.l, i) != 0) return false;
  for (int i = kReceives; i < kSlots; ++i) c.free.push_back(i);
  return true;
}

// With m_ held, by the thread that takes events. Others may have a reference, and see that it is
// over.
void Server::close(Ref c) {
  std::lock_guard l(c->m);
  if (!c->alive) return;
  c->alive = c->up = false;
  conns_.erase(c->l.id);
  if (out_ == c) out_ = nullptr, out_address_ = 0, next_connect_ = now_us() + kReconnect;
  if (in_ == c) in_ = nullptr;
  if (c->l.comp != nullptr) epoll_ctl(poll_, EPOLL_CTL_DEL, c->l.comp->fd, nullptr);
  rdma_disconnect(c->l.id);
  if (c->l.id->qp != nullptr) rdma_destroy_qp(c->l.id);
  if (c->table != nullptr) ibv_dereg_mr(c->table);
  lane_close(&c->l);
  changed_.notify_all();
}

void Server::connect_to_backup() {
  auto c = std::make_shared<Conn>();
  c->ours = true;
  rdma_event_channel* before = open_channel();
  NEED(rdma_create_id(before, &c->l.id, nullptr, RDMA_PS_TCP));
  const Purpose purpose = kFromPrimary;
  rdma_conn_param p = params(2, 7, &purpose, sizeof purpose);
  if (!resolve(c->l.id, backup_, kPort)) give_up("the backup's address is not resolved");
  NEED(rdma_migrate_id(c->l.id, channel_));
  rdma_destroy_event_channel(before);
  if (!prepare(*c)) give_up("a queue pair");
  NEED(rdma_connect(c->l.id, &p));
  std::lock_guard l(m_);
  conns_[c->l.id] = c;
  out_ = c;
}

bool Server::send(Conn& c, const Message& message) {
  std::lock_guard l(c.m);
  if (!c.alive || c.free.empty()) return false;
  const int n = c.free.back();
  c.free.pop_back();
  memcpy(slot(&c.l, n), &message, sizeof message);
  return post_send(&c.l, n) == 0;
}

bool Server::write(Conn& c, const Entry& e, uint64_t to, uint32_t rkey) {
  std::lock_guard l(c.m);
  if (!c.alive || c.free.empty()) return false;
  const int n = c.free.back();
  c.free.pop_back();
  memcpy(slot(&c.l, n), &e, sizeof e);
  return post_rdma(&c.l, n, sizeof e, IBV_WR_RDMA_WRITE, to, rkey) == 0;
}

void Server::on_request(rdma_cm_event* event) {
  auto c = std::make_shared<Conn>();
  c->l.id = event->id;
  if (event->param.conn.private_data_len >= 1)
    memcpy(&c->purpose, event->param.conn.private_data, sizeof c->purpose);
  rdma_ack_cm_event(event);
  std::lock_guard l(m_);
  if (c->purpose == kFromPrimary && role_ != Role::kBackup) {  // it is not the primary any more
    rdma_reject(c->l.id, nullptr, 0);
    rdma_destroy_id(c->l.id);
    return;
  }
  if (!prepare(*c)) give_up("a queue pair");
  conns_[c->l.id] = c;
  if (c->purpose == kFromPrimary) {
    if (in_) close(in_);
    in_ = c;
    heard_ = now_us();
  }
  rdma_conn_param p = params(2, 7, nullptr, 0);
  if (rdma_accept(c->l.id, &p) != 0) close(c);
}

void Server::on_event() {
  rdma_cm_event* event = next_event(channel_, 0);
  if (event == nullptr) return;
  if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) return on_request(event);
  const rdma_cm_event_type type = event->event;
  const int status = event->status;
  rdma_cm_id* id = event->id;
  rdma_ack_cm_event(event);
  std::unique_lock l(m_);
  const auto found = conns_.find(id);
  if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
  if (found == conns_.end() || type == RDMA_CM_EVENT_ADDR_CHANGE) return;
  const Ref c = found->second;
  if (type == RDMA_CM_EVENT_UNREACHABLE && c->up) return;  // a hint
  if (type != RDMA_CM_EVENT_ESTABLISHED) {
    if (c->ours && type == RDMA_CM_EVENT_REJECTED && status == 28) role_ = Role::kFenced;
    return close(c);
  }
  c->up = true;
  if (c->ours) out_heard_ = now_us();
  epoll_event watch{};
  watch.events = EPOLLIN;
  watch.data.ptr = id;
  epoll_ctl(poll_, EPOLL_CTL_ADD, c->l.comp->fd, &watch);
  if (c->purpose == kFromPrimary) greet(*c);
  l.unlock();
  on_completions(c);  // asks for the first event, too
}

// To our primary: where our table is, and whose data is in it.
void Server::greet(Conn& c) {
  Message hello{};
  hello.kind = kHello;
  hello.value = birth_;
  hello.address = reinterpret_cast<uintptr_t>(table_);
  hello.rkey = c.table->rkey;
  send(c, hello);
}

// What is there, and then the next event is asked for.
void Server::on_completions(const Ref& c) {
  for (;;) {
    ibv_wc wc;
    if (!c->alive || !next_wc(&c->l, &wc, 0)) return;
    if (wc.status != IBV_WC_SUCCESS) {
      std::lock_guard l(m_);
      return close(c);
    }
    if (wc.wr_id >= 100) {
      std::unique_lock l(c->m);
      c->free.push_back(static_cast<int>(wc.wr_id) - 100);
      if (!bug_.is("deadlock")) l.unlock();
      std::lock_guard counting(m_);
      ++completed_;
      continue;
    }
    Message message;
    memcpy(&message, slot(&c->l, static_cast<int>(wc.wr_id)), sizeof message);
    on_message(c, message, static_cast<int>(wc.wr_id));
  }
}

void Server::on_message(const Ref& c, const Message& message, int slot_number) {
  std::lock_guard l(m_);
  Message reply = message;
  switch (message.kind) {
    case kPut:
    case kGet:
      if (role_ != Role::kPrimary) {
        reply.kind = kReply;
        reply.status = kNotPrimary;
        send(*c, reply);
        break;
      }
      if (message.kind == kPut && !pending_.insert({message.client, message.sequence}).second) {
        break;  // it has been asked for before, and will be answered
      }
      (message.kind == kPut ? writes_ : reads_).push_back({c, message});
      queued_.notify_all();
      break;
    case kHello:
      on_hello(c, message);
      break;
    case kCommit:
      on_commit(c, message);
      break;
    case kAck:
      if (c == out_ && message.index > acked_) acked_ = message.index;
      changed_.notify_all();
      break;
    case kBeat:
      if (c != in_ || role_ != Role::kBackup) break;
      heard_ = now_us();
      birth_ = message.address;
      reply.kind = kBeatAck;
      send(*c, reply);
      break;
    case kBeatAck:
      if (c != out_) break;
      out_heard_ = now_us();
      lease_until_ = static_cast<int64_t>(message.value) + kLease;
      ticks_ = 0;
      break;
    case kReply:
      break;
  }
  std::lock_guard posting(c->m);
  if (c->alive && post_recv(&c->l, slot_number) != 0) give_up("a receive");
}

// Our backup tells where its table is.
void Server::on_hello(const Ref& c, const Message& message) {
  if (c != out_ || role_ != Role::kPrimary) return;
  if (message.value != 0 && message.value != birth_) {  // it has data of an earlier life of ours
    role_ = Role::kFenced;
    return;
  }
  if (birth_ == 0) {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    birth_ = static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
  }
  out_address_ = message.address;
  out_rkey_ = message.rkey;
  acked_ = 0;
  stalled_ = false;
  std::map<uint64_t, const Entry*> in_order;
  for (const Entry& e : table_)
    if (e.index != 0) in_order[e.index] = &e;
  for (const auto& [index, e] : in_order) replicate(*e);
}

void Server::on_commit(const Ref& c, const Message& message) {
  if (c != in_ || role_ != Role::kBackup) return;
  const Entry& e = table_[message.key % kKeys];
  if (e.index < message.index || e.check != (e.index ^ e.key ^ e.value)) broken("a bad entry");
  birth_ = message.value;
  last_ = std::max(last_, message.index);
  Message ack{};
  ack.kind = kAck;
  ack.index = last_;
  send(*c, ack);
}

// With m_ held: an entry, from a slot that is free again once it has been written.
void Server::replicate(const Entry& e) {
  Message commit{};
  commit.kind = kCommit;
  commit.index = e.index;
  commit.key = e.key;
  commit.value = birth_;
  const uint64_t to = out_address_ + e.key % kKeys * sizeof(Entry);
  stalled_ = stalled_ || !write(*out_, e, to, out_rkey_) || !send(*out_, commit);
}

void Server::promote() {
  if (in_ && !bug_.is("reuse")) close(in_);  // from here on the table is ours alone
  in_ = nullptr;
  role_ = Role::kPrimary;
}

void Server::on_tick() {
  uint64_t expirations;
  if (read(timer_, &expirations, sizeof expirations) < 0) return;
  bool connect = false;
  {
    std::lock_guard l(m_);
    const int64_t now = now_us();
    ++ticks_;
    if (role_ == Role::kBackup && birth_ != 0 && now - heard_ > kSilence) promote();
    if (role_ != Role::kPrimary || me_ != 0) return;
    if (out_ && out_->up && (stalled_ || now - out_heard_ > kDeaf)) close(out_);
    if (out_ && out_->up && birth_ != 0) {
      Message beat{};
      beat.kind = kBeat;
      beat.value = static_cast<uint64_t>(now);
      beat.address = birth_;
      send(*out_, beat);
    }
    connect = !out_ && now >= next_connect_;
    if (connect) next_connect_ = now + kReconnect;
  }
  if (connect) connect_to_backup();
}

bool Server::has_lease() const {
  if (me_ != 0) return true;  // nobody is its backup
  return bug_.is("lease") ? ticks_ < kLease / kTick : now_us() < lease_until_;
}

Message Server::put(const Message& message, std::unique_lock<std::mutex>& l) {
  Message reply = message;
  reply.status = kUnavailable;
  if (birth_ == 0) return reply;
  uint64_t& index = done_[{message.client, message.sequence}];
  if (index == 0) {
    index = ++last_;
    const uint64_t check = index ^ message.key ^ message.value;
    table_[message.key % kKeys] = {index, message.key, message.value, check};
    if (out_ && out_address_ != 0) replicate(table_[message.key % kKeys]);
  }
  const uint64_t mine = index;
  const auto safe = [&] { return me_ != 0 || (out_ && !stalled_ && acked_ >= mine); };
  const auto done = [&] { return role_ != Role::kPrimary || safe(); };
  changed_.wait_for(l, std::chrono::milliseconds(50), done);
  const bool good = role_ == Role::kPrimary && safe();
  if (good) reply.status = kOk;
  return reply;
}

Message Server::get(const Message& message) {
  Message reply = message;
  reply.value = table_[message.key % kKeys].value;
  reply.status = has_lease() ? kOk : kNotPrimary;
  return reply;
}

void Server::serve(const Request& request) {
  std::unique_lock l(m_);
  Message reply = request.message;
  reply.status = kNotPrimary;
  if (role_ == Role::kPrimary)
    reply = request.message.kind == kPut ? put(request.message, l) : get(request.message);
  reply.address = birth_;
  pending_.erase({reply.client, reply.sequence});
  l.unlock();
  reply.kind = kReply;
  send(*request.conn, reply);
}

void Server::work(std::deque<Request>& requests) {
  for (;;) {
    std::unique_lock l(m_);
    queued_.wait(l, [&] { return !requests.empty(); });
    const Request request = requests.front();
    requests.pop_front();
    l.unlock();
    serve(request);
  }
}

int Server::run() {
  channel_ = open_channel();
  poll_ = epoll_create1(0);
  timer_ = timerfd_create(CLOCK_MONOTONIC, 0);
  listen_at(channel_, kPort, 16);
  itimerspec tick{};
  tick.it_interval.tv_nsec = tick.it_value.tv_nsec = kTick * 1000;
  timerfd_settime(timer_, 0, &tick, nullptr);
  epoll_event watch{};
  watch.events = EPOLLIN;
  watch.data.ptr = nullptr;
  epoll_ctl(poll_, EPOLL_CTL_ADD, timer_, &watch);
  watch.data.ptr = channel_;
  epoll_ctl(poll_, EPOLL_CTL_ADD, channel_->fd, &watch);
  std::thread writer([this] { work(writes_); }), reader([this] { work(reads_); });
  for (;;) {
    epoll_event ready[8];
    const int n = epoll_wait(poll_, ready, 8, -1);
    for (int i = 0; i < n; ++i) {
      if (ready[i].data.ptr == nullptr)
        on_tick();
      else if (ready[i].data.ptr == channel_)
        on_event();
      else if (const auto c = conns_.find(static_cast<rdma_cm_id*>(ready[i].data.ptr));
               c != conns_.end())
        on_completions(Ref(c->second));
    }
  }
}

}  // namespace

int run_server(const Bug& bug, int me, const char* backup) {
  auto server = std::make_unique<Server>(bug, me, backup);
  return server->run();
}
