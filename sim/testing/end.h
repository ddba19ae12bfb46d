// One end of a connection between simulated hosts, made of verbs alone: every service, without a
// connection manager. Calls are checked by GoogleTest's assertions.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/host.h"
#include "verbs/soft/hca.h"

namespace anyrdma::sim::testing {

using Statuses = std::vector<ibv_wc_status>;

/// A program's device, memory and one queue pair. All ends with it.
class End {
 public:
  static constexpr std::size_t kMessageWords = 128;

  explicit End(Host& host);
  ~End();
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  [[nodiscard]] verbs::soft::Hca& hca() const { return host_.hca(); }
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uintptr_t>(words.data());
  }

  void make_qp(ibv_qp_type type, ibv_srq* srq = nullptr);
  ibv_srq* make_srq();
  /// An extended connection's receiving half and a shared receive queue, whose number it returns.
  std::uint32_t make_receiver();
  /// To RTS; both ends call it.
  void connect(const End& peer);
  void modify(ibv_qp_state state, int mask, ibv_qp_attr attr);

  /// Into the id-th part of its memory.
  void post_receive(std::uint64_t id);
  /// From the beginning of its memory. `change`: whatever the operation wants besides.
  using Change = std::function<void(ibv_send_wr&)>;
  void post(
      ibv_wr_opcode opcode, std::uint64_t id, std::uint32_t length,
      const Change& change = [](ibv_send_wr&) {});
  /// A word at the beginning of the peer's memory.
  void access(ibv_wr_opcode opcode, const End& peer, std::uint32_t key);
  void add(const End& peer, std::uint64_t amount);
  void swap(const End& peer, std::uint64_t expected, std::uint64_t wanted);
  /// To the beginning of its own memory, for writing.
  void bind(ibv_mw* window, std::uint32_t key);

  std::vector<ibv_wc> poll();
  Statuses statuses();
  std::vector<std::uint64_t> ids();
  ibv_event_type next_event();

 private:
  Host& host_;

 public:
  std::array<std::uint64_t, 8 * kMessageWords> words{};
  ibv_context* context;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_mr* mr = nullptr;
  ibv_qp* qp = nullptr;
  ibv_srq* queue = nullptr;  ///< of an extended connection
};

}  // namespace anyrdma::sim::testing
