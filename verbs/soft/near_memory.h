// RDMA without packets, between processes of one machine. A process publishes the access to its
// memory that it allows. If a requester finds the access published, it accesses the memory itself
// instead of sending a request. The software HCA calls this interface; a real-time transport may
// implement it.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyrdma::verbs::soft {

/// Implements RDMA without packets. All functions are called inside the runtime's critical section.
class NearMemory {
 public:
  /// One end of a reliable connection, as its attributes describe it.
  struct End {
    std::uint32_t number = 0;  ///< QPN
    std::uint32_t peer = 0;    ///< QPN
    ibv_gid source{};
    ibv_gid destination{};
    std::uint32_t mtu = 0;
    std::uint32_t first_sent = 0;      ///< PSN
    std::uint32_t first_expected = 0;  ///< PSN
    std::uint32_t access = 0;          ///< what the peer may access: ibv_access_flags
    std::uint64_t domain = 0;          ///< names its PD
    bool asks = false;                 ///< may start operations

    /// Whether the end accepts requests. True only if the first request raises no event
    /// (IBV_EVENT_COMM_EST).
    bool answers = false;
    bool reads = false;  ///< answers READs and atomic operations
  };
  /// The published permissions of a memory region.
  struct Region {
    std::uint32_t key = 0;
    std::uint32_t access = 0;  ///< ibv_access_flags
    std::uint64_t domain = 0;  ///< names its PD
    std::uint64_t iova = 0;
    std::uint64_t length = 0;
    std::uint64_t address = 0;
  };
  /// A part of a scatter/gather list.
  struct Piece {
    std::uint8_t* at = nullptr;
    std::size_t size = 0;
  };

  virtual ~NearMemory() = default;

  // --- access that this process allows -----------------------------------------------------------

  // Contract of the functions that follow, by which this process allows access: after such a
  // function has returned, no peer continues an access that is no longer allowed.
  virtual void set_end(const End& end) = 0;
  virtual void forget_end(std::uint32_t number) = 0;
  virtual void add_region(const Region& region) = 0;
  virtual void forget_region(std::uint32_t key) = 0;
  /// Sets whether peers may access this process's memory at all. The device calls it with true
  /// while its port is active, and with false otherwise. The initial value is true.
  virtual void set_open(bool open) = 0;
  /// Sets whether an application in this process polls all the time, and so processes packets
  /// itself.
  virtual void set_awake(bool awake) = 0;

  // --- access to other processes' memory ---------------------------------------------------------

  // Contract of the functions that follow, by which this process accesses the memory of other
  // processes. `number` is the QPN of this process's queue pair. If such a function returns false,
  // it had no effect. The caller then sends packets, and a peer that refuses the access answers
  // with the error.

  /// Writes to the memory of the peer of queue pair `number`. The last aligned word of 8 bytes is
  /// written at once, after all others.
  [[nodiscard]] virtual bool write(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                                   std::span<const Piece> from) = 0;
  [[nodiscard]] virtual bool read(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                                  std::span<const Piece> to) = 0;
  /// Whether the peer of queue pair `number` polled for packets a moment ago. The answer may be
  /// wrong.
  [[nodiscard]] virtual bool is_awake(std::uint32_t number) const = 0;
};

}  // namespace anyrdma::verbs::soft
