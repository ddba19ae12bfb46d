// One side of a connection under test: queue pairs of three services to the same peer, and a socket
// besides, on which both sides agree.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tests/soak/memory.h"

namespace anyrdma::soak {

enum class Service : std::uint8_t { kReliable, kUnreliable, kDatagram };
enum class Role : std::uint8_t { kServer, kClient };

constexpr std::size_t kDepth = 16;  ///< requests and receives under way
constexpr std::uint32_t kInlineMax = 64;
constexpr std::uint32_t kQkey = 0x11223344;

class Link {
 public:
  /// Connects. `control` is a stream socket to the other side, and stays the caller's.
  Link(Role role, int control);
  /// Disconnects and destroys, which must all succeed.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Gives the other side a word and takes its: nobody is further than the other. kPeerGone.
  [[nodiscard]] std::uint64_t swap(std::uint64_t mine) const;
  void meet() const { (void)swap(0); }

  /// New memory of that size, registered, and the other side's told, at the same time there.
  void remap(std::size_t size);
  /// Registers the same memory anew.
  void reregister();
  /// Lets the other side reach us by a window over the whole region, until the next registration.
  void open_window(ibv_mw_type type);
  /// Queue pairs of the unreliable services in place of those that have lost something.
  void renew_unreliable();

  [[nodiscard]] Bytes memory() const { return pages_->bytes(); }
  [[nodiscard]] std::uint32_t lkey() const { return mr_->lkey; }
  struct Remote {
    std::uint64_t address;
    std::uint32_t rkey;
    std::uint32_t region_rkey;  ///< for others than the queue pair that a window is bound to
  };
  [[nodiscard]] const Remote& remote() const { return remote_; }
  [[nodiscard]] ibv_qp* qp(Service service) const;
  [[nodiscard]] ibv_pd* pd() const { return pd_; }
  /// Where datagrams go.
  [[nodiscard]] ibv_ah* ah() const { return ah_; }
  [[nodiscard]] std::uint32_t datagram_peer() const { return datagram_peer_; }
  [[nodiscard]] std::size_t mtu() const;

  /// The next completion, if one comes within so many milliseconds.
  [[nodiscard]] bool poll(ibv_wc& completion, int milliseconds) const;

 private:
  void serve();
  void call();
  void make_reliable();
  void make_unreliable(Service service, ibv_qp*& qp);
  void destroy_unreliable();
  void learn_remote(std::uint32_t rkey);

  Role role_;
  int control_;
  rdma_cm_id* listener_ = nullptr;
  rdma_cm_id* id_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_qp* unreliable_ = nullptr;
  ibv_qp* datagram_ = nullptr;
  ibv_ah* ah_ = nullptr;
  std::uint32_t datagram_peer_ = 0;
  ibv_qp_attr path_{};  ///< of the reliable connection
  std::unique_ptr<Pages> pages_;
  ibv_mr* mr_ = nullptr;
  ibv_mw* window_ = nullptr;
  Remote remote_{};
};

}  // namespace anyrdma::soak
