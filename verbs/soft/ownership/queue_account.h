// The arithmetic of queues: what a program must poll or post so that they neither fill nor run dry.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "verbs/runtime.h"

namespace anyrdma::verbs::soft {

/// Of a send queue. A device gives the place of a request back when the program polls a completion
/// of it or of a later one. Requests are counted from 1.
class SendAccount {
 public:
  void set_depth(std::uint32_t depth) { depth_ = depth; }
  /// Returns the number of the request.
  std::size_t on_posted(bool signaled);
  void on_polled(std::size_t number);
  /// Whether no place will ever be free again, since no completion is due. True once.
  [[nodiscard]] bool has_no_way_out(bool refused);
  [[nodiscard]] std::uint32_t depth() const { return depth_; }
  [[nodiscard]] std::size_t since_polled() const { return posted_ - polled_; }

 private:
  std::uint32_t depth_ = 0;
  std::size_t posted_ = 0;
  std::size_t polled_ = 0;         ///< the last one whose completion was polled
  std::size_t last_signaled_ = 0;  ///< the last one with a completion
  bool told_ = false;
};

/// The last receives of a queue pair that were used up.
class ReceiveAccount {
 public:
  /// A receive, the time of its posting and the time when a message took it.
  struct Used {
    std::uint64_t wr_id = 0;
    Runtime::Mark posted{};
    Runtime::Mark used{};
  };
  static constexpr std::size_t kKept = 4;

  void on_posted() { dry_ = false; }
  void on_used(const Used& receive) { used_[count_++ % kKept] = receive; }
  /// False: this drought is known already.
  [[nodiscard]] bool on_dry();
  /// How many were used up.
  [[nodiscard]] std::size_t count() const { return count_; }
  /// The n-th last, from 0; nullopt: there were not so many, or it is forgotten.
  [[nodiscard]] std::optional<Used> last(std::size_t n) const;

 private:
  static constexpr unsigned kDroughtsTold = 3;

  std::array<Used, kKept> used_{};
  std::size_t count_ = 0;
  unsigned droughts_ = 0;
  bool dry_ = false;
};

/// How many completions can be due to each completion queue.
class CompletionQueueAccount {
 public:
  /// Returns whether `cq` is too small from now on, for the first time.
  [[nodiscard]] bool on_attached(const ibv_cq* cq, std::uint32_t depth);
  void on_detached(const ibv_cq* cq, std::uint32_t depth);
  void on_closing(const ibv_cq& cq) { queues_.erase(&cq); }
  [[nodiscard]] std::uint64_t most(const ibv_cq& cq) const;

 private:
  struct Due {
    std::uint64_t most = 0;
    bool told = false;
  };
  std::map<const ibv_cq*, Due> queues_;
};

}  // namespace anyrdma::verbs::soft
