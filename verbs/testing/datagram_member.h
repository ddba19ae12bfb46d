// A datagram queue pair with all it needs, for tests of what carries datagrams.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <vector>

#include "verbs/completion_queue.h"
#include "verbs/context.h"
#include "verbs/memory.h"
#include "verbs/queue_pair.h"

namespace anyrdma::verbs::testing {

/// In RTS, with receives posted. Sends from the GID at `gid_index`.
class DatagramMember {
 public:
  static constexpr std::uint32_t kMessageBytes = 16;

  DatagramMember(Provider& provider, ibv_device* device, std::uint32_t gid_index);
  ~DatagramMember();
  DatagramMember(const DatagramMember&) = delete;
  DatagramMember& operator=(const DatagramMember&) = delete;

  [[nodiscard]] ibv_qp* qp() const { return qp_.get(); }
  [[nodiscard]] std::uint32_t qpn() const { return qp_.get()->qp_num; }
  void attach(const ibv_gid& group);
  /// A message whose bytes are all `letter`.
  void send(const ibv_gid& to, std::uint32_t qpn, char letter = 'x');
  void send_to_group(const ibv_gid& group) { send(group, 0xffffff); }
  /// How many datagrams have come so far; polls, so that time may pass where it is virtual.
  [[nodiscard]] std::size_t received();
  /// The letter of the datagram that came last.
  [[nodiscard]] char last_letter() const { return buffer_[sizeof(ibv_grh)]; }

 private:
  static constexpr std::uint32_t kQueueKey = 0x01234567;
  static constexpr unsigned kReceives = 32;

  void to_rts();

  Provider& provider_;
  std::uint32_t gid_index_;
  std::array<char, 64> buffer_{};   ///< of all receives
  std::array<char, 64> message_{};  ///< to send
  Context context_;
  ProtectionDomain pd_;
  CompletionQueue cq_;
  MemoryRegion received_into_;
  MemoryRegion sent_from_;
  QueuePair qp_;
  std::vector<ibv_gid> groups_;
  std::size_t received_ = 0;
};

}  // namespace anyrdma::verbs::testing
