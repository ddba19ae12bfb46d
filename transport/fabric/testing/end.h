// One end of a reliable connection between members, made with verbs alone.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <span>

#include "transport/fabric/fabric.h"
#include "verbs/soft/hca.h"

namespace anyrdma::transport::fabric::testing {

/// What a peer has to know; plain data, for memory that processes share.
struct EndAddress {
  ibv_gid gid{};
  std::uint32_t qp_num = 0;
  std::uint32_t rkey = 0;
  std::uint64_t memory = 0;
};

struct EndOptions {
  unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                    IBV_ACCESS_REMOTE_ATOMIC;  ///< of the region and the queue pair
  std::size_t offset = 0;                      ///< of the region in its first page
  ibv_qp_state state = IBV_QPS_RTS;
  ibv_qp_type type = IBV_QPT_RC;  ///< or UC
};

/// A member with pages of its own, registered, and a queue pair.
class End {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 20;

  explicit End(const FabricConfig& config, const EndOptions& options = {});
  ~End();
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  [[nodiscard]] EndAddress address() const;
  void connect(const EndAddress& peer);
  /// To ERR, RESET or whatever needs no attributes.
  void modify(ibv_qp_state state);
  void deregister();
  /// Takes the memory away, registered or not.
  void unmap();

  /// Errno of ibv_post_send. The gather list: `length` bytes from `offset` of the memory on.
  int post(ibv_wr_opcode opcode, std::size_t offset, std::uint32_t length,
           std::uint64_t remote_offset, unsigned flags = 0);
  int post(ibv_send_wr& request);
  void post_receive(std::size_t offset, std::uint32_t length);
  /// The next completion's status, polling; -1 if none comes within two minutes.
  [[nodiscard]] int next_completion();
  /// Posts, and gives the completion's status.
  int run(ibv_wr_opcode opcode, std::size_t offset, std::uint32_t length,
          std::uint64_t remote_offset, unsigned flags = 0);
  /// Writes nothing, or the first byte, until that is done without packets. False: it never is.
  [[nodiscard]] bool come_near();
  [[nodiscard]] std::uint64_t near_operations() const { return hca().counters().near_operations; }
  [[nodiscard]] std::uint64_t packets() const { return hca().counters().packets_out; }

  [[nodiscard]] verbs::soft::Hca& hca() const;
  [[nodiscard]] std::uint8_t* memory() const { return memory_; }
  [[nodiscard]] station::Station& station() { return *station_; }

  EndAddress peer{};
  ibv_pd* pd = nullptr;
  ibv_mr* mr = nullptr;
  ibv_qp* qp = nullptr;
  ibv_cq* cq = nullptr;

 private:
  std::unique_ptr<station::Station> station_;
  verbs::Provider* provider_ = nullptr;
  ibv_context* context_ = nullptr;
  EndOptions options_;
  std::uint8_t* memory_ = nullptr;
  bool mapped_ = true;
};

}  // namespace anyrdma::transport::fabric::testing
