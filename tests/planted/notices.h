// A third sample application, for what befalls datagrams: someone sends numbered notices, and a
// board shows the newest.
#pragma once

#include <cstdint>
#include <string>

#include "sim/testing/end.h"

namespace anyrdma::planted {

/// What hangs there, and what must not be.
class Board {
 public:
  [[nodiscard]] std::uint64_t shown() const { return shown_; }
  void show(std::uint64_t number) {
    if (number < shown_) complain("an old notice hangs in front of a newer one");
    shown_ = number;
  }

  void complain(const std::string& text) { complaints += "courier: " + text + "\n"; }
  std::string complaints{};

 private:
  std::uint64_t shown_ = 0;
};

/// As many as may be on their way at once.
inline constexpr std::uint64_t kNotices = 4;

/// Makes a queue pair for datagrams, ready to send.
void open_end(sim::testing::End& end);
/// Ready to take notices in.
void open_board(sim::testing::End& end);
/// Where notices go.
struct Way {
  ibv_ah* ah;
  std::uint32_t qpn;
};
[[nodiscard]] Way way_to(const sim::testing::End& board, sim::testing::End& from);
/// Sends a notice, which says its number.
void send_notice(sim::testing::End& from, const Way& way, std::uint64_t number);
/// Takes in what has come.
void read_notices(sim::testing::End& end, Board& board);

}  // namespace anyrdma::planted
