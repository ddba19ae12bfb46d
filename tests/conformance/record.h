// What a performance of a scenario showed: lines of text that do not vary from run to run.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/backend.h"

namespace anyrdma::conformance {

/// Threads: any.
class Record {
 public:
  void add(Side side, std::string line);
  /// From here to end_apart() each side's lines stay together, the server's first, because nothing
  /// orders what two sides do at once.
  void begin_apart();
  void end_apart();
  [[nodiscard]] std::vector<std::string> lines() const { return lines_; }
  /// With what is still apart. Without the lock, which may be held by who is interrupted.
  [[nodiscard]] std::vector<std::string> lines_so_far() const;
  /// Takes back what was recorded from the line number `first` on.
  [[nodiscard]] std::vector<std::string> take_back(std::size_t first);

 private:
  std::mutex mutex_;
  bool apart_ = false;
  std::vector<std::string> lines_;
  std::vector<std::string> server_;
  std::vector<std::string> client_;
};

// --- words for values ---------------------------------------------------------------------------

/// "EINVAL"; a number that has no name: its digits; 0: "ok".
[[nodiscard]] std::string error_text(int error);
/// Of an event: 0 "", "-ETIMEDOUT", "28".
[[nodiscard]] std::string status_text(int status);
/// Bytes with repetitions counted: "hello 00*51"; empty: "".
[[nodiscard]] std::string bytes_text(std::span<const std::uint8_t> bytes);
/// "ESTABLISHED".
[[nodiscard]] std::string event_text(rdma_cm_event_type type);
/// "RTS".
[[nodiscard]] std::string qp_state_text(ibv_qp_state state);
/// "SUCCESS", "WR_FLUSH_ERR".
[[nodiscard]] std::string completion_text(ibv_wc_status status);
/// "SEND", "RECV_RDMA_WITH_IMM".
[[nodiscard]] std::string opcode_text(ibv_wc_opcode opcode);
/// "1.5s", "200ms".
[[nodiscard]] std::string duration_text(Duration duration);

}  // namespace anyrdma::conformance
