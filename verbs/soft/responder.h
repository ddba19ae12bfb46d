// The receiving half of a connection: it takes request packets in order, executes them, and answers
// if the service is reliable (IBTA vol 1, 9.7.4 and 9.7.5; 9.8.2).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "verbs/soft/atomics.h"
#include "verbs/soft/core.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/ring.h"
#include "verbs/soft/wire/headers.h"
#include "verbs/time.h"
#include "verbs/wire/ids.h"

namespace anyrdma::verbs::soft {

/// The responder of one queue pair; owned by its SoftQp. Responses wait in order until
/// next_packet() takes them; adjacent acknowledgements become one. Used inside the runtime's
/// critical section.
class Responder {
 public:
  explicit Responder(SoftQp& qp) : qp_(qp) {}

  /// Starts the responder when the QP goes from INIT to RTR. The QP's attributes are set before.
  void start();

  [[nodiscard]] bool wants_to_send() const {
    return !answers_.empty() && (answers_[0].ticket == 0 || is_found(answers_[0].ticket));
  }
  /// Returns the next response packet; null: there is none.
  [[nodiscard]] PacketPtr next_packet();

  /// Processes a request packet. The caller has checked its headers.
  void on_request(const roce::Envelope& packet, const roce::OpcodeRow& row,
                  std::span<const std::uint8_t> datagram);

  /// Drops the message that is being received. Called when the rest of the message will not arrive.
  void abandon_message() { message_ = Message::kNone; }
  /// Drops its state without completions.
  void discard();
  /// Drops all responses. Called when the local application moves the QP to ERR.
  void forget_answers();

 private:
  // A response that is not sent yet: an acknowledgement, the remaining part of a READ response, or
  // the result of an atomic operation.
  struct Answer {
    wire::Psn psn;
    std::uint32_t message_sequence = 0;
    bool read = false;
    bool atomic = false;
    bool stored = false;     // ATOMIC: the operation is an ATOMIC WRITE, which returns no value
    bool begun = false;      // READ: the first response packet was sent
    bool repeated = false;   // READ, ATOMIC: answers a duplicate, and so causes no error
    roce::AckKind kind{};    // acknowledgement
    std::uint8_t value = 0;  // acknowledgement: credits, RNR timer or NAK code
    std::uint32_t key = 0;   // READ ...
    std::uint32_t remaining = 0;
    std::uint64_t address = 0;
    std::uint64_t original = 0;  // ATOMIC

    // READ, ATOMIC: number of the response in DelayedEffects; 0: not delayed.
    std::uint32_t ticket = 0;
    const ibv_pd* domain = nullptr;  // READ: protection domain whose memory it may read
  };
  // The result of an executed atomic operation. If the request is repeated, the device sends this
  // result again, and does not execute the operation again.
  struct Done {
    wire::Psn psn;
    std::uint32_t message_sequence = 0;
    std::uint64_t original = 0;
    bool stored = false;  // a write, which found nothing
  };
  // The kind of the message that is being received.
  enum class Message : std::uint8_t { kNone, kSend, kWrite };

  void on_reliable(const roce::Envelope& packet, const roce::OpcodeRow& row,
                   std::span<const std::uint8_t> datagram);
  void on_duplicate(const roce::Bth& bth, const roce::OpcodeRow& row,
                    std::span<const std::uint8_t> datagram);
  [[nodiscard]] bool in_sequence(const roce::OpcodeRow& row) const;
  [[nodiscard]] bool length_fits(const roce::OpcodeRow& row, std::size_t length) const;
  void on_send(const roce::Envelope& packet, const roce::OpcodeRow& row,
               std::span<const std::uint8_t> datagram);
  void on_write(const roce::Envelope& packet, const roce::OpcodeRow& row,
                std::span<const std::uint8_t> datagram);
  void on_read(const roce::Envelope& packet, const roce::Reth& reth);
  void on_atomic(const roce::Bth& bth, bool compare_swap, const roce::AtomicEth& eth);
  void on_atomic_write(const roce::Envelope& packet, const roce::Reth& reth);
  [[nodiscard]] void* atomic_target(wire::Psn psn, std::uint32_t key, std::uint64_t address,
                                    unsigned access);
  void remember_atomic(wire::Psn psn, std::uint64_t original, bool stored,
                       std::uint32_t ticket = 0);
  void answer_atomic(const Done& done, bool repeated = true);
  void no_longer_waits(const Answer& answer);
  void on_duplicate_read(const roce::Bth& bth, const roce::Reth& reth, const ibv_pd* domain);
  void on_duplicate_atomic(wire::Psn psn);
  void note_refused(std::uint32_t key, std::uint64_t length, std::string_view what);
  void note_unmapped(std::uint32_t key, std::uint64_t length, std::string_view what);
  void note_use(std::uint32_t key, const void* bytes, std::uint64_t length, std::string_view what);
  [[nodiscard]] bool no_room_for_answer() const;
  [[nodiscard]] bool begin_write(roce::Reth reth, std::uint8_t*& to);
  void end_message(const roce::Envelope& packet, const roce::OpcodeRow& row,
                   std::span<const std::uint8_t> datagram);
  void complete_receive(ibv_wc& completion, bool solicited);
  void accept(const roce::Bth& bth);

  void acknowledge(wire::Psn psn);
  void answer(roce::AckKind kind, std::uint8_t value, wire::Psn psn);
  void receiver_not_ready(wire::Psn psn);
  void refuse(roce::NakCode code, wire::Psn psn, ibv_wc_status status);
  void fail_silently(ibv_wc_status status);
  void refuse_write(const roce::OpcodeRow& row, wire::Psn psn);
  void fail_receive(ibv_wc_status status);

  // --- a connection without acknowledgements (responder_unreliable.cc) --------------------------
  void on_unreliable(const roce::Envelope& packet, const roce::OpcodeRow& row,
                     std::span<const std::uint8_t> datagram);
  void drop_message(ibv_wc_status status);

  // --- extended connections (responder_xrc.cc) --------------------------------------------------
  [[nodiscard]] SoftSrq* named_queue(std::uint8_t opcode,
                                     std::span<const std::uint8_t> datagram) const;
  [[nodiscard]] bool enter_queue(const roce::OpcodeRow& row,
                                 std::span<const std::uint8_t> datagram);
  [[nodiscard]] const ibv_pd* domain_of(std::uint8_t opcode,
                                        std::span<const std::uint8_t> datagram) const;

  // --- answers ----------------------------------------------------------------------------------
  [[nodiscard]] PacketPtr make_acknowledge(const Answer& answer);
  [[nodiscard]] PacketPtr make_atomic_acknowledge(const Answer& answer);
  [[nodiscard]] PacketPtr make_read_response(Answer& answer);
  [[nodiscard]] PacketPtr read_failed();
  void finish(const Answer& answer);

  // --- memory (responder_memory.cc) -------------------------------------------------------------
  [[nodiscard]] bool store(std::uint8_t* to, std::span<const std::uint8_t> bytes, bool first);
  [[nodiscard]] bool carry_out(void* at, const AtomicRequest& request, std::uint64_t& original,
                               std::uint32_t& ticket);
  [[nodiscard]] bool is_found(std::uint32_t ticket) const;
  [[nodiscard]] const std::uint8_t* found(const Answer& answer) const;
  [[nodiscard]] bool load(const std::uint8_t* from, std::uint32_t size, Packet& packet,
                          std::size_t at);
  /// Copies the payloads of READ responses under way into their packets, before a later request
  /// changes the memory.
  void keep_reads() { lent_.keep_all(); }

  SoftQp& qp_;
  Ring<Answer> answers_;
  LentPackets<OfQueue> lent_;        // READ responses under way with lent payloads
  const ibv_pd* domain_ = nullptr;   // whose memory requests may name
  Ring<Done> atomics_;               // the last results, as many as the peer may have outstanding
  std::uint32_t reads_waiting_ = 0;  // READs and ATOMICs in answers_

  // Number of responses to duplicate READs and ATOMICs in answers_, which reads_waiting_ does not
  // count.
  std::uint32_t repeats_waiting_ = 0;
  wire::Psn expected_;
  std::uint32_t message_sequence_ = 0;  // completed messages, modulo 2^24
  bool gap_reported_ = false;           // one NAK for each gap in the PSNs (IBTA vol 1, 9.7.5.2.8)
  Message message_ = Message::kNone;
  std::uint64_t received_ = 0;  // bytes of the current message
  std::uint64_t write_address_ = 0;
  std::uint32_t write_key_ = 0;
  std::uint32_t write_length_ = 0;
};

}  // namespace anyrdma::verbs::soft
