// Two software HCAs and a wire that the test holds in its hands.
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "verbs/soft/hca.h"
#include "verbs/soft/testing/fake_runtime.h"
#include "verbs/soft/wire/headers.h"

namespace anyrdma::verbs::soft::testing {

[[nodiscard]] ibv_gid ipv4_gid(std::uint8_t last);

/// What a test wants of a connection; the defaults are a patient one with small packets.
struct ConnectionOptions {
  ibv_mtu mtu = IBV_MTU_256;
  std::uint8_t timeout = 14;  ///< 67.1 ms
  std::uint8_t retry_cnt = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 12;  ///< 0.64 ms
  std::uint8_t max_rd_atomic = 4;
  std::uint8_t max_dest_rd_atomic = 4;
  unsigned access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  int sq_sig_all = 0;
  ibv_qp_type type = IBV_QPT_RC;
  ibv_srq* srq = nullptr;
  ibv_qp_cap cap{.max_send_wr = 64,
                 .max_recv_wr = 64,
                 .max_send_sge = 4,
                 .max_recv_sge = 4,
                 .max_inline_data = 128};
};

/// One end: a device with one of each object and a buffer registered for everything.
class Side {
 public:
  Side(FakeRuntime& runtime, FakeRandom& random, PacketPool& pool, std::uint8_t address,
       std::uint32_t first_qpn, HcaConfig config = {});
  ~Side();

  void create_qp(const ConnectionOptions& options);
  [[nodiscard]] int modify(ibv_qp_state state, int mask, const ibv_qp_attr& attr);
  void to_init(const ConnectionOptions& options);
  void to_rtr(const ConnectionOptions& options, const Side& peer);
  void to_rts(const ConnectionOptions& options);

  /// Posts; the result is ibv_post_send's.
  int post_recv(std::uint64_t id, std::size_t offset, std::uint32_t length);
  int post_send(ibv_wr_opcode opcode, std::uint64_t id, std::size_t offset, std::uint32_t length,
                const Side* peer = nullptr, std::size_t remote_offset = 0,
                unsigned flags = IBV_SEND_SIGNALED);
  int post(ibv_send_wr request);
  [[nodiscard]] ibv_sge piece(std::size_t offset, std::uint32_t length) const;
  /// All completions there are.
  [[nodiscard]] std::vector<ibv_wc> poll();
  void fill(std::size_t offset, std::size_t length, std::uint8_t seed);
  [[nodiscard]] bool filled(std::size_t offset, std::size_t length, std::uint8_t seed) const;
  /// Asynchronous events there are, acknowledged.
  [[nodiscard]] std::vector<ibv_event_type> events();

  std::unique_ptr<Hca> hca;
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
  std::vector<std::uint8_t> memory;
  ibv_gid gid{};
  std::uint32_t first_psn = 0;
};

/// a and b, connected on request. Packets move when the test says so.
class Pair : public ::testing::Test {
 protected:
  static constexpr std::size_t kMemory = std::size_t{256} * 1024;

  /// What the wire does with a packet: deliver it this many times; 0 loses it; -n lets the next n
  /// packets overtake it.
  using Wire = std::function<int(const Packet&)>;

  /// `config`: the properties of both devices.
  explicit Pair(const HcaConfig& config = {});
  void connect(const ConnectionOptions& options = {});

  /// Carries packets until none is left; time stands still.
  void carry();
  /// Carries one packet if there is one.
  bool carry_one();
  /// Lets time pass to the next timer and fires it; false when there is none.
  bool next_timer();
  /// Carries packets and fires timers until nothing is left to do.
  void settle(int steps = 100'000);

  /// How a write or read of a by this key ends.
  ibv_wc_status use(std::uint32_t key, std::uint64_t address, std::uint32_t length,
                    ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE);

  [[nodiscard]] static const roce::OpcodeRow& row_of(const Packet& packet) {
    return roce::kOpcodes[packet.storage[0]];
  }

  FakeRuntime runtime;
  FakeRandom random;
  PacketPool pool;
  Side a;
  Side b;
  Wire wire;  ///< empty: a perfect one
  std::uint64_t carried = 0;

 private:
  struct Held {
    int overtakers = 0;
    PacketPtr packet;
  };
  void collect();
  void launch(PacketPtr packet);
  void release_held(bool all);
  std::deque<PacketPtr> in_flight_;
  std::vector<Held> held_;
};

}  // namespace anyrdma::verbs::soft::testing
