// The simulated world: hosts, the network between them, virtual time, and random numbers from a
// seed. The same program and seed give the same trace, byte for byte, on every compiler and
// machine.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/address_key.h"
#include "sim/faults.h"
#include "sim/host.h"
#include "sim/link.h"
#include "sim/memory.h"
#include "sim/monitor.h"
#include "sim/options.h"
#include "sim/schedule/job_queue.h"
#include "sim/schedule/random_stream.h"
#include "sim/schedule/scheduler.h"
#include "sim/trace/capture.h"
#include "sim/trace/trace.h"
#include "sim/uplink.h"
#include "verbs/soft/lid_list.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

class ExecutionContext;
class Executor;
class Milestones;
class Mistakes;
class Recorder;

/// A simulation. A world belongs to the thread that uses it; other threads may use other worlds.
/// Destroy the objects of programs (event channels, ids, verbs objects) before the world. The
/// destructor cancels the waits of fibers (EDEADLK) and runs the fibers to their end.
class World final : private ChoiceObserver {
 public:
  explicit World(std::uint64_t seed, const WorldOptions& options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // --- what there is ----------------------------------------------------------------------------

  /// Adds a host with one interface and one RDMA device that has all the addresses. Aborts on an
  /// address that does not parse (see Prefix), a name in use or an address that another host has.
  Host& add_host(std::string_view name, std::initializer_list<std::string_view> addresses);
  /// Adds any other host. As above.
  Host& add_host(std::string_view name, const HostOptions& options);
  [[nodiscard]] Host* find_host(std::string_view name) const;
  /// The host that has an address; null: none.
  [[nodiscard]] Host* host_of(const Address& address);
  /// Sets the network's behaviour in both directions between two hosts, for packets sent from now
  /// on.
  void set_link(Host& a, Host& b, const LinkOptions& options);
  /// Sets one direction.
  void set_path(Host& from, Host& to, const LinkOptions& options);
  [[nodiscard]] const LinkOptions& path(Host& from, Host& to);
  /// In the order in which they were added.
  [[nodiscard]] const std::vector<std::unique_ptr<Host>>& hosts() const { return hosts_; }
  /// Sets the receiver of packets that are not RDMA (TCP, UDP, ICMP). Null, the default: such
  /// packets are lost. The receiver must outlive the world, or be set to null before.
  void set_ip_receiver(IpReceiver* receiver) { ip_receiver_ = receiver; }
  /// Returns a stream of random numbers for the test, by name. Its numbers do not depend on other
  /// streams. The stream exists as long as the world.
  [[nodiscard]] RandomStream& random(std::string_view name);
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// The seeds that the random streams follow: the world's seed, and the seeds that replace it at
  /// the branches of the schedule.
  [[nodiscard]] const Seeds& seeds() const { return scheduler_.seeds(); }
  [[nodiscard]] const WorldOptions& options() const { return options_; }

  // --- time -------------------------------------------------------------------------------------
  [[nodiscard]] Instant now() const { return scheduler_.now(); }
  /// Runs until no task and no fiber is left to run. EDEADLK: fibers that must end are still
  /// waiting; stuck_report() says for what. Do not call run(), run_for(), run_until() or rest()
  /// from a fiber.
  [[nodiscard]] Result<void> run();
  /// Runs the world for `duration` of virtual time. Afterwards the clock has advanced by that much.
  void run_for(Duration duration);
  /// Runs until `done()` returns true. The predicate is called at the beginning and after every
  /// step. Returns false if the deadline came first, or if no task and no fiber is left to run.
  template <class Predicate>
  [[nodiscard]] bool run_until(Predicate&& done, Instant deadline = Scheduler::kNever) {
    const Scheduler::Running running(scheduler_);
    while (!done()) {
      if (!scheduler_.step(deadline)) return false;
    }
    return true;
  }
  /// Returns a line for each waiting thread: what it waits for, and since when. If a thread waits
  /// for acknowledgements of events, the events follow: type, status, and when and by which thread
  /// they were fetched. The report also lists the last wait for acknowledgements outside of fibers
  /// that failed with EDEADLK. Empty: no thread waits.
  [[nodiscard]] std::string stuck_report() const;
  /// Tells the checkers that no task and no fiber is left to run, so that they examine the state of
  /// all programs. run() calls this function.
  void rest();
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const Scheduler& scheduler() const { return scheduler_; }
  /// Returns the executor for Asio: completions, strands and coroutines in virtual time. Needs
  /// sim/executor.h.
  [[nodiscard]] Executor executor();

  // --- what happened ----------------------------------------------------------------------------
  [[nodiscard]] Trace& trace() { return trace_; }
  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] Faults& faults() { return faults_; }
  [[nodiscard]] const Faults& faults() const { return faults_; }
  /// Returns the choices of the devices whose memory is not strict (docs/memory.md).
  /// The LIDs of the ports of all hosts, in the order in which the hosts were added.
  [[nodiscard]] const verbs::soft::LidList& lids() const { return lids_; }
  [[nodiscard]] MemoryChoices& memory() { return memory_; }
  [[nodiscard]] const MemoryChoices& memory() const { return memory_; }
  /// Null if there is none.
  [[nodiscard]] Monitor* monitor() const { return monitor_.get(); }
  /// Returns the recorder of the world's recording. Null: no recording was requested, or the file
  /// could not be created.
  [[nodiscard]] Recorder* recorder() const { return records_ ? recorder_.get() : nullptr; }
  /// Returns the recorder that passes all events to the recording and to readers such as checkers.
  /// Null: there is neither.
  [[nodiscard]] Recorder* stream() const { return recorder_.get(); }
  /// Null: no coverage is wanted of this run.
  [[nodiscard]] Milestones* milestones() const { return milestones_.get(); }
  /// Returns the finder of mistakes that programs make with memory and queues of the device. Null:
  /// the world does not look for mistakes (WorldOptions::ownership).
  [[nodiscard]] Mistakes* mistakes() const { return mistakes_.get(); }
  /// Returns all packets sent so far as a classic pcap file, which Wireshark reads. Precondition:
  /// WorldOptions::capture.
  [[nodiscard]] std::vector<std::uint8_t> capture() const;
  /// Packets put on the wire so far.
  [[nodiscard]] std::uint64_t packets() const { return packets_; }

 private:
  friend class Faults;
  friend class Flight;
  friend class Host;
  friend class Interfaces;
  friend class Link;
  friend class Neighbours;
  friend class Nic;
  friend class OwnNic;
  friend class Power;
  class Announcement;

  /// The owner of an address.
  struct Owner {
    Host* host = nullptr;
    std::size_t interface = 0;
  };

  void on_choice(const Deviation& choice, const Fiber* fiber) override;
  /// False: the address has an owner.
  [[nodiscard]] bool claim(const Address& address, Host& host, std::size_t interface);
  void disown(const Address& address);
  Host& adopt(std::unique_ptr<Host> host);
  [[nodiscard]] const Owner* owner_of(const AddressKey& address) {
    const Found& last = found_[address.back() % found_.size()];
    return last.owner != nullptr && last.address == address ? last.owner : look_up(address);
  }
  [[nodiscard]] const Owner* look_up(const AddressKey& address);
  [[nodiscard]] Link& link_between(Host& from, Host& to);
  void transmit(Host& from, std::size_t interface, verbs::soft::PacketPtr&& packet);
  /// `from`: the interface that sends.
  void carry(const Owner& from, const Owner& to, verbs::soft::PacketPtr&& packet,
             Duration late = Duration::zero());
  /// Applies the fault plan to a packet, then transmits it as carry() does.
  void carry_or_not(const Owner& from, const Owner& to, verbs::soft::PacketPtr&& packet);
  /// Starts reporting events to the fault plan.
  void watch_events();
  void watch_calls();  ///< of calls
  void watch_gate();   ///< before them
  void flood(const Owner& from, const verbs::soft::Packet& packet);
  /// Returns a copy of a sent packet, addressed to the link of another host.
  [[nodiscard]] verbs::soft::PacketPtr copy_of(const verbs::soft::Packet& packet, const Host& to);
  void look_for_mistakes();
  void end_recording();
  void tell_sent(const Host& from, HostIndex to, verbs::soft::Packet& packet);
  /// Where CutRail is: at the interface.
  void drop_at_rail(Host& at, std::size_t interface, const Host* peer,
                    const verbs::soft::Packet& packet);
  void drop(const Host& at, const Host* peer, DropCause cause, const verbs::soft::Packet& packet);
  void lose_message(const Host& at, const Host* peer);
  void note_disorder();
  [[nodiscard]] Flight& take_flight();
  void land(Flight& flight);
  void announce(Host& from, const Address& address, transport::soft::LinkNumber link);

  std::uint64_t seed_;
  WorldOptions options_;
  verbs::soft::PacketPool pool_;
  Scheduler scheduler_;
  MemoryChoices memory_;
  verbs::soft::LidList lids_;
  JobQueue jobs_{scheduler_};
  std::unique_ptr<ExecutionContext> asio_;
  Trace trace_;
  Capture capture_;
  Faults faults_;
  std::unique_ptr<Monitor> monitor_ = Monitor::make();
  bool records_ = false;
  std::unique_ptr<Milestones> milestones_;
  std::unique_ptr<Recorder> recorder_;  ///< null: nothing is recorded or read
  std::unique_ptr<Mistakes> mistakes_;
  IpReceiver* ip_receiver_ = nullptr;
  std::vector<std::unique_ptr<Host>> hosts_;
  boost::unordered_flat_map<AddressKey, Owner, AddressKeyHash> owners_;
  /// A cache of recent lookups, by the last byte of the address. Cleared when owners change.
  struct Found {
    AddressKey address{};
    const Owner* owner = nullptr;
  };
  std::array<Found, 16> found_{};
  struct NamedStream {
    std::string name;
    std::unique_ptr<RandomStream> stream;
  };
  std::vector<NamedStream> streams_;
  std::vector<std::unique_ptr<Flight>> flights_;  ///< all there ever were
  std::vector<Flight*> spare_flights_;
  std::vector<std::unique_ptr<Announcement>> announcements_;  ///< rare: kept to the end
  std::uint64_t packets_ = 0;
};

/// Returns the attribute id of the CM message (MAD) in a packet; 0: the packet contains none.
[[nodiscard]] std::uint16_t cm_attribute(const verbs::soft::Packet& packet);

}  // namespace anyrdma::sim
