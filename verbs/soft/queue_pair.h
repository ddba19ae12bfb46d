// A queue pair of the software HCA: the C struct that the application sees, its attributes, and the
// objects that send and receive for the queue pair.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "verbs/result.h"
#include "verbs/soft/address_handle.h"
#include "verbs/soft/completion_counter.h"
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

/// The object behind the application's ibv_td. A thread domain has no effect in the software HCA,
/// because every call is safe from any thread.
struct SoftTd : ibv_td, LiveHook {
  unsigned users = 0;  ///< parent domains that use it
};

/// The object behind the application's ibv_pd.
struct SoftPd : ibv_pd, LiveHook {
  static constexpr ObjectKind kKind = ObjectKind::kProtectionDomain;
  Registration registration;
  unsigned users = 0;  ///< memory regions, QPs, address handles and shared receive queues

  /// For a parent domain: the protection domain that objects made with it belong to. Null: this is
  /// no parent domain.
  SoftPd* protection = nullptr;
  SoftTd* thread_domain = nullptr;
};

/// The owner of a queue pair: a protection domain or, for a receiving QP of extended connections
/// (XRC), an XRC domain.
struct QpOwner {
  ibv_context* context;
  SoftPd* pd;
  SoftXrcd* xrcd;
};

/// The owner of a queue pair as the application has passed it. The handles have not been looked up
/// yet.
struct GivenQpOwner {
  ibv_context* context;
  ibv_pd* pd;
  ibv_xrcd* xrcd;
};

/// Returns the protection domain of objects that are made with `pd`: for a parent domain, the
/// domain that it refers to. Precondition: the handle of `pd` was looked up.
[[nodiscard]] inline SoftPd& protecting(ibv_pd* pd) {
  auto& soft = *static_cast<SoftPd*>(pd);
  return soft.protection != nullptr ? *soft.protection : soft;
}

/// A queue pair. When a queue pair is destroyed, the next new one reuses it with its buffers, since
/// each new connection creates one. Used inside the runtime's critical section.
struct SoftQp : ExtensibleQp {
  static constexpr ObjectKind kKind = ObjectKind::kQueuePair;

  explicit SoftQp(Core& core);
  ~SoftQp();
  SoftQp(const SoftQp&) = delete;
  SoftQp& operator=(const SoftQp&) = delete;

  /// Makes a new QP in RESET. The caller has checked `init`.
  void open(const QpOwner& owner, const ibv_qp_init_attr& init, std::uint32_t number);
  /// Destroys the QP. Its unpolled completions and unread events are removed.
  void close();

  /// Makes this object another name of `qp`, a QP that receives on extended connections
  /// (ibv_open_qp). The name has its own asynchronous events, and is destroyed separately. All else
  /// happens to `qp` itself.
  void refer_to(SoftQp& qp, SoftXrcd& domain, void* user);
  /// Makes this name refer to no QP any more.
  void let_go();

  /// Carries out ibv_modify_qp. The caller has checked the attributes, and has set `path`.
  void apply(const ibv_qp_attr& attr, int mask);
  /// Posts a send. Returns the errno of ibv_post_send, 0 for success.
  [[nodiscard]] int post_send(const ibv_send_wr& request);
  [[nodiscard]] int post_receive(const ibv_recv_wr& request);
  /// Checks a list of sends as post_send() does. Returns the errno with which posting the list
  /// would fail; 0: none.
  [[nodiscard]] int check_sends(const ibv_send_wr& first) const;
  /// Makes the send that was posted last complete with the error `status`, after the sends before
  /// it. Precondition: the state is RTS.
  void spoil_send(ibv_wc_status status);
  /// Moves the QP to SQE and flushes the send queue. Called when a request of an unreliable service
  /// could not be sent (IBTA vol 1, 10.3.1.6).
  void enter_send_error();
  /// Moves the queue pair to ERR and flushes both queues. Responses that wait to be sent, such as a
  /// NAK with the reason, are still sent. `cause`: the status of the request that has failed, for
  /// HcaConfig::flush_with_cause.
  void enter_error(ibv_wc_status cause = IBV_WC_WR_FLUSH_ERR);

  void on_request(const roce::Envelope& packet, const roce::OpcodeRow& row,
                  std::span<const std::uint8_t> datagram);
  void on_response(const roce::Envelope& packet, const roce::OpcodeRow& row,
                   std::span<const std::uint8_t> datagram, Instant now);
  [[nodiscard]] PacketPtr next_packet();
  /// Publishes in NearMemory (RDMA without packets), if it is used, which access the peer has. Call
  /// this function whenever that access changes (near_path.cc).
  void publish();
  void unpublish();
  /// Continues the operations that waited for a delayed memory effect (DelayedEffects). Call this
  /// function when the effect was applied.
  void go_on();
  /// Reads the payload of the next send request now.
  void fetch_now();
  /// Adds the QP to the list of QPs that are ready to send (Core::ready), if it has something to
  /// send.
  void schedule();
  /// Whether the oldest packet must wait: its destination has no room, and the QP's service never
  /// repeats packets. If so, the function adds the QP to the list of QPs that wait for room
  /// (Core::held).
  [[nodiscard]] bool hold();

  // --- automatic path migration (path_migration.cc) ---------------------------------------------

  /// Whether the packet comes from the peer, by the path in use. A packet by the alternate path
  /// that says that the peer has migrated makes the QP migrate, too (IBTA vol 1, 17.2.8).
  [[nodiscard]] bool hears(const Packet& packet, const roce::Bth& bth);
  /// Loads an alternate path, and sets the migration state that the application wants. The caller
  /// has checked both with may_migrate().
  void load_alternate(const PacketPath& path);
  void set_migration(ibv_mig_state wanted);
  /// Whether the application may set the migration state. `loads`: it loads an alternate path, too.
  [[nodiscard]] bool may_set_migration(ibv_mig_state wanted, bool loads) const;
  /// Migrates to the alternate path, if the QP is armed: IBV_EVENT_PATH_MIG. False: it is not
  /// armed, or the alternate path cannot be used (IBV_EVENT_PATH_MIG_ERR).
  [[nodiscard]] bool migrate();

  /// Makes a packet to the QP's peer, with the QP's path and a BTH.
  [[nodiscard]] PacketPtr make_packet(std::uint8_t opcode, wire::Psn psn, std::size_t payload,
                                      bool ack_request, bool solicited);
  /// Makes a packet with the given path and BTH, and sets its padding. The caller writes the
  /// extended headers and the payload. The function is inline because writing the BTH is otherwise
  /// a third of a packet's cost.
  [[nodiscard]] PacketPtr make_packet(const PacketPath& to, roce::Bth bth, std::size_t payload) {
    PacketPtr packet = core.pool.take();
    to.address(*packet);
    const std::size_t pad = (0 - payload) & 3;
    const std::size_t header = roce::kHeaderBytes[bth.opcode];
    bth.pad = static_cast<std::uint8_t>(pad);
    bth.serialize(std::span(packet->storage).first<roce::Bth::kBytes>());
    packet->size = static_cast<std::uint16_t>(header + payload + pad + roce::kIcrcBytes);
    // Sets the padding and ICRC bytes to zero, even if the ICRC is not computed, so that they are
    // defined. One store covers the longest padding; the packet has enough space.
    std::memset(packet->storage.data() + header + payload, 0, 3 + roce::kIcrcBytes + 1);
    return packet;
  }

  [[nodiscard]] SoftCq& send_completions() const { return *static_cast<SoftCq*>(send_cq); }
  [[nodiscard]] SoftCq& receive_completions() const { return *static_cast<SoftCq*>(recv_cq); }
  void raise(ibv_event_type type);
  [[nodiscard]] std::uint32_t mtu() const { return mtu_bytes; }
  /// Converts an opcode of the reliable connection service to the opcode of the QP's own service.
  [[nodiscard]] std::uint8_t opcode(std::uint8_t reliable) const {
    return static_cast<std::uint8_t>(reliable | static_cast<unsigned>(service) << 5);
  }
  /// Whether the QP's service has acknowledgements.
  [[nodiscard]] bool acknowledged() const { return service != roce::Service::kUc; }

  Core& core;
  Registration registration;
  roce::Service service = roce::Service::kRc;  ///< that of qp_type

  /// The UD service. Set for a UD QP only, which does not use the requester and the responder.
  std::unique_ptr<DatagramService> datagrams;
  std::unique_ptr<SendBuilder> builder;        ///< set for a QP with the ibv_wr_* functions
  std::unique_ptr<DelayedEffects> effects;     ///< null: memory is strict
  std::unique_ptr<AttachedCounters> counters;  ///< null: none

  /// Attributes as last set; the state is in ibv_qp::state.
  ibv_qp_attr attr{};
  ibv_qp_cap cap{};
  PacketPath path{};
  PacketPath alternate{};            ///< of automatic path migration
  bool alternate_is_loaded = false;  ///< `alternate` is a path
  bool mismatch_reported = false;    ///< IBV_EVENT_PATH_MIG_ERR was raised since the last REARM
  std::uint32_t ece_options = 0;
  std::uint64_t made = 0;    ///< the QP's number among those created on its host
  std::uint32_t groups = 0;  ///< multicast groups that it is attached to
  std::uint32_t mtu_bytes = 1024;
  SoftXrcd* xrcd = nullptr;    ///< domain of a QP that receives on extended connections
  std::vector<SoftQp*> names;  ///< other names of this QP (ibv_open_qp)
  SoftQp* named = nullptr;     ///< the QP that this object is another name of

  /// Whether the object is another name of a queue pair (`named`), which may have been destroyed.
  bool is_name = false;

  /// Whether the creator has destroyed the QP while other processes still have names of it.
  bool abandoned = false;
  bool signal_all = false;
  bool open_now = false;
  bool established = false;  ///< IBV_EVENT_COMM_EST was raised, or cannot occur any more
  std::uint32_t async_taken = 0;
  std::uint32_t async_acknowledged = 0;
  Runtime::Mark taker;  ///< the thread that fetched the last of these events

  /// Semaphore that an acknowledgement of events posts, while ibv_destroy_qp waits for it.
  Semaphore* destroyer = nullptr;

  // Links in a ReadyList, the list of QPs that have a packet to send.
  SoftQp* ready_previous = nullptr;
  SoftQp* ready_next = nullptr;
  ReadyList* list = nullptr;  ///< the list that contains this QP

  ReceiveQueue receives;
  Requester requester;
  Responder responder;

 private:
  void reset();
  void start_sending();
  /// Whether every send that was started is complete. A datagram is complete as soon as it is
  /// started.
  [[nodiscard]] bool drained() const {
    return datagrams || (requester.drained() && (effects == nullptr || !effects->returning()));
  }
  [[nodiscard]] bool wants_to_send();
  void announce_drained();
  void use_others(int change);
};

}  // namespace anyrdma::verbs::soft
