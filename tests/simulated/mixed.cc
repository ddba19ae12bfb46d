// A program as people have them, for the simulator: eight threads, an epoll loop with a timerfd, a
// TCP connection beside the RDMA one, conditions with timeouts, and a thread that waits for memory
// to change.
//
//   mixed server ADDRESS COUNT [race]     answers COUNT requests
//   mixed client ADDRESS COUNT            makes them
//
// Requests are written into the server's memory, answers are sent. `race` plants a bug: two threads
// look at a flag that no lock protects. Status 3: it has bitten.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kPort = 7471;
constexpr std::uint32_t kCountMax = 64;

/// Written as one, in ascending order: the last word says that the rest is there.
struct Request {
  std::array<std::uint8_t, 60> bytes;
  std::uint32_t number;
};

/// What the server tells over TCP.
struct Invitation {
  std::uint64_t address;
  std::uint32_t key;
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

void must(bool good, const char* what) {
  if (!good) fail(what);
}

std::uint32_t sum_of(const Request& request) {
  std::uint32_t sum = 0;
  for (const std::uint8_t byte : request.bytes) sum = sum * 31 + byte;
  return sum;
}

sockaddr_in address_of(const char* text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  must(::inet_pton(AF_INET, text, &address.sin_addr) == 1, "inet_pton");
  return address;
}

ibv_qp_init_attr queue_pair_of(ibv_cq* cq) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = 1;
  init.cap = {.max_send_wr = 2 * kCountMax,
              .max_recv_wr = kCountMax,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = sizeof(Request)};
  return init;
}

class Server {
 public:
  Server(const char* address, std::uint32_t count, bool race)
      : count_(count), race_(race), requests_(kCountMax + 1) {
    sockaddr_in own = address_of(address);
    auto* const any = reinterpret_cast<sockaddr*>(&own);
    must((channel_ = rdma_create_event_channel()) != nullptr, "rdma_create_event_channel");
    must(rdma_create_id(channel_, &listener_, nullptr, RDMA_PS_TCP) == 0, "rdma_create_id");
    must(rdma_bind_addr(listener_, any) == 0, "rdma_bind_addr");
    must(rdma_listen(listener_, 1) == 0, "rdma_listen");
    must((door_ = ::socket(AF_INET, SOCK_STREAM, 0)) >= 0, "socket");
    must(::bind(door_, any, sizeof own) == 0, "bind");
    must(::listen(door_, 1) == 0, "listen");
    must((all_sent_ = ::eventfd(0, 0)) >= 0, "eventfd");
    must((timer_ = ::timerfd_create(CLOCK_MONOTONIC, 0)) >= 0, "timerfd_create");
    const itimerspec every{.it_interval = {0, 1'000'000}, .it_value = {0, 1'000'000}};
    must(::timerfd_settime(timer_, 0, &every, nullptr) == 0, "timerfd_settime");
    must((epoll_ = ::epoll_create1(0)) >= 0, "epoll_create1");
    for (const int fd : {channel_->fd, door_, all_sent_, timer_}) watch(fd);
  }

  int serve() {
    while (!finished()) {
      std::array<epoll_event, 8> events;
      const int ready = ::epoll_wait(epoll_, events.data(), events.size(), 1000);
      must(ready >= 0, "epoll_wait");
      for (int i = 0; i < ready; ++i) take(events[static_cast<std::size_t>(i)].data.fd);
    }
    stop();
    const std::uint32_t announcements = announcements_;
    std::printf("%u answers, %llu ticks, %u idle waits, announced %u times\n", count_,
                static_cast<unsigned long long>(ticks_), idle_waits_.load(), announcements);
    return announcements == 1 ? 0 : 3;
  }

 private:
  [[nodiscard]] bool finished() const { return sent_ && said_goodbye_ && disconnected_; }

  void watch(int fd) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    must(::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
  }

  void take(int fd) {
    std::uint64_t number = 0;
    char word[8] = {};
    if (fd == channel_->fd) return take_event();
    if (fd == door_) {
      must((control_ = ::accept(door_, nullptr, nullptr)) >= 0, "accept");
      watch(control_);
      return invite();
    }
    if (fd == control_) {
      must(::read(control_, word, sizeof word) >= 0, "read");
      must(::epoll_ctl(epoll_, EPOLL_CTL_DEL, control_, nullptr) == 0, "epoll_ctl");
      said_goodbye_ = std::strcmp(word, "bye") == 0;
      must(said_goodbye_, "goodbye");
      return;
    }
    must(::read(fd, &number, sizeof number) == sizeof number, "read");
    if (fd == timer_) ticks_ += number;
    if (fd == all_sent_) sent_ = true;
  }

  void take_event() {
    rdma_cm_event* event = nullptr;
    must(rdma_get_cm_event(channel_, &event) == 0, "rdma_get_cm_event");
    const rdma_cm_event_type type = event->event;
    rdma_cm_id* const id = event->id;
    rdma_ack_cm_event(event);
    switch (type) {
      case RDMA_CM_EVENT_CONNECT_REQUEST:
        return accept(id);
      case RDMA_CM_EVENT_ESTABLISHED:
        established_ = true;
        return invite();
      case RDMA_CM_EVENT_DISCONNECTED:
        disconnected_ = true;
        return;
      case RDMA_CM_EVENT_TIMEWAIT_EXIT:
        return;
      default:
        std::printf("%s\n", rdma_event_str(type));
        std::exit(1);
    }
  }

  void accept(rdma_cm_id* id) {
    id_ = id;
    must((completions_ = ibv_create_comp_channel(id->verbs)) != nullptr, "ibv_create_comp_channel");
    cq_ = ibv_create_cq(id->verbs, 3 * kCountMax, nullptr, completions_, 0);
    must(cq_ != nullptr && ibv_req_notify_cq(cq_, 0) == 0, "ibv_create_cq");
    ibv_qp_init_attr init = queue_pair_of(cq_);
    must(rdma_create_qp(id, nullptr, &init) == 0, "rdma_create_qp");
    memory_ = ibv_reg_mr(id->pd, requests_.data(), requests_.size() * sizeof(Request),
                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    must(memory_ != nullptr, "ibv_reg_mr");
    threads_.emplace_back([this] { wait_for_requests(); });
    threads_.emplace_back([this] { wait_for_completions(); });
    for (int i = 0; i < 4; ++i) threads_.emplace_back([this] { work(); });
    must(::sem_init(&lines_left_, 0, 0) == 0, "sem_init");
    threads_.emplace_back([this] { write_lines(); });
    rdma_conn_param parameters{};
    must(rdma_accept(id, &parameters) == 0, "rdma_accept");
  }

  void invite() {
    if (control_ < 0 || !established_) return;
    const Invitation invitation{reinterpret_cast<std::uintptr_t>(requests_.data()), memory_->rkey};
    must(::send(control_, &invitation, sizeof invitation, 0) == sizeof invitation, "send");
  }

  void stop() {
    {
      const std::lock_guard lock(jobs_mutex_);
      stopping_ = true;
    }
    jobs_waiting_.notify_all();
    say("");
    for (std::thread& thread : threads_) thread.join();
    rdma_destroy_qp(id_);
    must(ibv_dereg_mr(memory_) == 0, "ibv_dereg_mr");
    must(ibv_destroy_cq(cq_) == 0, "ibv_destroy_cq");
    must(ibv_destroy_comp_channel(completions_) == 0, "ibv_destroy_comp_channel");
    must(rdma_destroy_id(id_) == 0 && rdma_destroy_id(listener_) == 0, "rdma_destroy_id");
    rdma_destroy_event_channel(channel_);
  }

  // --- threads ----------------------------------------------------------------------------------

  void wait_for_requests() {
    for (std::uint32_t i = 1; i <= count_; ++i) {
      const auto* const number = static_cast<const volatile std::uint32_t*>(&requests_[i].number);
      while (*number != i) continue;
      std::atomic_thread_fence(std::memory_order_acquire);
      {
        const std::lock_guard lock(jobs_mutex_);
        jobs_.push_back(i);
      }
      jobs_waiting_.notify_one();
    }
  }

  void work() {
    std::unique_lock lock(jobs_mutex_);
    while (!stopping_) {
      if (jobs_.empty()) {
        if (jobs_waiting_.wait_for(lock, 500us) == std::cv_status::timeout) ++idle_waits_;
        continue;
      }
      const std::uint32_t job = jobs_.front();
      jobs_.pop_front();
      lock.unlock();
      answer(job);
      lock.lock();
    }
  }

  void answer(std::uint32_t job) {
    std::array<std::uint32_t, 2> words{job, sum_of(requests_[job])};
    {
      const std::lock_guard lock(posting_);
      must(rdma_post_send(id_, nullptr, words.data(), sizeof words, nullptr, IBV_SEND_INLINE) == 0,
           "rdma_post_send");
    }
    announce();
    say("answered " + std::to_string(job));
  }

  /// The first answer is announced, once.
  void announce() {
    std::unique_lock lock(announcing_, std::defer_lock);
    if (!race_) lock.lock();
    if (announced_) return;
    say("the first answer is out");
    announced_ = true;
    ++announcements_;
  }

  void wait_for_completions() {
    for (std::uint32_t left = count_; left != 0;) {
      ibv_cq* cq = nullptr;
      void* context = nullptr;
      must(ibv_get_cq_event(completions_, &cq, &context) == 0, "ibv_get_cq_event");
      ibv_ack_cq_events(cq, 1);
      must(ibv_req_notify_cq(cq, 0) == 0, "ibv_req_notify_cq");
      ibv_wc completion{};
      while (left != 0 && ibv_poll_cq(cq, 1, &completion) == 1) {
        must(completion.status == IBV_WC_SUCCESS, ibv_wc_status_str(completion.status));
        --left;
      }
    }
    const std::uint64_t one = 1;
    must(::write(all_sent_, &one, sizeof one) == sizeof one, "write");
  }

  /// An empty line is the last.
  void say(const std::string& line) {
    {
      const std::lock_guard lock(lines_mutex_);
      lines_.push_back(line);
    }
    ::sem_post(&lines_left_);
  }

  void write_lines() {
    for (;;) {
      while (::sem_wait(&lines_left_) != 0) continue;
      const std::lock_guard lock(lines_mutex_);
      if (lines_.front().empty()) return;
      std::printf("%s\n", lines_.front().c_str());
      lines_.pop_front();
    }
  }

  const std::uint32_t count_;
  const bool race_;
  std::vector<Request> requests_;
  rdma_event_channel* channel_ = nullptr;
  rdma_cm_id* listener_ = nullptr;
  rdma_cm_id* id_ = nullptr;
  ibv_comp_channel* completions_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_mr* memory_ = nullptr;
  int door_ = -1;
  int control_ = -1;
  int all_sent_ = -1;
  int timer_ = -1;
  int epoll_ = -1;
  std::uint64_t ticks_ = 0;
  bool established_ = false;
  bool sent_ = false;
  bool said_goodbye_ = false;
  bool disconnected_ = false;
  std::vector<std::thread> threads_;

  std::mutex jobs_mutex_;
  std::condition_variable jobs_waiting_;
  std::deque<std::uint32_t> jobs_;
  bool stopping_ = false;
  std::atomic<std::uint32_t> idle_waits_{0};
  std::mutex posting_;
  std::mutex announcing_;
  bool announced_ = false;
  std::atomic<std::uint32_t> announcements_{0};
  std::mutex lines_mutex_;
  std::deque<std::string> lines_;
  sem_t lines_left_{};
};

class Client {
 public:
  Client(const char* address, std::uint32_t count) : count_(count), answers_(kCountMax) {
    sockaddr_in server = address_of(address);
    auto* const any = reinterpret_cast<sockaddr*>(&server);
    must(rdma_create_id(nullptr, &id_, nullptr, RDMA_PS_TCP) == 0, "rdma_create_id");
    must(rdma_resolve_addr(id_, nullptr, any, 2000) == 0, "rdma_resolve_addr");
    must(rdma_resolve_route(id_, 2000) == 0, "rdma_resolve_route");
    ibv_qp_init_attr init = queue_pair_of(nullptr);
    must(rdma_create_qp(id_, nullptr, &init) == 0, "rdma_create_qp");
    memory_ = rdma_reg_msgs(id_, answers_.data(), answers_.size() * sizeof answers_[0]);
    must(memory_ != nullptr, "rdma_reg_msgs");
    for (auto& answer : answers_)
      must(rdma_post_recv(id_, nullptr, &answer, sizeof answer, memory_) == 0, "rdma_post_recv");
    rdma_conn_param parameters{};
    parameters.retry_count = parameters.rnr_retry_count = 7;
    must(rdma_connect(id_, &parameters) == 0, "rdma_connect");
    must((control_ = ::socket(AF_INET, SOCK_STREAM, 0)) >= 0, "socket");
    must(::connect(control_, any, sizeof server) == 0, "connect");
    must(::recv(control_, &invitation_, sizeof invitation_, MSG_WAITALL) == sizeof invitation_,
         "recv");
  }

  int run() {
    std::vector<std::uint32_t> sums(count_ + 1);
    for (std::uint32_t i = 1; i <= count_; ++i) {
      Request request{.bytes = {}, .number = i};
      for (std::size_t at = 0; at < request.bytes.size(); ++at)
        request.bytes[at] = static_cast<std::uint8_t>(i * 7 + at);
      sums[i] = sum_of(request);
      must(rdma_post_write(id_, nullptr, &request, sizeof request, nullptr, IBV_SEND_INLINE,
                           invitation_.address + i * sizeof request, invitation_.key) == 0,
           "rdma_post_write");
      ibv_wc completion{};
      must(rdma_get_send_comp(id_, &completion) == 1 && completion.status == IBV_WC_SUCCESS,
           "rdma_get_send_comp");
      if (i % 4 == 0) must(::poll(nullptr, 0, 1) == 0, "poll");  // a pause, of the world's time
    }
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
      ibv_wc completion{};
      must(rdma_get_recv_comp(id_, &completion) == 1 && completion.status == IBV_WC_SUCCESS,
           "rdma_get_recv_comp");
      const auto& [number, sum] = answers_[i];
      if (number == 0 || number > count_ || std::exchange(sums[number], 0) != sum) ++wrong;
    }
    must(::send(control_, "bye", 4, 0) == 4, "send");
    must(rdma_disconnect(id_) == 0, "rdma_disconnect");
    std::printf("%u answers, %u wrong\n", count_, wrong);
    return wrong == 0 ? 0 : 1;  // what is left is the kernel's to clear up
  }

 private:
  const std::uint32_t count_;
  std::vector<std::array<std::uint32_t, 2>> answers_;
  rdma_cm_id* id_ = nullptr;
  ibv_mr* memory_ = nullptr;
  int control_ = -1;
  Invitation invitation_{};
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto count = words.size() < 3 ? 0UL : std::strtoul(words[2].c_str(), nullptr, 10);
  if (count == 0 || count > kCountMax) {
    std::fprintf(stderr, "mixed server|client ADDRESS COUNT [race], COUNT from 1 to %u\n",
                 kCountMax);
    return 2;
  }
  const auto number = static_cast<std::uint32_t>(count);
  if (words[0] == "client") return Client(words[1].c_str(), number).run();
  return Server(words[1].c_str(), number, words.size() > 3).serve();
}
