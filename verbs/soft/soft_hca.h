// The software HCA: the only implementation of Hca. Its functions are in several source files,
// which the headings inside the class name.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/assert.h"
#include "verbs/soft/completion_counter.h"
#include "verbs/soft/completion_queue.h"
#include "verbs/soft/context.h"
#include "verbs/soft/core.h"
#include "verbs/soft/dmabuf.h"
#include "verbs/soft/graveyard.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/multicast_table.h"
#include "verbs/soft/ownership.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/ring.h"
#include "verbs/soft/xrc_domain.h"

namespace anyrdma::verbs::soft {

class SoftHca final : public Hca {
 public:
  SoftHca(Runtime& runtime, Random& random, PacketPool& pool, const HcaConfig& config);
  ~SoftHca() override;

  // --- device (soft_hca.cc) ---------------------------------------------------------------------
  std::span<ibv_device* const> devices() override { return devices_; }
  Result<ibv_context*> open_device(ibv_device* device) override;
  Result<void> close_device(ibv_context* context) override;
  __be64 device_guid(ibv_device*) override { return htobe64(value(core_.config.node_guid)); }
  Result<void> query_device(ibv_context*, ibv_device_attr* attr) override;
  Result<ibv_async_event> get_async_event(ibv_context* context) override;
  void ack_async_event(const ibv_async_event& event) override;
  const HcaConfig& config() const override { return core_.config; }
  ibv_device* device() override { return &device_.device; }
  void remove() override;
  const Counters& counters() const override { return core_.counters; }

  // --- ports (soft_hca_ports.cc) ----------------------------------------------------------------
  Result<void> query_port(ibv_context*, std::uint8_t port, ibv_port_attr* attr) override;
  Result<ibv_gid_entry> query_gid(ibv_context*, std::uint8_t port, std::uint32_t index) override;
  Result<__be16> query_pkey(ibv_context*, std::uint8_t port, int index) override;
  void set_port_gid(std::uint8_t port, std::uint32_t index, const ibv_gid& gid) override;
  void set_state_of(std::uint8_t port, ibv_port_state state) override;
  std::span<const ibv_gid> gids_of(std::uint8_t port) const override { return at(port).gids; }
  ibv_port_state state_of(std::uint8_t port) const override { return at(port).state; }
  void set_lids(const LidTable* lids) override;
  const PortCounters& counters_of(std::uint8_t port) const override { return at(port).counters; }

  // --- verbs objects (soft_hca_objects.cc) ------------------------------------------------------
  Result<ibv_pd*> alloc_pd(ibv_context* context) override;
  Result<void> dealloc_pd(ibv_pd* pd) override;
  Result<ibv_mr*> reg_mr(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                         unsigned access) override;
  Result<void> dereg_mr(ibv_mr* mr) override;
  /// See register_dmabuf() and revoke_dmabuf().
  [[nodiscard]] Result<ibv_mr*> reg_dmabuf(ibv_pd* pd, const MappedDmabuf& part, unsigned access);
  [[nodiscard]] Result<void> revoke_dmabuf(const ibv_mr& mr);
  Result<void> rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length,
                        int access) override;
  Result<ibv_comp_channel*> create_comp_channel(ibv_context* context) override;
  Result<void> destroy_comp_channel(ibv_comp_channel* channel) override;
  Result<ibv_cq*> create_cq(ibv_context* context, int cqe, void* cq_context,
                            ibv_comp_channel* channel, int comp_vector) override;
  Result<void> destroy_cq(ibv_cq* cq) override;
  Result<void> resize_cq(ibv_cq* cq, int cqe) override;
  Result<ibv_cq*> get_cq_event(ibv_comp_channel* channel) override;
  void ack_cq_events(ibv_cq* cq, unsigned count) override;
  Result<ibv_qp*> create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) override;
  Result<void> modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) override;
  Result<void> query_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask, ibv_qp_init_attr* init) override;
  Result<void> destroy_qp(ibv_qp* qp) override;
  ibv_qp_ex* qp_to_qp_ex(ibv_qp* qp) override;
  Result<void> set_ece(ibv_qp* qp, const ibv_ece& ece) override;
  Result<ibv_ece> query_ece(ibv_qp* qp) override;

  // --- checkers (soft_hca_census.cc) ------------------------------------------------------------
  void set_observer(HcaObserver* observer) override;
  void set_ownership_sink(OwnershipSink* sink) override;
  Census census() const override;
  QpCensus census_of(const ibv_qp& qp) const override;
  SrqCensus census_of(const ibv_srq& srq) const override;
  bool has_dropped(const ibv_cq& cq) const override;
  std::vector<const ibv_qp*> queue_pairs() const override;
  std::optional<std::uint64_t> digest(const ibv_pd* pd, std::span<const ibv_sge> list,
                                      std::uint64_t length) const override;

  // --- domains (parent_domain.cc) ---------------------------------------------------------------
  [[nodiscard]] Result<ibv_pd*> alloc_parent_domain(ibv_context* context,
                                                    const ibv_parent_domain_init_attr& init);
  [[nodiscard]] Result<ibv_td*> alloc_td(ibv_context* context);
  [[nodiscard]] Result<void> dealloc_td(ibv_td* td);

  // --- import.cc --------------------------------------------------------------------------------
  [[nodiscard]] Result<ibv_pd*> import_pd(ibv_context* context, std::uint32_t handle);

  // --- datagrams (soft_hca_datagram.cc) ---------------------------------------------------------
  Result<ibv_ah*> create_ah(ibv_pd* pd, const ibv_ah_attr& attr) override;
  Result<void> destroy_ah(ibv_ah* ah) override;
  Result<void> attach_mcast(ibv_qp* qp, const ibv_gid& gid, std::uint16_t lid) override;
  Result<void> detach_mcast(ibv_qp* qp, const ibv_gid& gid, std::uint16_t lid) override;

  // --- shared receive queues (soft_hca_srq.cc) --------------------------------------------------
  Result<ibv_srq*> create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) override;
  Result<void> modify_srq(ibv_srq* srq, const ibv_srq_attr& attr, int mask) override;
  Result<void> query_srq(ibv_srq* srq, ibv_srq_attr* attr) override;
  Result<void> destroy_srq(ibv_srq* srq) override;

  // --- extended connections (soft_hca_xrc.cc) ---------------------------------------------------

  /// Opens the XRC domain of a file; without a file, a new domain that no other caller can open.
  /// `flags`: kMakeDomain (O_CREAT), kFreshDomain (O_EXCL). EAGAIN: there is no domain, and `flags`
  /// does not ask for a new one; EINVAL: there is one, and `flags` asks for a new one.
  [[nodiscard]] Result<ibv_xrcd*> open_xrcd(ibv_context* context, std::optional<FileIdentity> file,
                                            int flags);
  /// Closes an XRC domain. EBUSY: shared receive queues or queue pairs use it.
  [[nodiscard]] Result<void> close_xrcd(ibv_xrcd* xrcd);
  [[nodiscard]] std::size_t xrc_domains() const;
  [[nodiscard]] Result<ibv_srq*> create_xrc_srq(const ibv_srq_init_attr_ex& init);
  /// Creates another name of a receiving QP, as ibv_open_qp does. EINVAL: the domain has no such
  /// QP.
  [[nodiscard]] Result<ibv_qp*> open_qp(ibv_context* context, const ibv_qp_open_attr& attr);
  /// Creates a queue pair, whatever its owner is, and writes the granted capabilities to `init`.
  [[nodiscard]] Result<ibv_qp*> make_qp(const GivenQpOwner& owner, ibv_qp_init_attr& init);

  // --- completion counters (completion_counter.cc) ----------------------------------------------
  [[nodiscard]] Result<CompletionCounter*> create_counter(ibv_context* context, bool counts_bytes);
  [[nodiscard]] Result<void> destroy_counter(const CompletionCounter* counter);
  [[nodiscard]] Result<void> attach_counter(const ibv_qp& qp, const CompletionCounter* counter,
                                            std::uint32_t operations);
  /// Clears the bits of a value that are not in `kept`, and adds `added`. Returns the new value.
  [[nodiscard]] Result<std::uint64_t> change_counter(const CompletionCounter* counter,
                                                     CounterValue which, std::uint64_t kept,
                                                     std::uint64_t added);

  // --- faults (soft_hca_faults.cc) --------------------------------------------------------------
  void set_call_gate(CallGate* gate) override;
  void count_with(MadeObjects& made) override { core_.made = &made; }
  Result<void> fail_qp(const ObjectName& name, ibv_event_type event) override;
  Result<void> overrun_cq(std::uint64_t made) override;
  Result<void> fail_srq(std::uint64_t made) override;
  void raise_event_of(std::uint8_t port, ibv_event_type event) override {
    raise_everywhere(port, event);
  }

  // --- packets (soft_hca_network.cc) ------------------------------------------------------------
  void on_packet(Instant now, PacketPtr packet) override;
  void on_timer(Instant now) override;
  void on_peers_gone(Instant now, std::uint32_t number, std::uint32_t mask,
                     std::span<const ibv_gid> gids) override;
  std::optional<Instant> next_deadline() const override { return core_.timers.next_deadline(); }
  PacketPtr next_packet() override;
  void lend_payloads() override { core_.lends = true; }
  void send_mad(const MadAddress& to, std::span<const std::uint8_t, kMadBytes> mad) override;
  std::optional<ReceivedMad> next_mad() override;
  void set_outlet(Outlet* outlet) override;
  void resume() override;
  void set_memory_guard(MemoryTable::Guard guard) override;
  void set_near_memory(NearMemory* near) override;
  void set_memory_model(MemoryProfile profile, MemoryChooser& chooser) override;

 private:
  static constexpr std::uint32_t kGidTableSize = 16;

  // The ibv_device of the software HCA, followed by a null pointer. mlx5dv_is_supported and efadv_*
  // read a pointer at that place, and null tells them that the device is not theirs.
  struct DeviceRecord {
    ibv_device device{};
    const void* driver_operations = nullptr;
    std::uint64_t spare[3] = {};
  };

  struct Port {
    std::array<ibv_gid, kGidTableSize> gids{};
    ibv_port_state state = IBV_PORT_ACTIVE;
    PortCounters counters{};
  };

  void describe_device();
  [[nodiscard]] CompletionCounter* find_counter(const CompletionCounter* given) const;
  [[nodiscard]] Port& at(std::uint8_t port) {
    CM_ASSERT(has_port(port));
    return ports_[port - 1];
  }
  [[nodiscard]] const Port& at(std::uint8_t port) const {
    CM_ASSERT(has_port(port));
    return ports_[port - 1];
  }
  [[nodiscard]] bool has_port(std::uint8_t port) const {
    return port != 0 && port <= ports_.size();
  }
  /// Returns the LID of a port; 0: it has none.
  [[nodiscard]] std::uint16_t lid_of(std::uint8_t port) const;
  /// Returns the GID of packets from and to the LID of a port. An empty GID: the port has none.
  [[nodiscard]] ibv_gid lid_gid_of(std::uint8_t port) const;
  /// Returns the GID to which packets to a LID are sent. An empty GID: no port has that LID.
  [[nodiscard]] ibv_gid gid_of_lid(std::uint16_t lid) const;
  [[nodiscard]] SoftQp* find(const ObjectName& name) const;
  void fail_users_of(const SoftCq& cq);
  [[nodiscard]] bool own_gid(const ibv_gid& gid) const;
  /// Returns the port that has the GID; 1: none has.
  [[nodiscard]] std::uint8_t port_of(const ibv_gid& gid) const;
  void raise_everywhere(std::uint8_t port, ibv_event_type type);

  /// Enters the critical section and calls Core::find_to_end. For calls that wait afterwards
  /// outside of the critical section.
  template <class Object, class Given>
  [[nodiscard]] Result<Object*> find_to_end(std::string_view call, const Given& given) {
    CriticalSection section(core_.runtime);
    return core_.find_to_end<Object>(call, given);
  }
  [[nodiscard]] Result<SoftXrcd*> find_live(const ibv_context* context,
                                            const ibv_xrcd& given) const;
  /// Whether the channel is not destroyed yet. Call it inside the critical section.
  [[nodiscard]] bool is_live(const ibv_comp_channel* channel) const;
  [[nodiscard]] Result<SoftChannel*> find_channel(const ibv_context* context,
                                                  const ibv_comp_channel& given);
  [[nodiscard]] Result<SoftSrq*> make_srq(const ibv_pd& pd, ibv_srq_init_attr& init);
  [[nodiscard]] Result<QpOwner> look_up(const GivenQpOwner& given) const;
  [[nodiscard]] Result<ibv_pd*> make_domain(ibv_context* context, std::string_view call);
  [[nodiscard]] std::uint32_t allocate_number();
  void retire(SoftQp& qp);
  void close_name(SoftQp& name);
  void forget_srq(SoftSrq& srq);
  void end_objects_of(const ibv_context* context);
  [[nodiscard]] int check_capabilities(const ibv_qp_init_attr& init) const;
  [[nodiscard]] int check_attributes(const SoftQp& qp, const ibv_qp_attr& attr, int mask) const;
  [[nodiscard]] int check_path(const ibv_ah_attr& address) const;
  [[nodiscard]] int check_migration(const SoftQp& qp, const ibv_qp_attr& attr, int mask) const;
  [[nodiscard]] bool ports_fit(const SoftQp& qp, const ibv_qp_attr& attr, int mask) const;
  /// Returns the path of an address. Precondition: check_path() has accepted the address.
  [[nodiscard]] PacketPath path_of(const ibv_ah_attr& address) const;
  /// Calls `done` inside the critical section until it returns true. Between calls, waits outside
  /// of the section until the program acknowledges events: ibv_ack_cq_events and
  /// ibv_ack_async_event post the object's semaphore `destroyer`.
  template <class Object, class Done>
  [[nodiscard]] Result<void> wait_for_acknowledgements(Object& object, Done done);

  void dispatch(PacketPtr packet, Instant now);
  void on_datagram(const roce::Envelope& envelope, const Packet& packet);
  void on_multicast(const roce::Envelope& envelope, const Packet& packet);
  void on_management_packet(const roce::Envelope& envelope, PacketPtr packet);
  [[nodiscard]] SoftQp* find(wire::Qpn qpn) const;

  Core core_;
  std::unique_ptr<Ownership> ownership_;  ///< outlives the objects, which report to it
  DeviceRecord device_;
  std::array<ibv_device*, 1> devices_{&device_.device};
  std::vector<Port> ports_;             // by number - 1
  std::vector<SoftContext*> contexts_;  // in order of opening

  std::vector<std::unique_ptr<CompletionCounter>> counters_;  // outlive the queue pairs
  std::uint32_t counters_made_ = 0;

  std::vector<SoftQp*> numbers_;  // queue pairs by QPN minus the first QPN
  std::uint32_t next_number_ = 0;
  std::vector<std::unique_ptr<SoftQp>> queue_pairs_;  // all there ever were
  std::vector<SoftQp*> spare_queue_pairs_;
  std::uint32_t live_queue_pairs_ = 0;
  std::uint32_t domains_ = 0;
  std::uint32_t completion_queues_ = 0;
  std::uint32_t address_handles_ = 0;
  std::uint32_t shared_receive_queues_ = 0;
  // Lists of the application's objects that exist. Each object leaves its list when it is
  // destroyed.
  LiveList<SoftPd> live_domains_;
  LiveList<SoftTd> live_thread_domains_;
  LiveList<SoftChannel> live_channels_;
  LiveList<SoftCq> live_completion_queues_;
  LiveList<SoftAh> live_address_handles_;
  LiveList<SoftSrq> live_shared_receive_queues_;
  LiveList<SoftXrcd> live_xrc_domains_;
  std::vector<std::unique_ptr<SoftQp>> names_;  // from ibv_open_qp
  Graveyard graveyard_;                         // of objects of contexts that are closed

  MulticastTable groups_;

  Ring<PacketPtr> mads_out_;
  Ring<PacketPtr> mads_in_;
  wire::Psn mad_psn_;
};

/// Returns a line for each event that must be acknowledged before the object can be destroyed.
[[nodiscard]] std::string debts_of(Runtime& runtime, const SoftCq& cq);
[[nodiscard]] std::string debts_of(Runtime& runtime, const SoftQp& qp);
[[nodiscard]] std::string debts_of(Runtime& runtime, const SoftSrq& srq);

template <class Object, class Done>
Result<void> SoftHca::wait_for_acknowledgements(Object& object, Done done) {
  {
    CriticalSection section(core_.runtime);
    if (done()) return {};
  }
  const auto semaphore = core_.runtime.make_semaphore();
  if (!semaphore) return semaphore.error();
  (*semaphore)->set_purpose("the acknowledgement of verbs events");
  (*semaphore)->set_details([this, &object] { return debts_of(core_.runtime, object); });
  std::optional<Runtime::Owed> owed;
  while (true) {
    bool over = false;
    bool begins = false;
    {
      CriticalSection section(core_.runtime);
      object.destroyer = semaphore->get();
      over = done();
      begins = !over && !owed;
      if (begins) {
        const std::uint64_t self = core_.runtime.mark().who;
        owed = {.events = debts_of(core_.runtime, object),
                .own = self != 0 && object.taker.who == self};
      }
    }
    if (begins) core_.runtime.on_owed(*owed);
    if (over && owed) core_.runtime.on_paid();
    if (over) return {};
    const auto waited = (*semaphore)->wait();
    if (waited || waited.error().value() == EINTR) continue;
    core_.runtime.on_paid();
    CriticalSection section(core_.runtime);
    object.destroyer = nullptr;
    return waited.error();
  }
}

}  // namespace anyrdma::verbs::soft
