// A client of the queue: up to two jobs under way, written into the server's ring. A connection
// that ends, or on which a job is late, is given up for another one, on which unfinished jobs are
// asked for again. A result that is late is not awaited any longer; its buffer goes to the journal,
// which keeps a line of text in it to the end.
//
// Bugs: `stale-rkey`: goes on with the ring that it was told first. `reuse`: a late job's buffer
// goes to the journal while the connection is up, so that the server may still write into it.
#include <vector>

#include "tests/finds/queue/queue.h"

namespace {

constexpr uint64_t kJobs = 14;
constexpr int kLateMs = 20, kConnections = 12, kResults = 24, kLine = 'j';

class Client {
 public:
  Client(const Bug& bug, const char* server, uint32_t client)
      : bug_(bug), server_(server), client_(client) {}
  int run();

 private:
  struct Pending {
    Job job;
    int64_t since;
  };

  void connect_anew();
  void end_connection();
  [[nodiscard]] bool has_place(uint64_t number) const;
  bool ask(Pending& p);
  void ask_all();
  void on_done(uint64_t number);
  void on_late(Pending p);
  void write_line(uint64_t buffer);
  void check_journal();
  bool take_one(int ms);

  const Bug& bug_;
  const char* server_;
  const uint32_t client_;
  lane l_{};
  rdma_event_channel* channel_ = nullptr;
  Place ring_{};
  int connections_ = 0, next_send_ = 16;
  alignas(4096) char results_[kResults][kSlot] = {};
  ibv_mr* mr_ = nullptr;
  std::vector<Pending> pending_;
  std::vector<uint64_t> free_, journal_;
  uint64_t asked_ = 0, done_ = 0;
};

void Client::connect_anew() {
  for (;;) {
    if (++connections_ > kConnections) give_up("no connection lasts");
    channel_ = open_channel();
    rdma_cm_id* id;
    NEED(rdma_create_id(channel_, &id, nullptr, RDMA_PS_TCP));
    if (!resolve(id, server_, kPort)) give_up("the address is not resolved");
    if (!lane_open(&l_, id)) give_up("a queue pair");
    mr_ = ibv_reg_mr(l_.pd, results_, sizeof results_,
                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    if (mr_ == nullptr) give_up("ibv_reg_mr");
    for (int i = 0; i < 16; ++i) NEED(post_recv(&l_, i));
    const Place mine{reinterpret_cast<uintptr_t>(results_), mr_->rkey, client_};
    rdma_conn_param p = params(2, 7, &mine, sizeof mine);
    NEED(rdma_connect(id, &p));
    rdma_cm_event* event = next_event(channel_, kPatience);
    if (event == nullptr) give_up("no server");
    const bool there = event->event == RDMA_CM_EVENT_ESTABLISHED;
    const bool first = ring_.rkey == 0;
    if (there && (first || !bug_.is("stale-rkey")))
      memcpy(&ring_, event->param.conn.private_data, sizeof ring_);
    rdma_ack_cm_event(event);
    if (there) return;
    end_connection();
    sleep_us(40000 - client_ * 7000);
  }
}

// From here on the server cannot write to us any more.
void Client::end_connection() {
  rdma_disconnect(l_.id);
  if (l_.id->qp != nullptr) rdma_destroy_qp(l_.id);
  if (mr_ != nullptr) ibv_dereg_mr(mr_);
  mr_ = nullptr;
  lane_close(&l_);
  rdma_destroy_event_channel(channel_);
}

// A place of the ring belongs to one of the jobs that are under way.
bool Client::has_place(uint64_t number) const {
  return pending_.empty() || number < pending_.front().job.number + kWindow;
}

bool Client::ask(Pending& p) {
  const int n = next_send_;
  next_send_ = n + 2 < kSlots ? n + 2 : 16;
  p.since = now_us();
  memcpy(slot(&l_, n), &p.job, sizeof p.job);
  memcpy(slot(&l_, n + 1), &p.job.number, sizeof p.job.number);
  const uint64_t to = ring_.address + p.job.number % kWindow * sizeof(Job);
  return post_rdma(&l_, n, sizeof p.job, IBV_WR_RDMA_WRITE, to, ring_.rkey) == 0 &&
         post_send(&l_, n + 1) == 0;
}

void Client::ask_all() {
  for (bool good = false; !good;) {
    end_connection();
    sleep_us(12000 - client_ * 3000);
    connect_anew();
    good = true;
    for (Pending& p : pending_) good = good && ask(p);
  }
}

void Client::on_done(uint64_t number) {
  for (size_t i = 0; i < pending_.size(); ++i) {
    const Job job = pending_[i].job;
    if (job.number != number) continue;
    Outcome outcome;
    memcpy(&outcome, results_[job.buffer], sizeof outcome);
    if (outcome.number != number || outcome.value != value_of(job.payload))
      broken("a wrong result");
    free_.push_back(job.buffer);
    pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(i));
    ++done_;
    return;
  }
}

void Client::write_line(uint64_t buffer) {
  memset(results_[buffer], kLine, kSlot);
  journal_.push_back(buffer);
}

void Client::check_journal() {
  for (const uint64_t each : journal_)
    for (const char c : results_[each])
      if (c != kLine) broken("a line of the journal has changed");
}

// The job is asked for again, with another buffer.
void Client::on_late(Pending p) {
  const uint64_t buffer = p.job.buffer;
  for (Pending& each : pending_) {
    if (each.job.number != p.job.number) continue;
    if (free_.empty()) give_up("no buffer is left");
    each.job.buffer = free_.back();
    each.job.takes_us = 100;
    each.job.check = check_of(each.job);
    free_.pop_back();
    p = each;
  }
  if (bug_.is("reuse")) {
    write_line(buffer);
    for (Pending& each : pending_)
      if (each.job.number == p.job.number && !ask(each)) return ask_all();
    return;
  }
  end_connection();
  write_line(buffer);
  connect_anew();
  for (Pending& each : pending_)
    if (!ask(each)) return ask_all();
}

// One completion, if there is one in time. False: the connection is over.
bool Client::take_one(int ms) {
  ibv_wc wc;
  if (!next_wc(&l_, &wc, ms)) return next_type(channel_, 0) != RDMA_CM_EVENT_DISCONNECTED;
  if (wc.status != IBV_WC_SUCCESS) return false;
  if (wc.wr_id >= 100) return true;
  uint64_t number;
  memcpy(&number, slot(&l_, static_cast<int>(wc.wr_id)), sizeof number);
  on_done(number);
  return post_recv(&l_, static_cast<int>(wc.wr_id)) == 0;
}

int Client::run() {
  for (uint64_t i = 0; i < kResults; ++i) free_.push_back(i);
  connect_anew();
  while (done_ < kJobs) {
    bool good = true;
    while (good && asked_ < kJobs && has_place(asked_ + 1)) {
      const uint64_t number = ++asked_;
      Job job{number,       client_, number * 100 + client_, number % 4 == 0 ? 17000u : 500u,
              free_.back(), 0};
      job.check = check_of(job);
      free_.pop_back();
      pending_.push_back({job, 0});
      good = ask(pending_.back());
    }
    if (good) good = take_one(1);
    if (!good) {
      ask_all();
      continue;
    }
    for (const Pending& p : pending_) {
      if (now_us() - p.since < kLateMs * 1000) continue;
      on_late(p);
      break;
    }
    check_journal();
  }
  sleep_us(30000);
  check_journal();
  end_connection();
  return 0;
}

}  // namespace

int run_client(const Bug& bug, const char* server, uint32_t client) {
  return Client(bug, server, client).run();
}

// queue buggy|fixed BUG server, or queue buggy|fixed BUG client SERVER NUMBER
int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const Bug bug{strcmp(argv[1], "buggy") == 0 ? argv[2] : ""};
  if (strcmp(argv[3], "server") == 0) return run_server(bug);
  return argc == 6 ? run_client(bug, argv[4], static_cast<uint32_t>(atoi(argv[5]))) : 2;
}
