// Two devices with a datagram queue pair each.
#pragma once

#include <optional>
#include <vector>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft::testing {

/// Bytes in front of every received datagram.
inline constexpr std::uint32_t kGrh = sizeof(ibv_grh);

/// What one datagram is to be; the defaults are right.
struct DatagramOptions {
  ibv_wr_opcode opcode = IBV_WR_SEND;
  unsigned flags = IBV_SEND_SIGNALED;
  std::uint32_t queue_key = 0x11111111;
  std::uint32_t qpn = 0;  ///< 0: the other side's
  ibv_ah* ah = nullptr;   ///< null: one to the other side
};

/// Both QPs are in RTS with the QKey of DatagramOptions unless the test made them itself.
class DatagramPair : public Pair {
 protected:
  DatagramPair();
  ~DatagramPair() override;

  static constexpr std::uint32_t kQueueKey = 0x11111111;
  [[nodiscard]] static ConnectionOptions datagram_options();
  /// Another UD QP of a side, in RTS; the caller destroys it.
  [[nodiscard]] static ibv_qp* make_qp(Side& side, std::uint32_t queue_key = kQueueKey,
                                       ibv_srq* srq = nullptr);
  static void to_rts(Side& side, ibv_qp* qp, std::uint32_t queue_key);
  [[nodiscard]] static ibv_ah_attr path_to(const ibv_gid& gid);

  /// Sends from a to b out of a's memory at offset 0; the result is ibv_post_send's.
  int send(std::uint64_t id, std::uint32_t length, const DatagramOptions& options = {});
  /// The one completion that side's queue holds; fails the test when there is none or are more.
  [[nodiscard]] static ibv_wc only_completion(Side& side);

  ibv_ah* to_b = nullptr;
};

}  // namespace anyrdma::verbs::soft::testing
