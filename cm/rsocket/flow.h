// The protocol of one end of a stream: which bytes may be sent where, which have arrived, and when
// to grant the peer more. No I/O: Connection executes what Flow decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "cm/rsocket/wire.h"

namespace anyrdma::rsocket {

/// Sizes of the queues and buffers of a stream. Fixed when the stream connects.
struct Sizes {
  std::uint32_t send_queue = 384;             ///< work requests, kControlSlots of them for control
  std::uint32_t receive_queue = 384;          ///< data messages that the peer may have outstanding
  std::uint32_t send_buffer = 128 * 1024;     ///< bytes
  std::uint32_t receive_buffer = 128 * 1024;  ///< bytes, granted to the peer by halves
};

/// Work requests that are reserved for control messages, which need no credit.
inline constexpr std::uint32_t kControlSlots = 4;

/// Sequence, credit and buffer accounting of one end of a stream. Calls come in the order of the
/// completions. Threads: one at a time. Source: docs/rsocket of librdmacm.
class Flow {
 public:
  /// A range of one of the own buffers.
  struct Part {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    bool operator==(const Part&) const = default;
  };
  /// Data to write: `from` the send buffer to the peer's memory.
  struct Transfer {
    Part from;
    std::uint64_t address = 0;
    std::uint32_t key = 0;
    Message message;
  };
  /// A control message to send. If it has a grant, the target is to be written to the peer's table.
  struct Update {
    Message message;
    /// An entry of the peer's table: a part of the receive buffer that the peer may write to.
    struct Grant {
      Part of_receive_buffer;
      std::uint64_t address = 0;  ///< of the entry in the peer's table
      std::uint32_t key = 0;
    };
    std::optional<Grant> grant;
  };

  explicit Flow(const Sizes& sizes);

  /// Begins with the peer's private data. The first half of the receive buffer is the peer's.
  void begin(const ConnectData& peer);
  [[nodiscard]] bool has_begun() const { return begun_; }
  /// Byte order of the entries that the peer reads.
  [[nodiscard]] Order peer_order() const { return peer_.order; }
  [[nodiscard]] const ConnectData& peer() const { return peer_; }

  // --- sending -----------------------------------------------------------------------------------

  /// Whether at least one byte can be sent now.
  [[nodiscard]] bool can_send() const;
  /// Reserves a part of the send buffer and of the peer's memory, for at most `wanted` bytes.
  /// Requires can_send() and `wanted` > 0.
  [[nodiscard]] Transfer take(std::size_t wanted);
  /// Whether a byte can be written to memory that the peer has mapped: needs no credit.
  [[nodiscard]] bool can_write() const { return data_slots_ > 0 && send_free_ > 0; }
  /// Reserves a part of the send buffer for at most `wanted` bytes. The caller sets the address.
  /// Requires can_write() and `wanted` > 0.
  [[nodiscard]] Transfer take_write(std::size_t wanted);
  /// Whether a work request is free for something that needs neither credit nor send buffer.
  [[nodiscard]] bool has_slot() const { return data_slots_ > 0; }
  void take_slot() { --data_slots_; }
  void on_slot_free() { ++data_slots_; }
  /// A transfer has completed: its part of the send buffer is free. Transfers complete in order.
  void on_sent(std::uint32_t length);
  /// Whether a control message can be sent now.
  [[nodiscard]] bool can_control() const { return control_slots_ > 0; }
  void take_control() { --control_slots_; }
  void on_control_sent() { ++control_slots_; }
  [[nodiscard]] bool all_sent() const;

  // --- receiving ---------------------------------------------------------------------------------

  /// Takes an entry that the peer has written into the own table of targets. `target` is what is
  /// in the table at next_target(). False: all entries were in use; the stream is broken.
  [[nodiscard]] bool on_target(const Target& target);
  /// Index of the entry that the peer writes next.
  [[nodiscard]] std::uint32_t next_target() const { return next_target_; }
  /// Up to which data message the peer's credits reach.
  void on_credit(std::uint32_t value) { send_limit_ = static_cast<std::uint16_t>(value); }
  /// Data has arrived. False: more than was granted; the stream is broken.
  [[nodiscard]] bool on_data(std::uint32_t length);
  [[nodiscard]] bool has_data() const { return available_ != 0; }
  /// Bytes that have arrived and were not consumed.
  [[nodiscard]] std::size_t available() const { return available_; }
  /// The contiguous bytes that begin `skipped` bytes after the first byte that was not consumed, at
  /// most `wanted`. Length 0: none.
  [[nodiscard]] Part peek(std::size_t skipped, std::size_t wanted) const;
  /// Gives `length` bytes back, at most available().
  void consume(std::size_t length);
  /// The update that the peer needs now. Takes a control slot.
  [[nodiscard]] std::optional<Update> next_update();

 private:
  [[nodiscard]] std::uint32_t half() const { return sizes_.receive_buffer / 2; }
  [[nodiscard]] bool owes_credit() const;
  /// Reserves a part of the send buffer and a work request.
  [[nodiscard]] Part take_part(std::size_t wanted);

  Sizes sizes_;
  ConnectData peer_;
  bool begun_ = false;

  // Sending. Sequence numbers of data messages count modulo 65536.
  std::uint16_t sent_ = 0;
  std::uint16_t send_limit_ = 0;
  std::uint32_t data_slots_;
  std::uint32_t control_slots_ = kControlSlots;
  std::uint32_t send_free_;     ///< bytes
  std::uint32_t send_at_ = 0;   ///< offset of the next byte in the send buffer
  std::deque<Target> targets_;  ///< the peer's buffers, the current one first
  std::uint32_t next_target_ = 1;

  // Receiving.
  std::deque<std::uint32_t> arrived_;  ///< what is left of each data message
  std::size_t available_ = 0;
  std::uint16_t received_ = 0;    ///< data messages that were consumed
  std::uint16_t credit_at_;       ///< value of received_ from which the peer needs credits
  std::uint32_t read_at_ = 0;     ///< offset of the first byte that was not consumed
  std::uint32_t granted_;         ///< bytes that the peer may still write
  std::uint32_t receive_free_;    ///< bytes that are neither granted nor unread
  std::uint32_t grant_at_;        ///< offset of the next half that is granted
  std::uint32_t peer_entry_ = 1;  ///< entry of the peer's table that is written next
};

}  // namespace anyrdma::rsocket
