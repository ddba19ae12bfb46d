// Send and receive queues: work requests in slots of one size. The scatter/gather list or the
// inline data follows the request in its slot. Memory grows with use up to the granted depth, and
// is kept.
//
// A request occupies a place of its queue from when it is posted until a completion that covers it
// is polled, as in the user drivers of NICs. Soft-RoCE frees the place when the request is executed
// (HcaConfig::free_when_executed).
#pragma once

#include <infiniband/verbs.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "verbs/soft/freed_places.h"
#include "verbs/soft/send_operations.h"
#include "verbs/wire/ids.h"

namespace anyrdma::verbs::soft {

/// The operands of an atomic operation. In the send queue, they follow the gather list of the work
/// request in its slot.
struct AtomicOperands {
  std::uint64_t swap_or_add;
  std::uint64_t compare;
};

/// A work request on the send queue. Its gather list or inline data follows in the same slot.
struct SendWork {
  std::uint64_t wr_id;
  std::uint64_t remote_address;
  std::uint32_t remote_key;
  /// For an extended connection (XRC): the number of the peer's shared receive queue.
  std::uint32_t shared_queue;
  std::uint32_t length;
  __be32 immediate;     ///< the immediate data; or the key to invalidate, in host order
  wire::Psn first_psn;  ///< valid once started

  /// Number of PSNs that the request uses: those of its packets or, for a READ, those of the
  /// responses.
  std::uint32_t packets;
  std::uint32_t responses;  ///< READ, ATOMIC: response packets received so far
  ibv_wc_status status;     ///< an error that was found before the request was started
  WorkKind kind;            ///< kind in the opcode's row of kSendOperations
  std::uint8_t opcode;      ///< ibv_wr_opcode
  std::uint8_t sge_count;
  std::uint8_t fetch;  ///< when the device reads the payload: see DelayedEffects
  bool with_immediate : 1;
  bool with_invalidate : 1;
  bool signaled : 1;
  bool solicited : 1;
  bool fence : 1;
  bool inline_data : 1;

  [[nodiscard]] ibv_sge* list() { return reinterpret_cast<ibv_sge*>(this + 1); }
  [[nodiscard]] AtomicOperands& operands() {
    return *reinterpret_cast<AtomicOperands*>(list() + sge_count);
  }
  [[nodiscard]] std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(this + 1); }
  [[nodiscard]] wire::Psn end_psn() const { return first_psn + packets; }
  [[nodiscard]] const SendOperation& operation() const { return kSendOperations[opcode]; }
};

/// A work request on the receive queue. Its scatter list follows in the same slot.
struct ReceiveWork {
  std::uint64_t wr_id;
  std::uint32_t sge_count;
  std::uint32_t reserved;

  [[nodiscard]] ibv_sge* list() { return reinterpret_cast<ibv_sge*>(this + 1); }
};

/// A bounded queue of slots, each for one work request. Indices grow without end. The address of a
/// slot is valid until the next push(). Not thread-safe.
template <class Work>
class WorkQueue {
 public:
  /// Makes an empty queue of at most `depth` requests, with `extra` bytes behind each Work for its
  /// list or data. `free_when_executed`: see HcaConfig.
  void configure(std::uint32_t depth, std::size_t extra, bool free_when_executed) {
    depth_ = depth;
    free_when_executed_ = free_when_executed;
    head_ = tail_ = covered_ = freed_ = 0;
    const std::size_t stride = (sizeof(Work) + extra + 15) & ~std::size_t{15};
    stride_ = stride;
    std::size_t slots = 1;
    while (slots * 2 * stride <= bytes_) slots *= 2;
    capacity_ = bytes_ < stride ? 0 : static_cast<std::uint32_t>(slots);
  }

  /// Changes the capacity. Precondition: `depth` is not less than the number of occupied places.
  void set_depth(std::uint32_t depth) { depth_ = depth; }

  /// Frees the queue's memory if it is larger than `limit` bytes. Call configure() before the next
  /// use.
  void trim(std::size_t limit) {
    if (bytes_ <= limit) return;
    memory_.reset();
    bytes_ = 0;
    capacity_ = 0;
  }

  [[nodiscard]] bool empty() const { return head_ == tail_; }
  [[nodiscard]] bool full() const { return occupied() >= depth_; }
  /// Returns the number of requests that are not executed yet.
  [[nodiscard]] std::uint32_t size() const { return tail_ - head_; }
  /// Returns the number of places that are not free.
  [[nodiscard]] std::uint32_t occupied() const { return tail_ - freed_; }
  [[nodiscard]] std::uint32_t room() const { return full() ? 0 : depth_ - occupied(); }
  /// Returns the counter that FreedPlaces of this queue refer to.
  [[nodiscard]] const std::uint32_t* freed() const { return &freed_; }
  [[nodiscard]] std::uint32_t head() const { return head_; }
  [[nodiscard]] std::uint32_t tail() const { return tail_; }
  [[nodiscard]] Work& operator[](std::uint32_t index) {
    return *at(memory_.get(), capacity_, index);
  }
  [[nodiscard]] const Work& operator[](std::uint32_t index) const {
    return *at(memory_.get(), capacity_, index);
  }
  /// Returns the number of requests in the queue that are signaled (have a completion even if they
  /// succeed).
  [[nodiscard]] std::size_t signaled() const {
    std::size_t count = 0;
    for (std::uint32_t i = head_; i != tail_; ++i) count += (*this)[i].signaled ? 1 : 0;
    return count;
  }
  [[nodiscard]] Work& front() { return (*this)[head_]; }

  /// Adds a slot at the tail and returns it, uninitialised. Precondition: the queue is not full.
  [[nodiscard]] Work& push() {
    if (size() == capacity_) grow();
    return (*this)[tail_++];
  }
  void pop() { ++head_; }

  /// Says that the front request is executed; pop() follows. `reported`: the request gets a
  /// completion. Returns what polling the completion frees.
  [[nodiscard]] FreedPlaces cover_front(bool reported) {
    const std::uint32_t end = head_ + 1;
    if (free_when_executed_) {
      freed_ = end;
      return {};
    }
    if (!reported) return {};
    return {&freed_, end - std::exchange(covered_, end)};
  }
  /// Removes the front request, which another queue executes. Returns what polling its completion
  /// frees, however many others complete before it.
  [[nodiscard]] FreedPlaces give_front() {
    ++head_;
    if (!free_when_executed_) return {&freed_, 1};
    ++freed_;
    return {};
  }

  /// Removes all requests. Their places stay occupied.
  void clear() { head_ = tail_; }
  /// Frees all places. Precondition: no request is left, and no completion queue has a completion
  /// of one.
  void free_places() { covered_ = freed_ = tail_; }

 private:
  static constexpr std::uint32_t kFirstSlots = 4;

  [[nodiscard]] Work* at(std::byte* memory, std::uint32_t capacity, std::uint32_t index) const {
    return reinterpret_cast<Work*>(memory + std::size_t{index & (capacity - 1)} * stride_);
  }

  void grow() {
    const std::uint32_t first = depth_ < kFirstSlots ? std::bit_ceil(depth_) : kFirstSlots;
    const std::uint32_t larger = capacity_ == 0 ? first : capacity_ * 2;
    std::unique_ptr<std::byte[]> memory(new std::byte[larger * stride_]);  // not zeroed
    for (std::uint32_t i = head_; i != tail_; ++i)
      std::memcpy(static_cast<void*>(at(memory.get(), larger, i)), &(*this)[i], stride_);
    memory_ = std::move(memory);
    capacity_ = larger;
    bytes_ = larger * stride_;
  }

  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_ = 0;
  std::size_t stride_ = sizeof(Work);
  std::uint32_t capacity_ = 0;  // power of two
  std::uint32_t depth_ = 0;
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
  std::uint32_t covered_ = 0;  // requests before it are covered by a completion, or free
  std::uint32_t freed_ = 0;    // number of places that were freed
  bool free_when_executed_ = false;
};

/// Copies a receive request into a queue. Returns the errno of ibv_post_recv, 0 for success.
[[nodiscard]] inline int post_receive(WorkQueue<ReceiveWork>& queue, const ibv_recv_wr& request,
                                      std::uint32_t max_sge) {
  if (request.num_sge < 0) return EINVAL;
  if (static_cast<std::uint32_t>(request.num_sge) > max_sge) return EINVAL;
  if (request.num_sge > 0 && request.sg_list == nullptr) return EINVAL;
  if (queue.full()) return ENOMEM;
  ReceiveWork& work = queue.push();
  work.wr_id = request.wr_id;
  work.sge_count = static_cast<std::uint32_t>(request.num_sge);
  for (int i = 0; i < request.num_sge; ++i) work.list()[i] = request.sg_list[i];
  return 0;
}

/// A key that no memory region has.
inline constexpr std::uint32_t kNoKey = ~std::uint32_t{0};

/// Makes a queued receive fail with this status when a message arrives. For IBV_WC_LOC_PROT_ERR,
/// its scatter list gets a key that no region has; for IBV_WC_LOC_LEN_ERR, its length becomes 0.
inline void spoil(ReceiveWork& work, ibv_wc_status status) {
  if (status != IBV_WC_LOC_PROT_ERR) work.sge_count = 0;
  for (std::uint32_t i = 0; i < work.sge_count; ++i) work.list()[i].lkey = kNoKey;
}

}  // namespace anyrdma::verbs::soft
