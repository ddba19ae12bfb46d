// The queue's server. One thread takes what happens (epoll: events of the connection manager,
// completions, a timer), two work off jobs. Each client has a ring of its own, which it
// writes jobs into, and a connection as many receives as jobs may be under way. A job that has been
// done before (its client has lost a connection, and asks again) is answered from the book.
//
// Bug `norepost`: the receive of such a job is not posted again.
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

#include "tests/finds/queue/queue.h"

namespace {

constexpr int kAuditMs = 20;
constexpr size_t kRings = 8;

struct Conn {
  lane l{};
  Job* jobs = nullptr;
  Place results{};
  std::mutex m;  // guards what follows, and posting
  bool alive = true;
  int receives = 0;  // posted
  int at_work = 0;   // messages between their completion and their receive
  std::vector<int> free;
};
using Ref = std::shared_ptr<Conn>;

class Server {
 public:
  explicit Server(const Bug& bug) : bug_(bug) {}
  int run();

 private:
  struct Work {
    Ref conn;
    Job job;
    int receive;
  };

  bool prepare(Conn& c);
  void on_event();
  void on_request(rdma_cm_event* event);
  void on_completions(const Ref& c);
  void on_doorbell(const Ref& c, int receive);
  void on_timer();
  void close(const Ref& c);
  void post_again(Conn& c, int receive);
  void answer(Conn& c, const Job& job, uint64_t value);
  void work();

  const Bug& bug_;
  int poll_ = -1, timer_ = -1;
  ibv_pd* pd_ = nullptr;
  ibv_mr* mr_ = nullptr;                // of all rings
  std::map<uint32_t, size_t> ring_of_;  // by client, in the order in which they came
  rdma_event_channel* channel_ = nullptr;
  std::map<rdma_cm_id*, Ref> conns_;  // of the thread that takes events
  alignas(4096) Job rings_[kRings][kWindow] = {};

  std::mutex m_;  // guards what follows
  std::condition_variable queued_;
  std::deque<Work> queue_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> book_;  // (client, number) -> value
};

// A client has the same ring as long as the server lives.
bool Server::prepare(Conn& c) {
  rdma_cm_id* id = c.l.id;
  if (pd_ == nullptr) pd_ = ibv_alloc_pd(id->verbs);
  if (pd_ == nullptr) return false;
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  if (mr_ == nullptr) mr_ = ibv_reg_mr(pd_, rings_, sizeof rings_, access);
  if (mr_ == nullptr || !lane_open_in(&c.l, id, pd_)) return false;
  const size_t ring = ring_of_.try_emplace(c.results.client, ring_of_.size()).first->second;
  if (ring >= kRings) give_up("too many clients");
  c.jobs = rings_[ring];
  for (; c.receives < kWindow; ++c.receives)
    if (post_recv(&c.l, c.receives) != 0) return false;
  for (int i = 16; i < kSlots; ++i) c.free.push_back(i);
  return true;
}

void Server::close(const Ref& c) {
  std::lock_guard l(c->m);
  if (!c->alive) return;
  c->alive = false;
  if (c->l.comp != nullptr) epoll_ctl(poll_, EPOLL_CTL_DEL, c->l.comp->fd, nullptr);
  rdma_disconnect(c->l.id);
  if (c->l.id->qp != nullptr) rdma_destroy_qp(c->l.id);
  conns_.erase(c->l.id);
  lane_close(&c->l);
}

void Server::on_request(rdma_cm_event* event) {
  const Ref c = std::make_shared<Conn>();
  c->l.id = event->id;
  if (event->param.conn.private_data_len >= sizeof c->results)
    memcpy(&c->results, event->param.conn.private_data, sizeof c->results);
  rdma_ack_cm_event(event);
  if (!prepare(*c)) give_up("a queue pair");
  const Place place{reinterpret_cast<uintptr_t>(c->jobs), mr_->rkey, c->results.client};
  rdma_conn_param p = params(2, 7, &place, sizeof place);
  conns_[c->l.id] = c;
  if (rdma_accept(c->l.id, &p) != 0) return close(c);
  epoll_event watch{};
  watch.events = EPOLLIN;
  watch.data.ptr = c->l.id;
  epoll_ctl(poll_, EPOLL_CTL_ADD, c->l.comp->fd, &watch);
  on_completions(c);  // asks for the first event
}

void Server::on_event() {
  rdma_cm_event* event = next_event(channel_, 0);
  if (event == nullptr) return;
  if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) return on_request(event);
  const rdma_cm_event_type type = event->event;
  rdma_cm_id* id = event->id;
  rdma_ack_cm_event(event);
  if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
  const bool ends = type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_REJECTED ||
                    type == RDMA_CM_EVENT_CONNECT_ERROR;
  if (const auto found = conns_.find(id); ends && found != conns_.end()) close(Ref(found->second));
}

void Server::on_completions(const Ref& c) {
  ibv_wc wc;
  while (c->alive && next_wc(&c->l, &wc, 0)) {
    if (wc.status != IBV_WC_SUCCESS) return close(c);
    if (wc.wr_id < 100) {
      on_doorbell(c, static_cast<int>(wc.wr_id));
      continue;
    }
    std::lock_guard l(c->m);
    c->free.push_back(static_cast<int>(wc.wr_id) - 100);
  }
}

void Server::on_doorbell(const Ref& c, int receive) {
  uint64_t number;
  memcpy(&number, slot(&c->l, receive), sizeof number);
  const Job job = c->jobs[number % kWindow];
  if (job.number != number || job.client != c->results.client || job.check != check_of(job))
    broken("a job of somebody else in a client's ring");
  {
    std::lock_guard l(c->m);
    --c->receives;
    ++c->at_work;
  }
  std::unique_lock l(m_);
  if (const auto done = book_.find({job.client, job.number}); done != book_.end()) {
    const uint64_t value = done->second;
    l.unlock();
    if (!bug_.is("norepost"))
      post_again(*c, receive);
    else
      --c->at_work;
    return answer(*c, job, value);
  }
  queue_.push_back({c, job, receive});
  queued_.notify_one();
}

void Server::post_again(Conn& c, int receive) {
  std::lock_guard l(c.m);
  --c.at_work;
  if (!c.alive) return;
  if (post_recv(&c.l, receive) != 0) give_up("a receive");
  ++c.receives;
}

// The result into the client's memory, then the message that says so.
void Server::answer(Conn& c, const Job& job, uint64_t value) {
  std::lock_guard l(c.m);
  if (!c.alive || c.free.size() < 2) return;
  const Outcome outcome{job.number, value};
  const uint64_t to = c.results.address + job.buffer * kSlot;
  int n = c.free.back();
  c.free.pop_back();
  memcpy(slot(&c.l, n), &outcome, sizeof outcome);
  if (post_rdma(&c.l, n, sizeof outcome, IBV_WR_RDMA_WRITE, to, c.results.rkey) != 0) return;
  n = c.free.back();
  c.free.pop_back();
  memcpy(slot(&c.l, n), &job.number, sizeof job.number);
  post_send(&c.l, n);
}

void Server::work() {
  for (;;) {
    std::unique_lock l(m_);
    queued_.wait(l, [&] { return !queue_.empty(); });
    const Work w = queue_.front();
    queue_.pop_front();
    l.unlock();
    sleep_us(static_cast<int64_t>(w.job.takes_us));
    const uint64_t value = value_of(w.job.payload);
    l.lock();
    book_[{w.job.client, w.job.number}] = value;
    l.unlock();
    post_again(*w.conn, w.receive);
    answer(*w.conn, w.job, value);
  }
}

// A message is waited for, or worked off, as often as may be under way.
void Server::on_timer() {
  uint64_t expirations;
  if (read(timer_, &expirations, sizeof expirations) < 0) return;
  for (const auto& [id, c] : conns_) {
    std::lock_guard l(c->m);
    if (c->receives + c->at_work != kWindow) broken("a receive has been forgotten");
  }
}

int Server::run() {
  channel_ = open_channel();
  poll_ = epoll_create1(0);
  timer_ = timerfd_create(CLOCK_MONOTONIC, 0);
  listen_at(channel_, kPort, 16);
  itimerspec audit{};
  audit.it_interval.tv_nsec = audit.it_value.tv_nsec = kAuditMs * 1000000;
  timerfd_settime(timer_, 0, &audit, nullptr);
  epoll_event watch{};
  watch.events = EPOLLIN;
  epoll_ctl(poll_, EPOLL_CTL_ADD, timer_, &watch);
  watch.data.ptr = channel_;
  epoll_ctl(poll_, EPOLL_CTL_ADD, channel_->fd, &watch);
  std::thread workers[2];
  for (std::thread& each : workers) each = std::thread([this] { work(); });
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

int run_server(const Bug& bug) {
  return std::make_unique<Server>(bug)->run();
}
