// A queue pair: the C struct the application holds, its attributes, and what serves it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "verbs/result.h"
#include "verbs/soft/address_handle.h"
#include "verbs/soft/completion_queue.h"
#include "verbs/soft/context.h"
#include "verbs/soft/core.h"
#include "verbs/soft/datagram.h"
#include "verbs/soft/delayed_effects.h"
#include "verbs/soft/extended_layout.h"
#include "verbs/soft/qp_ex.h"
#include "verbs/soft/receive_queue.h"
#include "verbs/soft/requester.h"
#include "verbs/soft/responder.h"
#include "verbs/soft/shared_receive_queue.h"
#include "verbs/soft/wire/headers.h"
#include "verbs/soft/xrc_domain.h"

namespace anyrdma::verbs::soft {

/// The application's ibv_td. It has no effect: every call is safe from any thread.
struct SoftTd : ibv_td, LiveHook {
  unsigned users = 0;  ///< parent domains
};

/// The application's ibv_pd.
struct SoftPd : ibv_pd, LiveHook {
  static constexpr ObjectKind kKind = ObjectKind::kProtectionDomain;
  Registration registration;
  unsigned users = 0;  ///< memory regions, QPs, address handles and shared receive queues
  /// Of a parent domain: what protects the objects made with it, which belong there. Else null.
  SoftPd* protection = nullptr;
  SoftTd* thread_domain = nullptr;
};

/// The owner of a queue pair: a protection domain or, receiving on extended connections, an
/// extended connection domain.
struct QpOwner {
  ibv_context* context;
  SoftPd* pd;
  SoftXrcd* xrcd;
};

/// The attributes as an application gives them, with structs that are not looked up yet.
struct GivenQpOwner {
  ibv_context* context;
  ibv_pd* pd;
  ibv_xrcd* xrcd;
};

/// The domain that an object made with `pd` belongs to. Precondition: it was looked up.
[[nodiscard]] inline SoftPd& protecting(ibv_pd* pd) {
  auto& soft = *static_cast<SoftPd*>(pd);
  return soft.protection != nullptr ? *soft.protection : soft;
}

/// Destroyed QPs are kept and used again with their buffers: creation is on the path of every
/// connection. Used inside the critical section.
struct SoftQp : ExtensibleQp {
  static constexpr ObjectKind kKind = ObjectKind::kQueuePair;

  explicit SoftQp(Core& core);
  ~SoftQp();
  SoftQp(const SoftQp&) = delete;
  SoftQp& operator=(const SoftQp&) = delete;

  /// A fresh QP in RESET. The caller has checked `init`.
  void open(const QpOwner& owner, const ibv_qp_init_attr& init, std::uint32_t number);
  /// Ends it: completions and unread events go.
  void close();

  /// Becomes another name of a QP that receives on extended connections (ibv_open_qp). A name has
  /// its own asynchronous events and destruction; all else is up to the QP.
  void refer_to(SoftQp& qp, SoftXrcd& domain, void* user);
  /// Ends that. It stays a name, of nothing.
  void let_go();

  /// ibv_modify_qp for attributes that were checked against the tables and `path` already made.
  void apply(const ibv_qp_attr& attr, int mask);
  /// Errno as ibv_post_send returns it, 0 for success.
  [[nodiscard]] int post_send(const ibv_send_wr& request);
  [[nodiscard]] int post_receive(const ibv_recv_wr& request);
  /// The errno with which posting this list would fail; 0: none.
  [[nodiscard]] int check_sends(const ibv_send_wr& first) const;
  /// The send posted last ends with this error in its turn. Precondition: the state is RTS.
  void spoil_send(ibv_wc_status status);
  /// To SQE, flushing the send queue: a request of an unreliable service could not be sent (IBTA
  /// vol 1, 10.3.1.6).
  void enter_send_error();
  /// Moves the queue pair to ERR and flushes both queues. Answers that are due, such as the NAK
  /// with the reason, are still sent.
  void enter_error();

  void on_request(const roce::Envelope& packet, const roce::OpcodeRow& row,
                  std::span<const std::uint8_t> datagram);
  void on_response(const roce::Envelope& packet, const roce::OpcodeRow& row,
                   std::span<const std::uint8_t> datagram, Instant now);
  [[nodiscard]] PacketPtr next_packet();
  /// Tells NearMemory, if there is one, what its peer may do, whenever that changes (near_path.cc).
  void publish();
  void unpublish();
  /// Call when a delayed operation has taken effect: continues the operations that waited for it.
  void go_on();
  /// The source of the next request is read now.
  void fetch_now();
  /// Puts itself on the ready list if there is something to send.
  void schedule();
  /// Whether the oldest packet must wait: it is never repeated, and its destination has no space
  /// for it. Then the QP is on the list of those that wait for space.
  [[nodiscard]] bool hold();

  /// A packet with this QP's path and a BTH for the peer.
  [[nodiscard]] PacketPtr make_packet(std::uint8_t opcode, wire::Psn psn, std::size_t payload,
                                      bool ack_request, bool solicited);
  /// A packet with any path and BTH; sets the padding. Its extended headers and its payload are
  /// yet to be written. Inline, so that what a caller leaves at its default costs nothing: a third
  /// of a packet's time otherwise goes into writing its BTH.
  [[nodiscard]] PacketPtr make_packet(const PacketPath& to, roce::Bth bth, std::size_t payload) {
    PacketPtr packet = core.pool.take();
    to.address(*packet);
    const std::size_t pad = (0 - payload) & 3;
    const std::size_t header = roce::kHeaderBytes[bth.opcode];
    bth.pad = static_cast<std::uint8_t>(pad);
    bth.serialize(std::span(packet->storage).first<roce::Bth::kBytes>());
    packet->size = static_cast<std::uint16_t>(header + payload + pad + roce::kIcrcBytes);
    // Padding and the place of the ICRC are defined even if the ICRC is not computed. One store
    // covers the longest; there is enough space.
    std::memset(packet->storage.data() + header + payload, 0, 3 + roce::kIcrcBytes + 1);
    return packet;
  }

  [[nodiscard]] SoftCq& send_completions() const { return *static_cast<SoftCq*>(send_cq); }
  [[nodiscard]] SoftCq& receive_completions() const { return *static_cast<SoftCq*>(recv_cq); }
  void raise(ibv_event_type type);
  [[nodiscard]] std::uint32_t mtu() const { return mtu_bytes; }
  /// The opcode of this QP's service for a reliable connection's opcode.
  [[nodiscard]] std::uint8_t opcode(std::uint8_t reliable) const {
    return static_cast<std::uint8_t>(reliable | static_cast<unsigned>(service) << 5);
  }
  /// Whether its requests are acknowledged.
  [[nodiscard]] bool acknowledged() const { return service != roce::Service::kUc; }

  Core& core;
  Registration registration;
  roce::Service service = roce::Service::kRc;  ///< that of qp_type
  /// Of a UD QP; it leaves the requester and the responder idle.
  std::unique_ptr<DatagramService> datagrams;
  std::unique_ptr<SendBuilder> builder;     ///< of a QP with the ibv_wr_* functions
  std::unique_ptr<DelayedEffects> effects;  ///< null: memory is strict
  ibv_qp_attr attr{};                       ///< as last set; qp_state lives in ibv_qp::state
  ibv_qp_cap cap{};
  PacketPath path{};
  std::uint32_t ece_options = 0;
  std::uint64_t made = 0;    ///< the n-th on its host
  std::uint32_t groups = 0;  ///< multicast groups it is attached to
  std::uint32_t mtu_bytes = 1024;
  SoftXrcd* xrcd = nullptr;    ///< of a QP that receives on extended connections
  std::vector<SoftQp*> names;  ///< its other names
  SoftQp* named = nullptr;     ///< what this is a name of
  bool is_name = false;        ///< another name of a queue pair, which may have been destroyed
  bool abandoned = false;      ///< destroyed by its creator; other processes have names of it
  bool signal_all = false;
  bool open_now = false;
  bool established = false;  ///< IBV_EVENT_COMM_EST was raised, or is not due any more
  std::uint32_t async_taken = 0;
  std::uint32_t async_acknowledged = 0;
  Runtime::Mark taker;             ///< who took the last of these events
  Semaphore* destroyer = nullptr;  ///< posted on acknowledgement while destruction waits

  // The links of a list of those that have something to send.
  SoftQp* ready_previous = nullptr;
  SoftQp* ready_next = nullptr;
  ReadyList* list = nullptr;  ///< that it is in

  ReceiveQueue receives;
  Requester requester;
  Responder responder;

 private:
  void reset();
  void start_sending();
  /// No send that was started is unfinished; a datagram is finished as soon as it is started.
  [[nodiscard]] bool drained() const {
    return datagrams || (requester.drained() && (effects == nullptr || !effects->returning()));
  }
  [[nodiscard]] bool wants_to_send();
  void announce_drained();
  void use_others(int change);
};

}  // namespace anyrdma::verbs::soft
