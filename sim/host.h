// A simulated host: its network interfaces, its RDMA devices, its CM transport, and the programs
// that run on it.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/entry.h"
#include "sim/address_key.h"
#include "sim/options.h"
#include "sim/process.h"
#include "sim/schedule/fiber.h"
#include "sim/schedule/random_stream.h"
#include "sim/schedule/scheduler.h"
#include "sim/trace/trace.h"
#include "sim/uplink.h"
#include "transport/fault/plan/question.h"
#include "transport/soft/network.h"
#include "transport/soft/port_table.h"
#include "transport/soft/prefix.h"
#include "transport/soft/transport.h"
#include "verbs/call_gate.h"
#include "verbs/misuse.h"
#include "verbs/runtime.h"
#include "verbs/soft/frame.h"
#include "verbs/soft/hca.h"

namespace anyrdma::sim {

using transport::soft::Address;
using transport::soft::Prefix;
using verbs::Result;

class Link;
class World;

/// A simulated host, created by World::add_host. All hosts of a world run in one thread. Call
/// blocking functions in fibers (spawn()); outside of fibers, a blocking call runs the world until
/// it can return.
class Host final : private transport::soft::Observer,
                   private transport::soft::Admission,
                   private transport::EventObserver,
                   private transport::CallObserver,
                   private verbs::CallGate,
                   private verbs::Runtime,
                   private verbs::soft::OwnershipSink,
                   private Settler {
 public:
  ~Host() override;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] World& world() const { return world_; }
  /// The argument of cm::EventChannel::create.
  [[nodiscard]] transport::soft::SoftTransport& transport() { return *transport_; }
  [[nodiscard]] verbs::Runtime& runtime() { return *this; }
  /// Returns the RDMA device of an interface. Precondition: the interface has, or had, a device.
  [[nodiscard]] verbs::soft::Hca& hca(std::size_t interface = 0);
  /// The names of those that are there.
  [[nodiscard]] std::vector<std::string> devices() const;
  [[nodiscard]] std::size_t interfaces() const { return interfaces_.size(); }
  /// Returns the first IP address of an interface, together with `port` (in host byte order).
  [[nodiscard]] Address address(std::uint16_t port = 0, std::size_t interface = 0) const;
  [[nodiscard]] const transport::soft::LocalPortTable& ports() const;

  // --- programs ---------------------------------------------------------------------------------

  /// Starts a fiber named "host/name" that executes `body` as soon as the world is running.
  /// Callable from fibers. No-op if the host is powered off.
  void spawn(std::string_view name, std::function<void()> body, Ending ending = Ending::kMustEnd);
  /// The same now and after every restart.
  void on_start(std::string_view name, std::function<void()> body,
                Ending ending = Ending::kMustEnd);
  /// Like spawn(), but the fiber is a process of its own, for programs that rely on the kernel for
  /// cleanup. Fibers that it spawns on this host are threads of the process. When the last of them
  /// has ended, the remaining objects of the C API are freed as Linux does it: the peers get the
  /// DREQ or REJ of a destroyed id, and the kernel waits for no acknowledgement. The verbs contexts
  /// of the process's ids belong to the process. `loud`: objects that the program has not destroyed
  /// are reported, by the checkers or by a line on stderr.
  void spawn_process(std::string_view name, std::function<void()> body,
                     Ending ending = Ending::kMustEnd, bool loud = false);
  /// Tells the host that an unmodified program of that name will run as a process, so that faults
  /// can name it.
  void announce_program(std::string_view name);
  /// Returns how many programs of that name were spawned as processes or announced.
  [[nodiscard]] std::uint32_t programs_named(std::string_view name) const;
  /// Returns the host whose program (fiber) runs in this OS thread now; null outside of programs
  /// started by spawn().
  [[nodiscard]] static Host* current();
  /// Stores an object that uses this host's transport, until the host is destroyed.
  void keep(std::shared_ptr<void> object);
  /// Suspends the calling fiber for `duration` of virtual time. Returns false if the world ends
  /// meanwhile.
  bool sleep(Duration duration);
  /// A line in the trace.
  void note(std::string_view text);
  /// Adds to the trace a line of output of a program. `program`: its name, as "client/rping".
  /// `error`: the line went to stderr.
  void note_output(std::string_view program, bool error, std::string_view line);
  /// Adds to the trace the end of a program that runs in a process. `how`: for example "ended with
  /// status 1".
  void note_end(std::string_view program, std::string_view how);

  // --- programs outside of the world ------------------------------------------------------------

  /// Directs packets that arrive at an interface to `uplink`, which must outlive the host or be set
  /// to null before. Precondition: the interface has no device.
  void set_uplink(std::size_t interface, Uplink* uplink);
  /// Sends a copy of a packet from an interface. Links, faults, capture and trace treat it like any
  /// other packet. The packet is lost if the host is off, or if it is not an RDMA packet and the
  /// port is down.
  void send_from(std::size_t interface, const verbs::soft::Packet& packet);
  /// Asks for the link address of a neighbour, as the host's own programs do. The answer is a call
  /// of Uplink::on_neighbour, inside this call if the neighbour is known. No-op if the host is
  /// powered off.
  void ask_neighbour(std::size_t interface, transport::soft::NeighbourToken token,
                     const Address& neighbour, Duration timeout);
  /// Whether there is such an interface.
  [[nodiscard]] bool has_processes() const;
  /// Looks up the fault that applies to an action of a process (a call, or a work request).
  /// `process`: the unique name of the process, different from the names of hosts. Returns the time
  /// that the process must wait before it continues.
  [[nodiscard]] Duration advise(std::string_view process, fault::Question& question);
  /// Records an entry (one recorded event) from a process of this host. The ids in the entry are
  /// numbers of that process.
  void hear(std::string_view process, const recording::Entry& entry);
  /// It has ended.
  void forget(std::string_view process);
  [[nodiscard]] const std::string& interface_name(std::size_t interface = 0) const;
  [[nodiscard]] const std::vector<Prefix>& prefixes(std::size_t interface = 0) const;
  [[nodiscard]] const roce::Mac& mac(std::size_t interface = 0) const;

  // --- faults -----------------------------------------------------------------------------------

  /// Unplugs a device: its ids get DEVICE_REMOVAL. ENODEV: no such device, or it is already
  /// removed.
  [[nodiscard]] Result<void> remove_device(std::string_view device);
  /// Plugs a removed device in again, with its limits and GIDs but without its objects. `new_guid`:
  /// it gets another GUID. ENODEV: no device of that name was removed; EEXIST: the device is
  /// present.
  [[nodiscard]] Result<void> return_device(std::string_view device, bool new_guid = false);
  /// Sets the link of the device's port down or up: PORT_ERR or PORT_ACTIVE follows. Errors:
  /// ENODEV, EALREADY.
  [[nodiscard]] Result<void> set_port(std::string_view device, bool active);
  /// Plugs a device into an interface that never had one. ENODEV: no such interface; EEXIST.
  [[nodiscard]] Result<void> plug_device(std::string_view interface);
  /// Switches a bonded interface to its next link and that link's address (fail_over; after the
  /// last link comes the first), or back to the first link (fail_back). Ids on the interface that
  /// use another link address get ADDR_CHANGE; active ids of neighbours that use another one get
  /// UNREACHABLE. ENODEV: no such interface; EOPNOTSUPP: not a bond; EALREADY: the first link is
  /// already in use.
  [[nodiscard]] Result<void> fail_over(std::string_view interface);
  [[nodiscard]] Result<void> fail_back(std::string_view interface);
  /// Cuts an interface off (`passes` false): it loses all packets in both directions, and finds no
  /// neighbours; or ends that. The link of its port stays up. ENODEV: no such interface; EALREADY:
  /// already in that state.
  [[nodiscard]] Result<void> set_rail(std::string_view interface, bool passes);
  /// Makes a queue pair fail, with the given asynchronous event. Errors: those of
  /// verbs::soft::Hca::fail_qp. If several devices have a queue pair with that number, the first
  /// device's fails.
  [[nodiscard]] Result<void> fail_qp(const verbs::soft::ObjectName& qp, ibv_event_type event);
  /// Makes a completion queue overrun: the `made`-th one that programs of this host created.
  /// ENOENT: no such queue; EALREADY: already overrun.
  [[nodiscard]] Result<void> overrun_cq(std::uint64_t made);
  /// Makes a shared receive queue fail: the `made`-th one that programs of this host created.
  /// ENOENT: no such queue.
  [[nodiscard]] Result<void> fail_srq(std::uint64_t made);
  /// Makes a device raise an asynchronous event; the device continues to work. ENODEV: no such
  /// device.
  [[nodiscard]] Result<void> raise_event(std::string_view device, ibv_event_type event);
  /// Removes a multicast group from the network: this host's ids that have joined the group get
  /// MULTICAST_ERROR. EINVAL: not an address; ENOENT: no id has joined it.
  [[nodiscard]] Result<void> lose_group(std::string_view address);
  /// Sets the delay before each event and each poll of the host's programs. Test code outside of
  /// the programs is not delayed. Returns false if the delay was the same before.
  bool slow_down(Duration delay);

  // --- power (host_power.cc); not from the host's own programs ----------------------------------

  /// Cuts the power: the host's programs never run again, no packet leaves it, and the state of its
  /// kernel and devices is lost. Channels and ids that the test created itself no longer work:
  /// calls have no effect, and no event comes. `transport()` returns a new transport. EALREADY: the
  /// host is off.
  [[nodiscard]] Result<void> crash();
  /// Kills the host's programs as SIGKILL does: they never run again, and the kernel closes their
  /// connections. Objects that the test created itself no longer work, as after crash().
  /// `transport()` returns a new transport. The host stays on. EALREADY: the host is off or paused.
  [[nodiscard]] Result<void> kill();
  /// Kills one program: the `number`-th (from 1) of that name that was started by spawn_process()
  /// or as a process. Other programs continue. EALREADY: the host is off or paused; ESRCH: no such
  /// program, or it has ended.
  [[nodiscard]] Result<void> kill_program(std::string_view name, std::uint32_t number);
  /// Starts the host with only its devices and addresses. If the host is on, it crashes first.
  void restart();
  /// Pauses the host like a virtual machine: its programs stop, its clock continues, and it queues
  /// a few packets; further packets are lost. EALREADY: the host is off or paused.
  [[nodiscard]] Result<void> pause();
  /// EALREADY: it is not paused.
  [[nodiscard]] Result<void> resume();
  /// Neither off nor paused.
  [[nodiscard]] bool running() const { return power_ == Power::kOn; }
  [[nodiscard]] bool off() const { return power_ == Power::kOff; }
  /// Stops one program as SIGSTOP does, until resume_program(). The program is selected as in
  /// kill_program(), or all fibers named "host/name" are. The host and its devices continue.
  /// `thread`: the number of one thread of a process, from 1; 0: all threads except those of the
  /// simulated device. ESRCH: no such program; EALREADY: already stopped (or running), or the host
  /// is off.
  [[nodiscard]] Result<void> pause_program(std::string_view name, std::uint32_t number,
                                           std::uint32_t thread = 0);
  [[nodiscard]] Result<void> resume_program(std::string_view name, std::uint32_t number,
                                            std::uint32_t thread = 0);

  /// Makes the host's clock and all its timers run faster by `ppm` parts per million; slower if
  /// negative. Returns false if the drift was the same before.
  bool drift(std::int32_t ppm);
  [[nodiscard]] bool drifts() const { return drift_ppm_ != 0; }

  // --- addresses (host_network.cc) --------------------------------------------------------------

  /// Adds an address ("192.0.2.9/24") to an interface, and a GID to its device: GID_CHANGE. ENODEV:
  /// no such interface; EINVAL: no address; EADDRINUSE: some host has it.
  [[nodiscard]] Result<void> add_address(std::string_view interface, std::string_view prefix);
  /// Removes an address from the interface, and its GID from the device: GID_CHANGE follows.
  /// Packets to that address are lost; ids keep it. ENODEV: no such interface; EINVAL: not an
  /// address; EADDRNOTAVAIL: the interface does not have it.
  [[nodiscard]] Result<void> drop_address(std::string_view interface, std::string_view address);
  /// Probes a neighbour's link address again, as a kernel does about every minute, and removes the
  /// neighbour if there is no answer. ENOENT: unknown neighbour.
  [[nodiscard]] Result<void> confirm_neighbour(std::string_view address);
  /// Removes a neighbour, as `ip neighbour del` does: the next connection resolves it again. Both
  /// this function and confirm_neighbour() send UNREACHABLE to the ids that know another link
  /// address of the neighbour. ENOENT: unknown neighbour.
  [[nodiscard]] Result<void> forget_neighbour(std::string_view address);

  [[nodiscard]] bool has_device(std::string_view device) const;
  /// Whether the device exists and is not removed.
  [[nodiscard]] bool knows_device(std::string_view device) const;
  [[nodiscard]] bool has_interface(std::string_view interface) const;

 private:
  friend class World;
  friend class Link;
  void opened(std::string_view process, fault::Question& question);
  class Deadline;
  class Question;
  class Boot;

  enum class Power : std::uint8_t { kOn, kPaused, kOff };
  struct Startup {
    std::string name;
    std::function<void()> body;
    Ending ending;
  };
  /// A packet that arrived while the host was paused. The host receives it after the pause.
  struct Waiting {
    std::size_t interface;
    const Host* from;
    verbs::soft::PacketPtr packet;
  };

  struct Neighbour {
    int interface = 0;  ///< that leads to it
    transport::soft::LinkNumber link{};
    bool known = true;  ///< false: forgotten, and not found again yet

    bool operator==(const Neighbour&) const = default;
  };

  struct Interface {
    std::string name;
    roce::Mac mac{};  ///< of the link that is used
    BondOptions bond{};
    std::uint8_t link = 0;  ///< which one that is
    bool cut = false;       ///< nothing passes
    std::vector<Prefix> prefixes;
    std::unique_ptr<RandomStream> random;   ///< the device's
    std::unique_ptr<verbs::soft::Hca> hca;  ///< null: never had one
    bool present = false;                   ///< the device has not been removed
    Uplink* uplink = nullptr;               ///< instead of a device
    bool unplugged = false;                 ///< what its processes had for one
    bool port_down = false;                 ///< likewise
  };

  Host(World& world, std::string name, HostIndex index, const HostOptions& options);
  void boot();
  [[nodiscard]] Result<void> set_paused(std::string_view name, std::uint32_t number,
                                        std::uint32_t thread, bool paused);
  void start_anew();
  void start_fiber(std::string_view name, std::function<void()> body, Ending ending,
                   std::shared_ptr<Process> process);
  void watch_events() { transport_->set_event_observer(this); }
  void watch_calls() { transport_->set_call_observer(this); }
  void watch_gate();
  void add_interface(const InterfaceOptions& options);
  void add_device(Interface& interface, const InterfaceOptions& options);
  void plug(Interface& interface, const verbs::soft::HcaConfig& config);
  /// The number of an interface, from 1, by which the transport and the scope of a link-local
  /// address identify it.
  [[nodiscard]] static int number_of(std::size_t interface) {
    return static_cast<int>(interface) + 1;
  }
  [[nodiscard]] roce::Mac make_mac(std::size_t interface) const;
  [[nodiscard]] Interface* find_device(std::string_view device);
  /// Whose processes have a device of that name.
  [[nodiscard]] Interface* find_outside(std::string_view device);
  [[nodiscard]] const Interface* find_outside(std::string_view device) const;
  /// Reports a change of the device to the processes behind the first interface with an uplink.
  /// Returns false if there is no such interface.
  bool tell_outside(const transport::soft::DeviceChange& change);
  [[nodiscard]] Interface* find_interface(std::string_view name);

  // --- Runtime ----------------------------------------------------------------------------------
  Instant now() override;
  Result<std::unique_ptr<verbs::Semaphore>> make_semaphore() override;
  void enter() override {
    scheduler_.check_thread();
    if (scheduler_.chooses()) [[unlikely]]
      scheduler_.give_way();
  }
  void spin() override { scheduler_.poll(); }
  void leave() override;
  void progress() override;
  Mark mark() override;
  const void* process() override;
  std::string describe(const Mark& mark) override;
  void on_owed(const Owed& owed) override;
  void on_paid() override;
  bool run_later(std::unique_ptr<verbs::Job>& job) override;
  // --- OwnershipSink (host_ownership.cc) --------------------------------------------------------
  void on_finding(const verbs::soft::OwnershipFinding& finding) override;
  /// A verbs::MisuseListener. Reports to the monitor, else to the running exploration, else to
  /// stderr.
  [[nodiscard]] static bool on_misuse(verbs::Runtime& runtime, const verbs::Misuse& misuse);
  /// Executes the actions that the CM and device code queued. The code is not inlined into leave(),
  /// which seldom calls it, so that leave() saves no registers.
  [[gnu::noinline]] void carry_out();

  /// Returns the virtual time of the world at which the host's clock shows `local`.
  [[nodiscard]] Instant world_time(Instant local) const;

  // --- packets and timers -----------------------------------------------------------------------
  void send_packets(Interface& interface, std::size_t index);
  /// Receives a packet. Returns false if the host did not accept it. Otherwise the caller must call
  /// leave(), once for all packets that arrive together.
  [[nodiscard]] bool receive(std::size_t interface, const Host& from,
                             verbs::soft::PacketPtr&& packet);
  /// Whether the device's queued work only answers received packets. The host may then receive
  /// further packets before it executes that work.
  [[nodiscard]] bool takes_more() const { return !driver_called() || called_for_packets_only(); }
  void take_ip(const Interface& interface, const Host& from, const verbs::soft::Packet& packet);
  [[nodiscard]] static bool port_is_down(const Interface& interface);
  void receive_later(std::size_t interface, const Host& from, verbs::soft::PacketPtr packet);
  void take_in(Interface& interface, const Host& from, verbs::soft::PacketPtr&& packet);
  [[nodiscard]] bool hears_groups(const Interface& interface) const {
    return interface.hca != nullptr || interface.uplink != nullptr;
  }
  void on_deadline();
  void settle() override;

  // --- host_network.cc: the network as the host's running transport sees it ----------------------
  [[nodiscard]] Result<transport::soft::Route> route(const Address* source,
                                                     const Address& destination);
  [[nodiscard]] Result<int> interface_of(const Address& local);
  void resolve_neighbour(transport::soft::NeighbourToken token, const transport::soft::Route& route,
                         std::chrono::milliseconds timeout);
  void cancel_neighbour(transport::soft::NeighbourToken token);
  [[nodiscard]] bool resolve_path(transport::soft::NeighbourToken token,
                                  std::chrono::milliseconds timeout);
  Question& ask(transport::soft::NeighbourToken token, Duration timeout);
  void look_for(transport::soft::NeighbourToken token, const Address& neighbour, int interface,
                Duration timeout, Uplink* asker);
  void tell(transport::soft::NeighbourToken token, int error, Uplink* asker);
  void replace_gid(Interface& interface, const ibv_gid& old, const ibv_gid& gid);
  void answer(Question& question);
  void recycle(Question& question);
  [[nodiscard]] bool answers(const Address& neighbour, int interface);
  void on_neighbour_moved(const Address& neighbour, transport::soft::LinkNumber link);
  [[nodiscard]] Result<void> use_link(Interface& interface, std::uint8_t link);
  [[nodiscard]] transport::soft::LinkNumber link_of(int interface) const;
  [[nodiscard]] transport::soft::LinkNumber link_of(int interface, const Address& neighbour) const;
  /// As another host sees it.
  [[nodiscard]] static transport::soft::LinkNumber link_of(const Interface& interface);
  void tell_of(const Address& neighbour, const Neighbour& known);
  [[nodiscard]] Neighbour* find_neighbour(std::string_view address, Address& found);

  // --- host_observer.cc: records for the trace, and effects of the fault plan --------------------
  void on_mad_sent(std::string_view, const ibcm::Path&, Mad) override {}
  void on_mad_received(std::string_view, const ibcm::Path&, Mad) override {}
  void on_mad_dropped(std::string_view device, ibcm::DropReason reason,
                      std::uint16_t attribute) override;
  void on_event(Step step, std::uint64_t id, std::uint64_t listener,
                const rdma_cm_event& event) override;
  void on_acknowledged(std::uint64_t id) override;
  void on_call(std::uint64_t id, std::string_view call, int error) override;
  void on_refused(std::uint64_t id, std::string_view call, int error) override;
  void on_state(std::uint64_t id, std::string_view state) override;
  void on_handshake(std::uint64_t id, const rdma_cm_id& raw, std::string_view call,
                    const transport::ConnectionParameters& given) override;
  void on_channels(int change) override;
  // Called before a call or a work request takes effect. A fault of the plan makes it fail, with
  // the returned errno or status.
  int on_call(std::uint64_t id, std::string_view call) override;
  ibv_wc_status on_work(const verbs::PostedWork& work) override;
  void on_failure(const ibv_wc& completion) override;
  void on_take() override;
  std::optional<Refusal> on_request(std::string_view device,
                                    const ibcm::ReqParameters& request) override;

  World& world_;
  Scheduler& scheduler_;  ///< the world's
  std::string name_;
  HostIndex index_;
  RandomStream random_;
  transport::soft::PortTableConfig port_options_;
  Power power_ = Power::kOn;
  /// true: the simulator itself makes calls now, and faults do not apply to them
  bool gate_is_open_ = false;
  std::int32_t drift_ppm_ = 0;
  Instant clock_{};         ///< the host's time ...
  Instant clock_set_at_{};  ///< ... when it was this in the world
  std::vector<Startup> startups_;
  std::vector<std::string> announced_;
  struct Spawned {
    std::string name;
    std::weak_ptr<Process> process;
  };
  std::vector<Spawned> spawned_;
  std::vector<Waiting> waiting_;  ///< in the order of arrival
  std::vector<Interface> interfaces_;
  verbs::soft::MadeObjects made_;                           ///< on all devices
  Duration slowness_{};                                     ///< of the programs
  std::vector<std::unique_ptr<verbs::soft::Hca>> removed_;  ///< replaced; programs hold contexts
  std::vector<Prefix> unreachable_;
  boost::unordered_flat_map<AddressKey, Neighbour, AddressKeyHash> neighbours_;
  std::vector<std::unique_ptr<Question>> questions_;  ///< all there ever were
  std::vector<Question*> spare_questions_;
  boost::unordered_flat_map<transport::soft::NeighbourToken, Question*> open_questions_;
  std::unique_ptr<Deadline> deadline_;
  std::vector<std::unique_ptr<Link>>
      links_;  ///< links to other hosts, by the host's index; null: not used yet
  std::vector<std::unique_ptr<Boot>> past_;  ///< what crashes have left
  std::unique_ptr<Boot> boot_;
  transport::soft::SoftTransport* transport_ = nullptr;  ///< of boot_
};

}  // namespace anyrdma::sim
