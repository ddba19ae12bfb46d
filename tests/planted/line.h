// The sample application's end of a connection: a queue pair, its memory, and the account of its
// work requests.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cm/id.h"
#include "sim/host.h"
#include "verbs/memory.h"

namespace anyrdma::planted {

/// What the application finds wrong, and how far it came.
struct Journal {
  std::string complaints;  ///< of what may never happen, whatever the network does
  int delivered = 0;       ///< parcels whose answers were as they should be
  int stamped = 0;         ///< clients that have read the server's stamp
  int taken_in = 0;        ///< parcels that the server had
  int refused = 0;         ///< clients that were told to go away
  bool open = false;       ///< the server listens

  void complain(const std::string& text) { complaints += "courier: " + text + "\n"; }
};

class Line {
 public:
  static constexpr std::uint32_t kParcelBytes = 9000;  // three packets
  static constexpr std::uint32_t kSlotBytes = 10'000;
  static constexpr int kReceives = 4;
  /// Where things are in the memory: receives first, a slot each.
  static constexpr std::size_t kOutAt = std::size_t{kReceives} * kSlotBytes;
  static constexpr std::size_t kBulkAt = kOutAt + kSlotBytes;  ///< the peer writes or reads here
  static constexpr std::size_t kBackAt = kBulkAt + kSlotBytes;
  static constexpr std::size_t kBytes = kBackAt + kSlotBytes;

  Line(cm::Id& id, Journal& journal) : id_(id), journal_(journal) {}
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  /// Makes the queue pair and registers the memory. False: the device is gone.
  [[nodiscard]] bool open();
  [[nodiscard]] std::uint8_t* at(std::size_t offset) { return memory_.data() + offset; }
  [[nodiscard]] std::uint64_t address(std::size_t offset) {
    return reinterpret_cast<std::uint64_t>(at(offset));
  }
  [[nodiscard]] std::uint32_t key() const { return region_.get()->rkey; }

  /// False: the device is gone, or the connection is.
  [[nodiscard]] bool post_receive(int slot);
  [[nodiscard]] bool send(std::size_t from, std::uint32_t length);
  [[nodiscard]] bool write(std::size_t from, std::uint32_t length, std::uint64_t to,
                           std::uint32_t key);
  [[nodiscard]] bool read(std::size_t into, std::uint32_t length, std::uint64_t from,
                          std::uint32_t key);
  /// The slot of the next message if there is one.
  [[nodiscard]] std::optional<int> try_receive();
  /// The same, waiting. Nothing: the connection is over.
  [[nodiscard]] std::optional<int> receive();
  /// Waits until all that was sent, written and read is done. False: it failed.
  [[nodiscard]] bool finish();
  [[nodiscard]] bool broken() const { return broken_; }

  /// Nothing more is sent or received: what is open ends as flushed.
  void flush();
  /// Takes completions until all work requests have theirs.
  void drain();

 private:
  struct Queue {
    std::deque<std::uint64_t> open;  ///< posted and not completed, in order
    std::uint64_t next = 0;
  };
  [[nodiscard]] bool post(ibv_wr_opcode opcode, std::size_t at, std::uint32_t length,
                          std::uint64_t remote, std::uint32_t key);
  [[nodiscard]] std::optional<ibv_wc> poll(ibv_cq* cq);
  [[nodiscard]] std::optional<ibv_wc> wait(ibv_cq* cq, ibv_comp_channel* channel);
  /// Crosses the work request off. False: it did not go well.
  [[nodiscard]] bool settle(Queue& queue, const ibv_wc& completion);
  [[nodiscard]] std::optional<int> received(const ibv_wc& completion);
  [[nodiscard]] ibv_cq* send_cq() const { return id_.raw()->send_cq; }
  [[nodiscard]] ibv_cq* receive_cq() const { return id_.raw()->recv_cq; }

  cm::Id& id_;
  Journal& journal_;
  std::vector<std::uint8_t> memory_;
  verbs::MemoryRegion region_;
  Queue sends_;
  Queue receives_;
  std::deque<int> slots_;  ///< of the receives that are open, in order
  bool broken_ = false;
};

}  // namespace anyrdma::planted
