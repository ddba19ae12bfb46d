// The verbs objects of one stream: a queue pair, its completion queue and the registered memory.
// Posts what Flow decides, and reports completions to Flow.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>

#include "cm/rsocket/flow.h"
#include "cm/rsocket/mappings.h"
#include "cm/rsocket/pages.h"
#include "cm/rsocket/wire.h"
#include "verbs/result.h"

namespace anyrdma::rsocket {

/// Settings of a stream, which a program makes with rsetsockopt before the stream connects.
struct Settings {
  Sizes sizes;
  std::uint32_t inline_data = 64;  ///< bytes
  std::uint32_t mappings = 0;      ///< buffers that the peer may use at a time (RDMA_IOMAPSIZE)
};

/// The two directions of a stream, and how it ended.
struct Ends {
  bool readable = true;       ///< the peer may still send
  bool writable = true;       ///< the program may still send
  bool disconnected = false;  ///< ended by a message of either side, or by the CM
  bool shut = false;          ///< the program itself no longer sends
  bool peer_gone = false;     ///< the peer no longer reads
  int error = 0;              ///< errno of a stream that is broken
  [[nodiscard]] bool connected() const { return !disconnected && error == 0; }
};

/// Receives beyond those that credits count, for control messages, which need no credit. With them,
/// such a message rarely meets an empty receive queue.
inline constexpr std::uint32_t kControlReceives = 2 * kControlSlots;

/// Threads: one at a time.
class Connection {
 public:
  /// Creates the queue pair of `id`, which must have a device and must outlive the connection, and
  /// posts all receives. Errors of the verbs, such as ENOMEM or EINVAL.
  [[nodiscard]] static verbs::Result<std::unique_ptr<Connection>> create(rdma_cm_id* id,
                                                                         const Settings& settings);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// The own private data.
  [[nodiscard]] ConnectData own_data() const;
  /// Begins with the peer's private data.
  void begin(const ConnectData& peer) {
    flow_.begin(peer);
    mappings_.begin(id_->pd, peer);
  }
  /// From now on messages can be sent, and the peer gets the second half of the receive buffer.
  void open();

  [[nodiscard]] Flow& flow() { return flow_; }
  [[nodiscard]] const Flow& flow() const { return flow_; }
  [[nodiscard]] const Ends& ends() const { return ends_; }
  [[nodiscard]] Ends& ends() { return ends_; }
  [[nodiscard]] int inline_data() const { return static_cast<int>(inline_data_); }

  /// Processes all completions. True: there were some.
  bool process();
  /// Copies up to `data.size()` bytes into the send buffer and posts them as one message. Returns
  /// their number. Requires flow().can_send().
  std::size_t send(std::span<const std::byte> data);
  /// Copies up to `data.size()` bytes into the send buffer, and writes them to `target`, which the
  /// peer is not told. Returns their number. Requires flow().can_write().
  std::size_t write(std::span<const std::byte> data, const Target& target);
  /// Sends updates of mappings as long as there is room. True: none is due any more.
  bool send_mappings();
  [[nodiscard]] Mappings& mappings() { return mappings_; }
  /// Sends a control message. Requires flow().can_control().
  void send_control(Control control);
  /// Returns bytes that have arrived, as Flow::peek does.
  [[nodiscard]] std::span<const std::byte> peek(std::size_t skipped, std::size_t wanted) const;
  /// Gives the first `length` bytes back, and grants the peer new ones.
  void consume(std::size_t length);
  /// Ends the stream as the CM reported. Completions that came before are processed first.
  void on_disconnected();
  /// The device is gone.
  void on_removed() { break_with(ENODEV); }
  /// Whether nothing that was posted is still on its way to a peer that reads.
  [[nodiscard]] bool drained() const {
    return flow_.all_sent() || ends_.peer_gone || ends_.error != 0;
  }

  /// The descriptor that is readable after a notification.
  [[nodiscard]] int fd() const { return channel_->fd; }
  /// Requests a notification, unless one is due. True: there were completions since the last call
  /// of process(), and they are processed now.
  bool arm();
  /// Takes the notifications that have come. True: there were some.
  bool take_notifications();

 private:
  Connection(rdma_cm_id* id, const Settings& settings);
  [[nodiscard]] verbs::Result<void> make_queues();
  [[nodiscard]] verbs::Result<void> register_memory();
  bool post_receive();
  bool post(ibv_sge* memory, Message message, std::uint64_t address, std::uint32_t key);
  /// Copies `data` to its part of the send buffer, and posts it.
  std::size_t post_copy(std::span<const std::byte> data, const Flow::Transfer& transfer);
  void grant();
  void on_received(const ibv_wc& completion);
  void on_control(std::uint32_t value);
  void on_completed(const ibv_wc& completion);
  void break_with(int error);
  [[nodiscard]] std::uint32_t receives() const;
  [[nodiscard]] std::span<std::byte, kTargetSize> target_entry(std::uint32_t index) const;
  [[nodiscard]] std::span<std::byte, kMappingSize> mapping_entry(std::uint32_t index) const;

  rdma_cm_id* const id_;
  const Settings settings_;
  Flow flow_;
  Mappings mappings_;
  Ends ends_;
  bool open_ = false;
  bool armed_ = false;
  std::uint32_t inline_data_ = 0;
  std::uint32_t grants_ = 0;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* cq_ = nullptr;
  std::unique_ptr<Pages> send_memory_;  ///< send buffer, then entries of control messages
  std::unique_ptr<Pages> receive_memory_;
  std::unique_ptr<Pages> target_memory_;  ///< table of targets, then table of mappings
  ibv_mr* send_region_ = nullptr;
  ibv_mr* receive_region_ = nullptr;
  ibv_mr* target_region_ = nullptr;
};

}  // namespace anyrdma::rsocket
