// One side of a scenario: an application of librdmacm, whose every call is recorded.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/backend.h"
#include "tests/conformance/event.h"
#include "tests/conformance/owned.h"
#include "tests/conformance/place.h"
#include "tests/conformance/record.h"

namespace anyrdma::conformance {

using namespace std::chrono_literals;

class Id;
class Party;
class Stage;

/// What connect and accept are given.
struct Param {
  std::string data{};  ///< at most 255 bytes; see bytes()
  int resources = 0;   ///< responder_resources
  int depth = 0;       ///< initiator_depth
  int flow = 0;
  int retry = 7;
  int rnr = 7;
  int srq = 0;
  /// The QPN of another id, whose QP or whose own number it is: for stale connections. Null: the
  /// id's own.
  const Id* as = nullptr;
};
inline constexpr std::nullopt_t kNoParam = std::nullopt;  ///< a null pointer

/// Private data of a length that matters: "xxx".
[[nodiscard]] inline std::string bytes(std::size_t length, char fill = 'x') {
  return std::string(length, fill);
}

struct QpOptions {
  std::uint32_t max_send_wr = 4;
  std::uint32_t max_recv_wr = 4;
  std::uint32_t max_inline_data = 0;
  bool signal_all = true;
  std::optional<ibv_qp_type> type{};  ///< default: the id's
  /// What may be done with the id's memory: all.
  unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                    IBV_ACCESS_REMOTE_ATOMIC;
};

/// How long an event or completion may take, from the last recorded line on. Without bounds its
/// time does not matter, and it is given up after a time that is generous for a real machine.
struct Within {
  Duration at_least{};
  Duration at_most{};  ///< 0: no bounds
  int channel = 0;     ///< of the party; see Id::migrate
};

/// An event that was fetched and not yet acknowledged; see Party::hold.
class Held {
 public:
  Held(Party& party, Event event, std::string name)
      : party_(&party), event_(std::move(event)), name_(std::move(name)) {}
  void ack();

 private:
  Party* party_;
  Event event_;
  std::string name_;
};

/// Where a peer's memory is, for RDMA. Offsets count from its start.
struct Target {
  const Id* id;
  std::size_t offset = 0;
  std::uint32_t rkey_change = 0;  ///< added to the key: a wrong one
};

/// One rdma_cm_id, by a name that the record uses: c1, c2 ... of the client, s1 ... of the server.
/// All calls are recorded with their results; on an id that could not be made they record "no id".
class Id {
 public:
  /// Takes `id`, which may be null: no id.
  Id(Party& party, std::string name, rdma_cm_id* id);
  ~Id();
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// For what this class does not offer; null: no id.
  [[nodiscard]] rdma_cm_id* get() const { return id_; }
  /// A call that this class does not offer: `body` is given the functions and the id.
  template <class Body>
  void call(const std::string& text, Body&& body) {
    perform(text, [&](const Calls::Cm& cm) { return body(cm, id_); });
  }
  /// A line about this id.
  void note(const std::string& what);

  // --- addresses --------------------------------------------------------------------------------
  void bind(Place local);
  void resolve_addr(Place to, Duration timeout = 2s, std::optional<Place> source = {});
  void resolve_route(Duration timeout = 2s);
  void listen(int backlog = 8);
  /// Records both addresses.
  void note_addresses();

  // --- connections ------------------------------------------------------------------------------
  void connect(const std::optional<Param>& param = Param{});
  void accept(const std::optional<Param>& param = Param{});
  void reject(const std::string& data = {});
  void reject_ece(const std::string& data = {});
  void disconnect();
  void establish();
  void notify(ibv_event_type event = IBV_EVENT_COMM_EST);
  /// Its queue pair first. Only the id's destruction is recorded.
  void destroy();

  // --- the rest ---------------------------------------------------------------------------------
  void join(Place group);
  void join_to_send(Place group);
  void leave(Place group);
  /// RDMA_OPTION_ID: `value` as a byte or an int, as the option wants it (or `size` says).
  void set_option(int option, int value, std::size_t size = 0);
  void set_option_of(int level, int option, std::size_t size);
  void set_local_ece(std::uint32_t vendor, std::uint32_t options);
  void note_remote_ece();
  /// To another channel of its party: 1, 2 ...; 0 is the first.
  void migrate(int channel);
  void make_synchronous();
  /// Blocks: in both() only.
  Id& get_request();
  /// rdma_init_qp_attr; the attributes that are the same everywhere are recorded.
  void init_qp_attr(ibv_qp_state state);

  /// Records the path that it has: how many, its MTU, rate, and whether it is preferred.
  void note_path();

  // --- its queue pair ---------------------------------------------------------------------------
  void make_qp(const QpOptions& options = {});
  void destroy_qp();
  void make_srq();
  /// Records the state of the queue pair.
  void note_qp();
  /// Records the depths of the queue pair: max_rd_atomic and max_dest_rd_atomic.
  void note_depths();
  /// And its retry_cnt and rnr_retry, and its timeout.
  void note_retries();
  void note_timeout();

  /// Memory of 4096 bytes, registered with its first queue pair.
  static constexpr std::size_t kMemory = 4096;
  [[nodiscard]] std::array<std::uint8_t, kMemory>& memory() { return *memory_; }
  void post_recv(std::uint32_t length = kMemory, std::size_t offset = 0);
  void post_send(std::uint32_t length, std::size_t offset = 0, unsigned flags = 0);
  void post_send_imm(std::uint32_t length, std::uint32_t immediate);
  /// To the peer or group that its last ESTABLISHED or MULTICAST_JOIN named.
  void post_datagram(std::uint32_t length);
  /// IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ.
  void post_rdma(ibv_wr_opcode opcode, const Target& target, std::uint32_t length,
                 std::size_t offset = 0);
  /// IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD; the old value goes to `offset`.
  void post_atomic(ibv_wr_opcode opcode, const Target& target, std::uint64_t compare_add,
                   std::uint64_t swap = 0, std::size_t offset = 0);
  /// Anything else, recorded as `what`.
  void post(ibv_send_wr request, const std::string& what);
  /// The next completion of each queue: status, and if that is success the opcode and length.
  void take_send(const Within& within = {});
  void take_recv(const Within& within = {});
  /// Records some of its memory.
  void note_memory(std::size_t length, std::size_t offset = 0);

 private:
  friend class Party;
  void note_call(const std::string& call, const std::string& result);
  /// With the event that a synchronous call left behind.
  void note_blocking(const std::string& call, const std::string& result);
  /// "ok", "EINVAL": what `body` answers, which is given the functions.
  template <class Body>
  [[nodiscard]] std::string answer(Body&& body) {
    const Calls& calls = this->calls();
    *calls.errno_location() = 0;
    return error_text(calls.error_of(body(calls.cm)));
  }
  template <class Call>
  void perform(const std::string& call, Call&& body) {
    note_call(call, id_ == nullptr ? "no id" : answer(body));
  }
  /// For calls that wait on a synchronous id.
  template <class Call>
  void perform_blocking(const std::string& call, Call&& body) {
    note_blocking(call, id_ == nullptr ? "no id" : answer(body));
  }
  [[nodiscard]] const Calls& calls() const;
  void learn(const rdma_cm_event& event);
  void join(Place group, unsigned flags, const char* how);
  /// Without a record, and with all that hangs on it; not the id itself.
  void destroy_objects();
  void clear();
  [[nodiscard]] rdma_conn_param raw(const Param& param) const;
  [[nodiscard]] std::uint32_t qp_num() const;
  [[nodiscard]] std::uint32_t rkey() const { return region_ ? region_.get()->rkey : 0; }
  [[nodiscard]] ibv_sge piece(std::uint32_t length, std::size_t offset) const;
  void take(ibv_cq* cq, std::string_view queue, const Within& within);
  /// Records what it says of its queue pair.
  void note_attr(int mask, const std::function<std::string(const ibv_qp_attr&)>& text);

  Party& party_;
  std::string name_;
  rdma_cm_id* id_;
  std::unique_ptr<std::array<std::uint8_t, kMemory>> memory_ =
      std::make_unique<std::array<std::uint8_t, kMemory>>();
  Owned<ibv_mr> region_;
  rdma_ud_param ud_{};  ///< of the last event that named a peer
  ibv_ah* ah_ = nullptr;
  std::vector<Place> groups_;  // joined, perhaps left: a QP attached to one cannot be destroyed
  std::uint64_t posted_ = 0;
  std::uint32_t number_ = 0;  ///< what it says its QPN is while it has no QP
  std::uint32_t had_ = 0;     ///< the number of the last QP it had
  bool failed_ = false;       ///< by what it took last
};

/// An application of one side: event channels and the ids on them. What is left at the end it
/// destroys, unrecorded.
class Party {
 public:
  Party(Stage& stage, Side side);
  ~Party();
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;

  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] Stage& stage() const { return stage_; }
  /// Whatever is called next on this thread is this party's.
  [[nodiscard]] const Calls& calls() const;
  [[nodiscard]] rdma_event_channel* channel(int number = 0);
  void note(const std::string& line);

  // --- ids --------------------------------------------------------------------------------------
  Id& create(rdma_port_space space = RDMA_PS_TCP);
  Id& create_synchronous(rdma_port_space space = RDMA_PS_TCP);
  /// An id whose address and route are resolved, from the party's own address (where both parties
  /// are on one host, the kernel would else take the peer's); recorded in one line.
  Id& routed(Place to = kServer, rdma_port_space space = RDMA_PS_TCP);
  /// As routed, with a queue pair, and connecting.
  Id& connecting(Place to = kServer, const Param& param = {}, rdma_port_space space = RDMA_PS_TCP);
  /// By rdma_getaddrinfo and rdma_create_ep, without a queue pair: synchronous, and resolved, or
  /// bound if it is to listen. Blocks: in both() only.
  Id& create_endpoint(Place place, rdma_port_space space, ibv_qp_type type, bool listens);
  /// Bound and listening, likewise.
  Id& listening(Place on = kServer, int backlog = 8, rdma_port_space space = RDMA_PS_TCP);
  /// The process ends: all its ids and channels with it. Nothing more can be done here.
  void die();

  // --- events -----------------------------------------------------------------------------------
  /// Waits for the next event, records and acknowledges it.
  void take(const Within& within = {});
  /// The next event of one id; those of others stay for later.
  void take(const Id& id, const Within& within = {});
  /// The new id of the next event, which should be a CONNECT_REQUEST.
  Id& take_request(const Within& within = {});
  /// As take, but not acknowledged.
  [[nodiscard]] Held hold(const Within& within = {});
  /// Waits until an event waits to be taken, and leaves it there. Unrecorded.
  void await();
  /// Records that no event comes for so long, or the one that does.
  void quiet(Duration time, int channel = 0);

  /// A name for what belongs to this party: "c1", "s2" ...
  [[nodiscard]] std::string take_name();
  /// "c1": the id that a queue pair number belongs to, or did last; empty: none here.
  [[nodiscard]] std::string owner_of(std::uint32_t qpn) const;

 private:
  friend class Id;
  friend class Held;
  struct Fetched {
    Event event;
    Id* id = nullptr;
    Id* request = nullptr;  ///< the new id of a CONNECT_REQUEST
  };

  Id& add(rdma_cm_id* id);
  /// Null: it could not be made; `error` says why.
  [[nodiscard]] rdma_cm_id* make(rdma_event_channel* channel, rdma_port_space space, int& error);
  [[nodiscard]] Id* find(const rdma_cm_id* id);
  /// Acknowledges events of an id that nobody has asked for.
  void forget(const Id& id);
  /// The next event that concerns `only` (null: any), or none in time.
  [[nodiscard]] std::optional<Fetched> fetch(int channel, const Id* only, Duration patience);
  [[nodiscard]] std::optional<Fetched> next(const Id* only, const Within& within);
  [[nodiscard]] std::string describe(const Fetched& fetched);
  [[nodiscard]] bool step(Id& id, rdma_cm_event_type expected, std::string& failure);

  Stage& stage_;
  Side side_;
  std::vector<rdma_event_channel*> channels_;
  std::map<int, std::deque<Fetched>> early_;  ///< by channel: fetched, and not asked for yet
  std::list<Id> ids_;
  int count_ = 0;
};

}  // namespace anyrdma::conformance
