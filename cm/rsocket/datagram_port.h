// The unreliable queue pair of a datagram socket on one local address.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "cm/rsocket/name.h"
#include "cm/rsocket/pages.h"
#include "verbs/result.h"

namespace anyrdma::rsocket {

/// Threads: one at a time.
class DatagramPort {
 public:
  /// A peer's queue pair, as a DatagramPort sends to it.
  struct Route {
    ibv_ah* handle = nullptr;
    std::uint32_t queue_pair = 0;
  };

  /// Creates the queue pair on the device of `local`. ENODEV, and errors of the verbs.
  [[nodiscard]] static verbs::Result<std::unique_ptr<DatagramPort>> create(const Name& local);
  ~DatagramPort();
  DatagramPort(const DatagramPort&) = delete;
  DatagramPort& operator=(const DatagramPort&) = delete;

  [[nodiscard]] const Name& local() const { return local_; }
  [[nodiscard]] std::uint32_t queue_pair() const { return id_->qp->qp_num; }
  /// Bytes of a message, with its header.
  [[nodiscard]] std::size_t largest_message() const { return largest_message_; }

  /// Resolves the way to `peer`, which takes up to some seconds if it does not answer. The caller
  /// destroys the handle.
  [[nodiscard]] verbs::Result<ibv_ah*> resolve(const Name& peer);
  [[nodiscard]] bool can_send() const { return free_sends_ > 0; }
  [[nodiscard]] bool all_sent() const;
  /// Sends header and data as one message, and copies both. Requires can_send(). EMSGSIZE, EIO.
  [[nodiscard]] verbs::Result<void> send(const Route& route, std::span<const std::byte> header,
                                         std::span<const std::byte> data);
  /// Processes all completions, and gives each message to `sink`. True: there were some.
  bool process(const std::function<void(std::span<const std::byte>)>& sink);
  [[nodiscard]] int fd() const { return channel_->fd; }
  /// As Connection::arm, without processing. True: notification was not requested before.
  bool request_notification();
  bool take_notifications();

 private:
  explicit DatagramPort(const Name& local) : local_(local) {}
  [[nodiscard]] verbs::Result<void> open();
  [[nodiscard]] verbs::Result<void> make_queues();
  bool post_receive(std::uint64_t slot);
  [[nodiscard]] std::span<std::byte> receive_slot(std::uint64_t slot) const;

  Name local_;
  rdma_cm_id* id_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* cq_ = nullptr;
  std::unique_ptr<Pages> memory_;  ///< receives, then sends
  ibv_mr* region_ = nullptr;
  std::size_t largest_message_ = 0;
  std::uint32_t free_sends_ = 0;
  std::uint64_t next_send_ = 0;
  bool armed_ = false;
};

}  // namespace anyrdma::rsocket
