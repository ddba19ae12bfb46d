// A simulated host: its CM transport, its programs that are fibers, and accessors for its
// interfaces, devices, neighbours, processes and power.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/devices.h"
#include "sim/host_clock.h"
#include "sim/host_description.h"
#include "sim/host_observer.h"
#include "sim/interfaces.h"
#include "sim/neighbours.h"
#include "sim/options.h"
#include "sim/power.h"
#include "sim/processes.h"
#include "sim/schedule/fiber.h"
#include "sim/schedule/random_stream.h"
#include "sim/schedule/scheduler.h"
#include "sim/trace/trace.h"
#include "transport/soft/port_table.h"
#include "transport/soft/transport.h"
#include "verbs/runtime.h"
#include "verbs/soft/hca.h"

namespace anyrdma::sim {

class Link;
class World;

/// A simulated host, created by World::add_host. All hosts of a world run in one thread. Call
/// blocking functions in fibers (spawn()); outside of fibers, a blocking call runs the world until
/// it can return.
class Host final : private verbs::Runtime, private Settler {
 public:
  ~Host() override;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The host's number in traces and recordings.
  [[nodiscard]] HostIndex index() const { return index_; }
  [[nodiscard]] World& world() const { return world_; }
  /// Returns the hardware and the kernel of the host, as its processes see them.
  [[nodiscard]] const HostDescription& description() const { return description_; }
  /// The argument of cm::EventChannel::create.
  [[nodiscard]] transport::soft::SoftTransport& transport() const { return *transport_; }
  [[nodiscard]] verbs::Runtime& runtime() { return *this; }
  /// Returns the RDMA device of an interface. Precondition: the interface has, or had, a device of
  /// the simulator.
  [[nodiscard]] verbs::soft::Hca& hca(std::size_t interface = 0) const;
  /// Returns the first IP address of an interface, together with `port` (in host byte order).
  [[nodiscard]] Address address(std::uint16_t port = 0, std::size_t interface = 0) const;
  [[nodiscard]] const transport::soft::LocalPortTable& ports() const;

  // --- subjects ---------------------------------------------------------------------------------

  /// The network interfaces: names, addresses, links.
  [[nodiscard]] Interfaces& interfaces() { return interfaces_; }
  [[nodiscard]] const Interfaces& interfaces() const { return interfaces_; }
  /// The RDMA devices: removal, ports, failures.
  [[nodiscard]] Devices& devices() { return devices_; }
  [[nodiscard]] const Devices& devices() const { return devices_; }
  [[nodiscard]] Neighbours& neighbours() { return neighbours_; }
  /// Unmodified programs, and programs of fibers that are processes.
  [[nodiscard]] Processes& processes() { return processes_; }
  [[nodiscard]] const Processes& processes() const { return processes_; }
  /// Crashes, kills and pauses.
  [[nodiscard]] Power& power() { return power_; }
  [[nodiscard]] const Power& power() const { return power_; }
  /// Whether the host is neither off nor paused.
  [[nodiscard]] bool running() const { return power_.running(); }

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
  /// Sets the delay before each event and each poll of the host's programs. Test code outside of
  /// the programs is not delayed. Returns false if the delay was the same before.
  bool slow_down(Duration delay);

  // --- clock ------------------------------------------------------------------------------------

  /// Makes the host's clock and all its timers run faster by `ppm` parts per million; slower if
  /// negative. Returns false if the drift was the same before.
  bool drift(std::int32_t ppm);
  [[nodiscard]] bool drifts() const { return clock_.drift_ppm() != 0; }
  /// Returns the virtual time of the world at which the host's clock shows `local`.
  [[nodiscard]] Instant world_time(Instant local) const { return clock_.world_time(local); }

 private:
  friend class HostObserver;
  friend class Link;
  friend class OwnNic;
  friend class Power;
  friend class Processes;
  friend class World;
  class Boot;
  class Deadline;

  Host(World& world, std::string name, HostIndex index, const HostOptions& options);
  void boot();
  /// Replaces the transport and the devices by new ones, as a new kernel has them.
  void start_anew();
  void start_fiber(std::string_view name, std::function<void()> body, Ending ending,
                   std::shared_ptr<Process> process);

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
  void on_owed(const Owed& owed) override { observer_.on_owed(owed); }
  void on_paid() override { observer_.on_paid(); }
  bool run_later(std::unique_ptr<verbs::Job>& job) override;
  /// Executes the actions that the CM and device code queued. The code is not inlined into leave(),
  /// which seldom calls it, so that leave() saves no registers.
  [[gnu::noinline]] void carry_out();

  // --- packets and timers -----------------------------------------------------------------------
  void send_packets(verbs::soft::Hca& device, std::size_t interface);
  /// Receives a packet. Returns false if the host did not accept it. Otherwise the caller must call
  /// leave(), once for all packets that arrive together.
  [[nodiscard]] bool receive(std::size_t interface, const Host& from,
                             verbs::soft::PacketPtr&& packet);
  /// Whether the device's queued work only answers received packets. The host may then receive
  /// further packets before it executes that work.
  [[nodiscard]] bool takes_more() const { return !driver_called() || called_for_packets_only(); }
  void take_ip(const Nic& nic, const Host& from, const verbs::soft::Packet& packet);
  void cancel_deadline();
  void on_deadline();
  void settle() override;

  World& world_;
  Scheduler& scheduler_;  ///< the world's
  std::string name_;
  HostIndex index_;
  HostDescription description_;
  RandomStream random_;
  transport::soft::PortTableConfig port_options_;
  HostClock clock_;
  HostObserver observer_{*this};
  Power power_{*this};
  Processes processes_{*this};
  Devices devices_{*this};
  Interfaces interfaces_{*this};
  Neighbours neighbours_{*this};
  std::unique_ptr<Deadline> deadline_;
  std::vector<std::unique_ptr<Link>>
      links_;  ///< links to other hosts, by the host's index; null: not used yet
  std::vector<std::unique_ptr<Boot>> past_;  ///< what crashes have left
  std::unique_ptr<Boot> boot_;
  transport::soft::SoftTransport* transport_ = nullptr;  ///< of boot_
};

}  // namespace anyrdma::sim
