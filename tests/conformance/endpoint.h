// Queue pairs that a scenario connects by hand, without the connection manager: for what belongs to
// verbs alone, with every attribute in the scenario's hands. What is done is recorded as an Id's
// is.
//
//   SCENARIO(uc_messages, arrive) {
//     Link link(stage, {.type = IBV_QPT_UC});
//     link.passive.post_recv(64);
//     link.active.post({.length = 8});
//     link.active.take_send();
//     link.passive.take_recv();
//   }
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tests/conformance/owned.h"
#include "tests/conformance/party.h"

namespace anyrdma::conformance {

class Endpoint;

inline constexpr unsigned kRemoteAccess =
    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

inline constexpr std::uint32_t kQueueKey = 0x11111111;  ///< of all that exchange datagrams

struct EndpointOptions {
  ibv_qp_type type = IBV_QPT_RC;
  ibv_mtu mtu = IBV_MTU_1024;       ///< what every backend's network carries
  unsigned access = kRemoteAccess;  ///< what the queue pair lets its peer do
  /// And the memory.
  unsigned memory = kRemoteAccess | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
  std::uint8_t retry = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t reads = 2;          ///< that it starts and serves at a time
  std::uint32_t requests = 8;      ///< in each queue
  std::uint32_t completions = 16;  ///< room in each completion queue
  bool signal_all = true;
  bool shared_receives = false;  ///< out of a shared receive queue
  bool announced = false;        ///< its receives' completions, on a channel
  bool parent = false;           ///< its queue pair, made with a parent of its memory's domain
  std::uint64_t wr_calls = 0;    ///< IBV_QP_EX_WITH_...: with these ibv_wr_* functions
  std::uint64_t wc_fields = 0;   ///< IBV_WC_EX_WITH_...: receives complete on a queue with these
};

/// What opens memory, by the name that records use.
struct Key {
  std::uint32_t value = 0;
  std::string name{};
  bool zero_based = false;  ///< the memory's addresses count from 0

  [[nodiscard]] Key wrong() const { return {value + 1, "a wrong key"}; }
};

/// A memory window of an endpoint's.
struct Window {
  ibv_mw* mw = nullptr;
  Key key{};
};

/// A work request, without what an endpoint knows by itself.
struct Request {
  ibv_wr_opcode opcode = IBV_WR_SEND;
  std::uint32_t length = 0;
  std::size_t offset = 0;          ///< in one's own memory
  const Endpoint* from = nullptr;  ///< another one's memory, instead
  const Endpoint* peer = nullptr;  ///< whose memory, or shared receive queue
  std::size_t at = 0;              ///< where in the memory
  /// For the peer's memory, by default its region's; what to invalidate.
  std::optional<Key> key{};
  std::uint32_t immediate = 7;
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  unsigned flags = 0;
};

/// One end: a queue pair with memory and a queue for the completions of each kind. What it has it
/// destroys, unrecorded. Threads: the scenario's.
class Endpoint {
 public:
  static constexpr std::size_t kMemory = 8192;

  Endpoint(Party& party, const EndpointOptions& options);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- making: not recorded unless it fails
  // -------------------------------------------------------
  /// To RTS, with `peer` at the other end.
  void connect(const Endpoint& peer);
  [[nodiscard]] bool is_made() const { return ready_; }
  /// Records whether it could be made.
  void note_made();

  // --- work
  // ---------------------------------------------------------------------------------------
  void post_recv(std::uint32_t length = kMemory, std::size_t offset = 0);
  void post(const Request& request);
  /// The next completion of each queue.
  void take_send();
  void take_recv();
  /// Records that there is none, when all that was sent has had its time.
  void no_send();
  void no_recv();
  /// Notifications of receives, on an endpoint that is announced.
  void ask_notification(bool solicited_only);
  void take_notification();
  void no_notification();
  /// Announces receives together, by ibv_modify_cq: so many, or after so many microseconds.
  void moderate(std::uint16_t count, std::uint16_t period);
  /// Into another state, by hand, with nothing but that.
  void to_state(ibv_qp_state state);
  void fail() { to_state(IBV_QPS_ERR); }
  /// Waits for a state that it reaches by itself.
  void await_state(ibv_qp_state state);

  // --- memory
  // -------------------------------------------------------------------------------------
  [[nodiscard]] std::array<std::uint8_t, kMemory>& memory() { return *memory_; }
  void note_memory(std::size_t length, std::size_t offset = 0);
  [[nodiscard]] Key key() const;
  /// ibv_rereg_mr: the rights, or the place, or both, as `flags` says.
  void rereg(int flags, unsigned access, std::size_t offset = 0, std::size_t length = kMemory);
  /// ibv_dereg_mr.
  void deregister();
  Window& make_window(ibv_mw_type type);
  /// Binds it to a part of its memory: type 1 by ibv_bind_mw, type 2 by a request.
  void bind(Window& window, std::size_t offset, std::size_t length, unsigned access);
  void free_window(Window& window);

  // --- the rest
  // -----------------------------------------------------------------------------------
  void note_qp();
  /// Of its shared receive queue: IBV_EVENT_SRQ_LIMIT_REACHED when fewer are left.
  void set_limit(std::uint32_t limit);
  void note_limit();
  /// The next asynchronous event of its objects; that none comes.
  void take_async();
  void no_async();

  /// For what this class does not offer; null: it could not be made.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Calls& calls() const { return party_.calls(); }
  [[nodiscard]] ibv_context* context() const { return context_; }
  [[nodiscard]] ibv_pd* pd() const { return pd_.get(); }
  [[nodiscard]] ibv_qp* qp() const { return qp_.get(); }
  [[nodiscard]] ibv_qp_ex* qp_ex() const;
  [[nodiscard]] ibv_cq_ex* cq_ex() const { return cq_ex_; }
  [[nodiscard]] ibv_sge piece(std::uint32_t length, std::size_t offset) const;
  [[nodiscard]] ibv_mw_bind_info part(std::size_t offset, std::size_t length,
                                      unsigned access) const;
  [[nodiscard]] std::uint64_t take_number() { return ++posted_; }
  void note(const std::string& what);
  void note_call(const std::string& call, int error);

 private:
  /// False: it failed, and that was recorded.
  [[nodiscard]] bool done(std::string_view what, int error);
  template <class Object>
  [[nodiscard]] bool made(std::string_view what, const Object& object);
  [[nodiscard]] bool open();
  [[nodiscard]] bool make_domains();
  [[nodiscard]] bool make_queues();
  [[nodiscard]] bool make_cq_ex();
  [[nodiscard]] bool make_shared_receives();
  [[nodiscard]] bool make_extended_receives();
  [[nodiscard]] bool make_qp();
  [[nodiscard]] bool move(ibv_qp_state state, int mask, ibv_qp_attr attr);
  [[nodiscard]] bool find_way(const Endpoint& peer, ibv_ah_attr path);
  void take(ibv_cq* cq, std::string_view queue);
  void expect_none(ibv_cq* cq, std::string_view queue);
  [[nodiscard]] std::uint32_t srq_number() const;
  [[nodiscard]] ibv_send_wr work_request(const Request& request, ibv_sge& sge) const;
  void post(ibv_send_wr& request, const std::string& what);
  [[nodiscard]] bool wait_notification(Duration patience);
  /// The next of its own that has come, if any has.
  [[nodiscard]] std::string poll_async();
  void take_async(Duration patience);

  Party& party_;
  EndpointOptions options_;
  std::string name_;
  Owned<rdma_cm_id> id_;  // keeps the device open, and says its port
  ibv_context* context_ = nullptr;
  std::uint8_t port_ = 1;
  ibv_gid gid_{};
  std::uint8_t gid_index_ = 0;
  Owned<ibv_pd> pd_;
  Owned<ibv_pd> parent_;
  std::unique_ptr<std::array<std::uint8_t, kMemory>> memory_ =
      std::make_unique<std::array<std::uint8_t, kMemory>>();
  Owned<ibv_mr> region_;
  Owned<ibv_comp_channel> channel_;
  Owned<ibv_cq> send_cq_;
  Owned<ibv_cq> recv_cq_;
  ibv_cq_ex* cq_ex_ = nullptr;  // recv_cq_ by another name
  ibv_srq* srq_ = nullptr;
  ibv_xrcd* domain_ = nullptr;  // of XRC
  ibv_ah* ah_ = nullptr;        // of datagrams: to its peer
  std::uint32_t peer_number_ = 0;
  Owned<ibv_qp> qp_;
  std::deque<Window> windows_;
  std::uint64_t posted_ = 0;
  bool ready_ = false;
  bool failed_ = false;  ///< by what it took last
};

/// A connected pair, recorded in one line: the client's end and the server's.
struct Link {
  Link(Stage& stage, const EndpointOptions& active, const EndpointOptions& passive);
  Link(Stage& stage, const EndpointOptions& both = {}) : Link(stage, both, both) {}

  Endpoint passive;
  Endpoint active;
};

}  // namespace anyrdma::conformance
