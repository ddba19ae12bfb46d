// One side of a connection over the kernel's connection manager, as an application of the C++
// interface sees it.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "transport/transport.h"
#include "verbs/completion_queue.h"
#include "verbs/memory.h"

namespace anyrdma::tests {

/// IPv4, "10.9.0.1"; host order.
[[nodiscard]] sockaddr_in ipv4(const std::string& address, std::uint16_t port);
[[nodiscard]] inline const sockaddr* raw(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

/// An event channel, one id with its queue pair, and one registered buffer.
class KernelSide {
 public:
  explicit KernelSide(transport::Transport& transport, rdma_port_space space = RDMA_PS_TCP);
  ~KernelSide();
  KernelSide(const KernelSide&) = delete;
  KernelSide& operator=(const KernelSide&) = delete;

  void listen(const std::string& address, std::uint16_t port, int backlog = 0);
  /// Up to ROUTE_RESOLVED, with a queue pair.
  void resolve(const std::string& address, std::uint16_t port);
  void connect(const std::vector<std::uint8_t>& private_data = {});
  /// Takes the listener's next request, makes a queue pair.
  void take_request(cm::EventChannel& from);
  void accept(const std::vector<std::uint8_t>& private_data = {});

  /// The next event of the channel, within 20 s; an empty one after a failure of the test.
  [[nodiscard]] cm::Event next();
  /// The same, acknowledged; its status goes to `status`.
  [[nodiscard]] rdma_cm_event_type next_type();
  int status = 0;
  std::vector<std::uint8_t> private_data;  ///< of the event that next_type() took

  void make_qp();
  void post_recv();
  void post(ibv_wr_opcode opcode, std::uint32_t length, const KernelSide* remote = nullptr);
  /// Polls for the next completion; its status.
  [[nodiscard]] ibv_wc completion();
  void drop();

  [[nodiscard]] cm::Id& id() { return *id_; }
  [[nodiscard]] cm::EventChannel& channel() { return *channel_; }
  [[nodiscard]] ibv_mr& region() const { return *region_.get(); }
  /// The buffer's beginning.
  [[nodiscard]] ibv_sge piece(std::uint32_t length) const { return region_.piece(0, length); }

  std::vector<std::uint8_t> buffer = std::vector<std::uint8_t>(4096);

 private:
  std::unique_ptr<cm::EventChannel> channel_;
  rdma_port_space space_;
  std::unique_ptr<cm::Id> id_;
  verbs::CompletionQueue cq_;
  verbs::MemoryRegion region_;
};

/// Both sides up to ESTABLISHED, through `listener`, which is listening.
void join(KernelSide& client, KernelSide& server, KernelSide& listener, const std::string& address,
          std::uint16_t port);

}  // namespace anyrdma::tests
