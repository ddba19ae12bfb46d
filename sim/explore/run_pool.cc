#include "sim/explore/run_pool.h"

#include <poll.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/explore/worker.h"

namespace anyrdma::sim {
namespace {

/// Between two looks at whether to stop.
constexpr std::chrono::milliseconds kGlance = std::chrono::milliseconds(100);

class Pool {
 public:
  Pool(std::uint64_t count, const PoolOptions& options, const Request& request,
       const Produce& produce, const Consume& consume)
      : count_(count),
        options_(options),
        request_(request),
        produce_(produce),
        consume_(consume),
        workers_(std::clamp<std::uint64_t>(count, 1, std::max(options.processes, 1u))) {}
  /// All are asked to end before one is waited for.
  ~Pool() {
    for (const auto& worker : workers_) {
      if (worker) worker->ask_to_end();
    }
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void run() {
    ask();
    while (consumed_ < count_) {
      hand_out();
      if (options_.stop && options_.stop()) return;
      wait();
      for (auto& worker : workers_) look_at(worker);
      if (!consume_all()) return;
    }
  }

 private:
  struct Result {
    std::string bytes;
    std::string death;
  };

  void ask() {
    while (asked_ < count_ && asked_ - consumed_ < options_.window) {
      calls_.push_back({asked_, request_(asked_)});
      ++asked_;
    }
  }

  /// To whichever has least to do.
  void hand_out() {
    while (!calls_.empty()) {
      const std::size_t bytes = calls_.front().request.size();
      std::unique_ptr<Worker>* least = nullptr;
      for (auto& worker : workers_) {
        if (worker && !worker->has_room(bytes)) continue;
        if (least == nullptr || waiting_at(worker) < waiting_at(*least)) least = &worker;
      }
      if (least == nullptr) return;
      if (!*least) *least = std::make_unique<Worker>(produce_);
      (*least)->give(std::move(calls_.front()));
      calls_.pop_front();
    }
  }
  [[nodiscard]] static std::size_t waiting_at(const std::unique_ptr<Worker>& worker) {
    return worker ? worker->calls().size() : 0;
  }

  void wait() {
    polled_.clear();
    for (const auto& worker : workers_) {
      if (waiting_at(worker) != 0)
        polled_.push_back({.fd = worker->descriptor(), .events = POLLIN, .revents = 0});
    }
    (void)::poll(polled_.data(), polled_.size(), static_cast<int>(kGlance.count()));
  }

  void look_at(std::unique_ptr<Worker>& worker) {
    if (waiting_at(worker) == 0) return;
    bool ended = !worker->read_some();
    while (waiting_at(worker) != 0) {
      const std::uint64_t number = worker->calls().front().number;
      auto bytes = worker->next_result();
      if (!bytes) break;
      results_.emplace(number, Result{std::move(*bytes), {}});
    }
    ended = ended || worker->overdue(options_);
    if (!ended) return;
    auto calls = worker->take_calls();
    if (!calls.empty()) {
      results_.emplace(calls.front().number, Result{{}, worker->death(options_)});
      calls.pop_front();
    }
    calls_.insert(calls_.begin(), std::make_move_iterator(calls.begin()),
                  std::make_move_iterator(calls.end()));
    worker.reset();
  }

  bool consume_all() {
    for (auto next = results_.find(consumed_); next != results_.end();
         next = results_.find(consumed_)) {
      Result result = std::move(next->second);
      results_.erase(next);
      if (!consume_(consumed_, std::move(result.bytes), result.death)) return false;
      ++consumed_;
      ask();
    }
    return true;
  }

  const std::uint64_t count_;
  const PoolOptions& options_;
  const Request& request_;
  const Produce& produce_;
  const Consume& consume_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::deque<Worker::Call> calls_;  ///< that no process has, by number
  std::map<std::uint64_t, Result> results_;
  std::uint64_t asked_ = 0;
  std::uint64_t consumed_ = 0;
  std::vector<pollfd> polled_;
};

}  // namespace

void run_in_order(std::uint64_t count, const PoolOptions& options, const Request& request,
                  const Produce& produce, const Consume& consume) {
  Pool(count, options, request, produce, consume).run();
}

}  // namespace anyrdma::sim
