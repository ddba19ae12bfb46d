// Completion counters: they count the completed operations of the queue pairs that they are
// attached to. Source: ibv_create_comp_cntr(3) of rdma-core 65. For the C API.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "verbs/result.h"

namespace anyrdma::verbs::soft {

/// The operations that counters can count: the bits of ibv_qp_attach_comp_cntr_op, by number.
enum class Counted : std::uint8_t {
  kSend,
  kReceive,
  kRead,
  kRemoteRead,  ///< a READ of the peer
  kWrite,
  kRemoteWrite,  ///< a WRITE of the peer
};
inline constexpr std::size_t kCountedOperations = 6;
inline constexpr std::uint32_t kCountersMost = 1024;  ///< of one device

/// A completion counter. The first two members are those of ibv_comp_cntr.
struct CompletionCounter {
  ibv_context* context = nullptr;
  std::uint32_t handle = 0;
  bool counts_bytes = false;  ///< else requests
  unsigned users = 0;         ///< pairs of a queue pair and an operation
  std::uint64_t done = 0;     ///< successful requests, or their bytes
  std::uint64_t failed = 0;   ///< requests that have completed with an error
};

/// The counters of one queue pair. Used inside the runtime's critical section.
class AttachedCounters {
 public:
  AttachedCounters() = default;
  ~AttachedCounters();
  AttachedCounters(const AttachedCounters&) = delete;
  AttachedCounters& operator=(const AttachedCounters&) = delete;

  /// `operations`: bits of ibv_qp_attach_comp_cntr_op. EBUSY: one of them has a counter already.
  [[nodiscard]] int attach(CompletionCounter& counter, std::uint32_t operations);
  [[nodiscard]] bool counts_remote() const;

  void count(Counted operation, std::uint64_t bytes, bool success);
  /// Counts a request of the send queue that leads to a completion with `opcode`.
  void count_sent(ibv_wc_opcode opcode, std::uint64_t bytes, bool success);

 private:
  std::array<CompletionCounter*, kCountedOperations> counters_{};
};

/// The two values of a counter.
enum class CounterValue : std::uint8_t { kDone, kFailed };

// Errors of all functions below: EINVAL: no such object; EOPNOTSUPP: the device is no software HCA.
// They may be called from any thread.

/// Whether the device has counters: whether it is a software HCA.
[[nodiscard]] bool has_counters(const ibv_context* context);
/// Creates a counter. ENOMEM: the device has kCountersMost counters.
[[nodiscard]] Result<CompletionCounter*> create_counter(ibv_context* context, bool counts_bytes);
/// EBUSY: the counter is attached to a queue pair.
[[nodiscard]] Result<void> destroy_counter(CompletionCounter* counter);
/// Attaches a counter to a queue pair in RESET or INIT, until the queue pair is destroyed. EINVAL:
/// another state, or another device; EBUSY: one of the `operations` is counted already.
[[nodiscard]] Result<void> attach_counter(ibv_qp* qp, CompletionCounter* counter,
                                          std::uint32_t operations);
[[nodiscard]] Result<void> set_counter(CompletionCounter* counter, CounterValue which,
                                       std::uint64_t value);
/// Adds `amount`, modulo 2^64.
[[nodiscard]] Result<void> add_to_counter(CompletionCounter* counter, CounterValue which,
                                          std::uint64_t amount);
[[nodiscard]] Result<std::uint64_t> read_counter(const CompletionCounter* counter,
                                                 CounterValue which);

}  // namespace anyrdma::verbs::soft
