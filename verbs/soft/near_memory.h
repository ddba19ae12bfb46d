// RDMA without packets, between processes of one machine. A process publishes which access it
// allows. A requester that finds it published does the work of the peer's responder itself. The
// software HCA uses this interface; its runner may implement it.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyrdma::verbs::soft {

/// All functions inside the critical section.
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
    std::uint32_t access = 0;          ///< what the peer may do: ibv_access_flags
    std::uint64_t domain = 0;          ///< names its PD
    bool asks = false;                 ///< may begin work
    bool answers = false;              ///< takes requests, and the first one would be no event
    bool reads = false;                ///< answers READs and atomics
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
  /// A part of a gather or scatter list.
  struct Piece {
    std::uint8_t* at = nullptr;
    std::size_t size = 0;
  };

  virtual ~NearMemory() = default;

  // --- what others may do here ------------------------------------------------------------------
  // When one of these has returned, no peer goes on with an access that is not allowed any more.
  virtual void set_end(const End& end) = 0;
  virtual void forget_end(std::uint32_t number) = 0;
  virtual void add_region(const Region& region) = 0;
  virtual void forget_region(std::uint32_t key) = 0;
  /// Whether anything is allowed; at first, yes. As an active port, or one that lost its link.
  virtual void set_open(bool open) = 0;
  /// Whether an application here polls all the time, and so processes packets itself.
  virtual void set_awake(bool awake) = 0;

  // --- what may be done there -------------------------------------------------------------------
  // `number` is the own end. False: not so; nothing that counts has happened, and packets will find
  // out what is wrong, if anything is.
  /// The last aligned word of 8 bytes lands in one piece, after all others.
  [[nodiscard]] virtual bool write(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                                   std::span<const Piece> from) = 0;
  [[nodiscard]] virtual bool read(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                                  std::span<const Piece> to) = 0;
  /// Whether the peer received packets by itself a moment ago. A hint without guarantee.
  [[nodiscard]] virtual bool is_awake(std::uint32_t number) const = 0;
};

}  // namespace anyrdma::verbs::soft
