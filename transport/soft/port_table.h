// The owners of the ports of one host's RDMA port spaces. These are independent of the ports of TCP
// and UDP sockets (kernel: cma_pernet).
#pragma once

#include <rdma/rdma_cma.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "transport/soft/address.h"
#include "verbs/random.h"
#include "verbs/result.h"

namespace anyrdma::transport::soft {

/// An id's claim to a port. Trivially copyable, so that a table shared by several processes can
/// contain it.
struct Claim {
  rdma_port_space space = RDMA_PS_TCP;
  Address local{};        ///< with the port; wildcard or loopback count as "any"
  Address destination{};  ///< with the port; AF_UNSPEC: no address yet
  bool reuse = false;     ///< RDMA_OPTION_ID_REUSEADDR
  bool afonly = false;    ///< RDMA_OPTION_ID_AFONLY
};

/// Whether an explicit bind to an owned port is judged with REUSEADDR (bind) or without (listen).
enum class ReuseRule : std::uint8_t { kHonoured, kIgnored };

/// The errno that refuses `wanted` a port that `owned` has, 0 when they may share it. Both are of
/// one space and port (kernel: cma_check_port):
///   both reuse, if honoured                 -> 0
///   both afonly and families differ         -> 0
///   either address is an "any" address      -> EADDRNOTAVAIL
///   different specific addresses            -> 0
///   identical specific addresses            -> EADDRINUSE
[[nodiscard]] int bind_conflict(const Claim& wanted, const Claim& owned, ReuseRule rule);

/// Whether `owned` keeps `wanted` from sharing its port as an ephemeral one. Not when they differ
/// in specific destination port, source address or destination address (kernel:
/// cma_port_is_unique).
[[nodiscard]] bool ephemeral_conflict(const Claim& wanted, const Claim& owned);

/// Names one claim in its table.
enum class ClaimId : std::uint64_t {};

/// One host's ports. Used inside the critical section; fabric's implementation, shared by
/// processes, takes its own lock for the length of a call.
class PortTable {
 public:
  /// A port that is taken, until its claim is released.
  struct Claimed {
    ClaimId id{};
    std::uint16_t port = 0;  ///< host order; the one asked for or an ephemeral one
  };
  virtual ~PortTable() = default;
  /// Takes wanted.local.port, or an ephemeral port when that is 0. EADDRNOTAVAIL, EADDRINUSE: see
  /// bind_conflict, or no ephemeral port is left; EACCES: below 1024 and not privileged.
  [[nodiscard]] virtual verbs::Result<Claimed> claim(const Claim& wanted) = 0;
  /// The claim is about to listen: it must be unique with REUSEADDR ignored, and loses REUSEADDR.
  /// EADDRNOTAVAIL, EADDRINUSE; nothing changes then.
  [[nodiscard]] virtual verbs::Result<void> listen(ClaimId id) = 0;
  /// Updates a port when its owner learned addresses or changed an option. Never refused; port
  /// space and number stay.
  virtual void update(ClaimId id, const Claim& claim) = 0;
  /// The port is free at once: there is no TIME_WAIT.
  virtual void release(ClaimId id) = 0;
};

/// net.ipv4.ip_local_port_range and CAP_NET_BIND_SERVICE.
struct PortTableConfig {
  std::uint16_t ephemeral_first = 32768;
  std::uint16_t ephemeral_last = 60999;  ///< inclusive
  bool privileged = true;                ///< may ports below 1024 be bound?
};

/// A table in this process's memory.
class LocalPortTable final : public PortTable {
 public:
  /// `random` gives the start of each search for an ephemeral port; outlives the table.
  explicit LocalPortTable(verbs::Random& random, const PortTableConfig& config = {});

  [[nodiscard]] verbs::Result<Claimed> claim(const Claim& wanted) override;
  [[nodiscard]] verbs::Result<void> listen(ClaimId id) override;
  void update(ClaimId id, const Claim& claim) override;
  void release(ClaimId id) override;
  /// Claims in force; 0 proves that nothing leaks.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Slot {
    Claim claim;
    // Neighbours of the same space and port, newest first: of two that are in the way the kernel
    // asks the newer one (K/cma.c:cma_bind_port, cma_check_port).
    std::uint32_t previous = kNone;
    std::uint32_t next = kNone;
  };
  using Key = std::uint32_t;  ///< (space << 16) | port

  [[nodiscard]] static Key key_of(rdma_port_space space, std::uint16_t port);
  [[nodiscard]] std::uint32_t first_of(Key key) const;
  [[nodiscard]] verbs::Result<Claimed> claim_ephemeral(const Claim& wanted);
  [[nodiscard]] bool ephemeral_free(const Claim& wanted) const;
  [[nodiscard]] Claimed add(const Claim& claim);

  verbs::Random& random_;
  PortTableConfig config_;
  std::uint16_t last_ephemeral_ = 0;  ///< the one handed out last is skipped once
  std::size_t size_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  boost::unordered_flat_map<Key, std::uint32_t> newest_;
};

}  // namespace anyrdma::transport::soft
