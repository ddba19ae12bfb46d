// The ibv_wr_* functions of a queue pair. With them, a program builds work requests call by call
// between ibv_wr_start and ibv_wr_complete. ibv_wr_complete then posts them as ibv_post_send would.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "verbs/soft/bracket.h"

namespace anyrdma::verbs::soft {

struct SoftQp;

/// Collects the work requests since ibv_wr_start. The memory is reused for later requests.
class SendBuilder {
 public:
  /// Begins a list of requests; called by ibv_wr_start. Returns false if this thread has called
  /// ibv_wr_start already; ibv_wr_complete will then fail.
  [[nodiscard]] bool start(Runtime& runtime);
  /// Begins a request; the calls that follow change it.
  void begin(const ibv_send_wr& request);
  [[nodiscard]] bool begun() const { return !requests_.empty(); }
  /// Returns the request that was begun last. Precondition: begun().
  [[nodiscard]] ibv_send_wr& last() { return requests_.back().wr; }
  void add_piece(const ibv_sge& piece);
  void add_inline(const void* data, std::size_t length);
  /// Makes ibv_wr_complete fail with EINVAL.
  void spoil() { spoiled_ = true; }
  /// Posts all collected requests, or none if one is invalid. Returns the errno of ibv_wr_complete,
  /// 0 for success.
  [[nodiscard]] int post(SoftQp& qp);

  Bracket bracket{false};

 private:
  struct Request {
    ibv_send_wr wr;
    std::size_t first_piece;
  };
  void link();

  std::vector<Request> requests_;
  std::vector<ibv_sge> pieces_;   // of all requests, one after another
  std::vector<std::byte> bytes_;  // inline data of all requests
  bool spoiled_ = false;
};

/// Checks ibv_qp_init_attr_ex.send_ops_flags against the type of the queue pair. Returns EINVAL for
/// unknown flags, EOPNOTSUPP for flags that the type does not support, else 0.
[[nodiscard]] int check_send_operations(ibv_qp_type type, std::uint64_t operations);

/// Sets the ibv_wr_* function pointers of `operations` in a new queue pair. The other pointers stay
/// null.
void give_send_functions(SoftQp& qp, std::uint64_t operations);

}  // namespace anyrdma::verbs::soft
