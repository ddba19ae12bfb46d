// Records which id has which port of one host's RDMA port spaces. Ports of TCP and UDP sockets are
// independent of these ports (kernel: cma_pernet).
#pragma once

#include <rdma/rdma_cma.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "transport/soft/address.h"
#include "verbs/random.h"
#include "verbs/result.h"

namespace anyrdma::transport::soft {

/// An id's claim to a port. It is trivially copyable, so that a table shared by several processes
/// can contain claims.
struct Claim {
  rdma_port_space space = RDMA_PS_TCP;
  Address local{};        ///< local address with the port; wildcard and loopback mean "any"
  Address destination{};  ///< peer's address with the port; AF_UNSPEC: no address yet
  bool reuse = false;     ///< RDMA_OPTION_ID_REUSEADDR
  bool afonly = false;    ///< RDMA_OPTION_ID_AFONLY
};

/// Whether a check of a port honours RDMA_OPTION_ID_REUSEADDR (bind) or ignores it (listen).
enum class ReuseRule : std::uint8_t { kHonoured, kIgnored };

/// Returns the errno that keeps the claim `wanted` from using the port of the claim `owned`; 0:
/// both may use it. Both have the same port space and port (kernel: cma_check_port). The first true
/// condition decides:
///   both have REUSEADDR, and `rule` honours it     -> 0
///   both have AFONLY, and their families differ    -> 0
///   either address is a wildcard or loopback one   -> EADDRNOTAVAIL
///   the addresses are specific and different       -> 0
///   the addresses are specific and equal           -> EADDRINUSE
[[nodiscard]] int bind_conflict(const Claim& wanted, const Claim& owned, ReuseRule rule);

/// Whether the claim `owned` prevents that the claim `wanted` gets the same port as an ephemeral
/// port. It does not if both claims have specific values of one of these that differ: destination
/// port, source address, destination address (kernel: cma_port_is_unique).
[[nodiscard]] bool ephemeral_conflict(const Claim& wanted, const Claim& owned);

/// The number of a claim in its port table.
enum class ClaimId : std::uint64_t {};

/// The RDMA ports of one host. Call all functions inside the critical section
/// (verbs::Runtime::enter). The same-host transport shares its table between processes.
class PortTable {
 public:
  /// A port that an id has, until its claim is released.
  struct Claimed {
    ClaimId id{};
    std::uint16_t port = 0;  ///< in host byte order; the requested port, or an ephemeral one
  };
  virtual ~PortTable() = default;
  /// Claims wanted.local.port, or an ephemeral port if that is 0. EADDRNOTAVAIL, EADDRINUSE: see
  /// bind_conflict, or no ephemeral port is free. EACCES: the port is below 1024, and the process
  /// is not privileged.
  [[nodiscard]] virtual verbs::Result<Claimed> claim(const Claim& wanted) = 0;
  /// Call before the id of a claim listens. The claim must be unique even without REUSEADDR, and
  /// loses REUSEADDR. Errors: EADDRNOTAVAIL, EADDRINUSE; the claim is then unchanged.
  [[nodiscard]] virtual verbs::Result<void> listen(ClaimId id) = 0;
  /// Changes a claim, after its id has got addresses or changed an option. Never fails. Port space
  /// and port must be unchanged.
  virtual void update(ClaimId id, const Claim& claim) = 0;
  /// Releases a claim. The port is free at once; there is no TIME_WAIT.
  virtual void release(ClaimId id) = 0;
};

/// The system's settings for ports: net.ipv4.ip_local_port_range and CAP_NET_BIND_SERVICE.
struct PortTableConfig {
  std::uint16_t ephemeral_first = 32768;
  std::uint16_t ephemeral_last = 60999;  ///< inclusive
  bool privileged = true;                ///< whether ports below 1024 may be bound
};

/// A port table in the memory of this process.
class LocalPortTable final : public PortTable {
 public:
  /// Creates the table. `random` gives the start of each search for an ephemeral port, and must
  /// outlive the table.
  explicit LocalPortTable(verbs::Random& random, const PortTableConfig& config = {});

  [[nodiscard]] verbs::Result<Claimed> claim(const Claim& wanted) override;
  [[nodiscard]] verbs::Result<void> listen(ClaimId id) override;
  void update(ClaimId id, const Claim& claim) override;
  void release(ClaimId id) override;
  /// Returns the number of claims. Tests compare it with 0 to find leaks.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Slot {
    Claim claim;
    // The previous and the next claim of the same space and port, newest first. If two claims
    // conflict with a new one, the kernel reports the newer one (K/cma.c:cma_bind_port,
    // cma_check_port).
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
  /// The port that was assigned last, which the next search skips once.
  std::uint16_t last_ephemeral_ = 0;
  std::size_t size_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  boost::unordered_flat_map<Key, std::uint32_t> newest_;
};

}  // namespace anyrdma::transport::soft
