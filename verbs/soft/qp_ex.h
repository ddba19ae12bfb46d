// The ibv_wr_* functions of a queue pair: work requests are put together call by call, and posted
// when the bracket is complete, in the way that ibv_post_send posts them.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "verbs/soft/bracket.h"

namespace anyrdma::verbs::soft {

struct SoftQp;

/// The requests that were collected since ibv_wr_start. The memory is reused.
class SendBuilder {
 public:
  /// False: this thread has already started, and the requests since then cannot be completed.
  [[nodiscard]] bool start(Runtime& runtime);
  /// Begins a request; what follows belongs to it.
  void begin(const ibv_send_wr& request);
  [[nodiscard]] bool begun() const { return !requests_.empty(); }
  /// The one that was begun last. Precondition: begun().
  [[nodiscard]] ibv_send_wr& last() { return requests_.back().wr; }
  void add_piece(const ibv_sge& piece);
  void add_inline(const void* data, std::size_t length);
  /// The bracket cannot be completed: EINVAL.
  void spoil() { spoiled_ = true; }
  /// Posts all, or none. Errno as ibv_wr_complete returns it, 0 for success.
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

/// Checks ibv_qp_init_attr_ex.send_ops_flags against the type of queue pair. EINVAL: unknown flags;
/// EOPNOTSUPP: not supported by this type; else 0.
[[nodiscard]] int check_send_operations(ibv_qp_type type, std::uint64_t operations);

/// Gives a fresh queue pair the functions of those operations. The others stay null.
void give_send_functions(SoftQp& qp, std::uint64_t operations);

}  // namespace anyrdma::verbs::soft
