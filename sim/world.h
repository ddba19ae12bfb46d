// The deterministic world: hosts, a network between them, virtual time and seeded random numbers.
// The same program and seed give the same trace, byte for byte, on every compiler and machine.
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
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

class ExecutionContext;
class Executor;
class Milestones;
class Mistakes;
class Recorder;

/// All of a simulation. Single-threaded: belongs to the thread that uses it; other worlds may live
/// in other threads. Objects of programs (event channels, ids, verbs objects) must be destroyed
/// before it. Its destructor cancels the waits of fibers (EDEADLK) and lets them run to their end.
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
  /// Sets both directions between two hosts, for packets sent from now on.
  void set_link(Host& a, Host& b, const LinkOptions& options);
  /// Sets one direction.
  void set_path(Host& from, Host& to, const LinkOptions& options);
  [[nodiscard]] const LinkOptions& path(Host& from, Host& to);
  /// In the order in which they were added.
  [[nodiscard]] const std::vector<std::unique_ptr<Host>>& hosts() const { return hosts_; }
  /// Null, as at the beginning: it is lost. Outlives the world or is set to null before.
  void set_ip_receiver(IpReceiver* receiver) { ip_receiver_ = receiver; }
  /// A stream of random numbers for the test's own use, by name. It does not depend on other
  /// streams. Lives as long as the world.
  [[nodiscard]] RandomStream& random(std::string_view name);
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// The seed, and what it becomes at the schedule's branches: what random streams follow.
  [[nodiscard]] const Seeds& seeds() const { return scheduler_.seeds(); }
  [[nodiscard]] const WorldOptions& options() const { return options_; }

  // --- time -------------------------------------------------------------------------------------
  [[nodiscard]] Instant now() const { return scheduler_.now(); }
  /// Runs until nothing is left that could happen. EDEADLK: fibers that must end still wait then;
  /// stuck_report() says for what. Not to be called from a fiber, nor are the next three.
  [[nodiscard]] Result<void> run();
  /// Runs what happens in the next `duration`; the clock has moved on by that much afterwards.
  void run_for(Duration duration);
  /// Runs until `done()`, which is asked before anything and after everything that happens. False:
  /// the deadline came, or nothing is left that could happen.
  template <class Predicate>
  [[nodiscard]] bool run_until(Predicate&& done, Instant deadline = Scheduler::kNever) {
    const Scheduler::Running running(scheduler_);
    while (!done()) {
      if (!scheduler_.step(deadline)) return false;
    }
    return true;
  }
  /// Reports, a line each, which thread waits for what, since when. After a thread that waits for
  /// acknowledgements come the events that lack them: type, status, when fetched and by which
  /// thread. The last wait for them outside of all fibers that failed with EDEADLK is listed, too.
  /// Empty if no thread waits.
  [[nodiscard]] std::string stuck_report() const;
  /// Nothing is left that could happen: checkers look at what there is. run() calls it.
  void rest();
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const Scheduler& scheduler() const { return scheduler_; }
  /// For Asio: completions, strands and coroutines in virtual time. Needs sim/executor.h.
  [[nodiscard]] Executor executor();

  // --- what happened ----------------------------------------------------------------------------
  [[nodiscard]] Trace& trace() { return trace_; }
  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] Faults& faults() { return faults_; }
  [[nodiscard]] const Faults& faults() const { return faults_; }
  /// The choices of devices whose memory is not strict.
  [[nodiscard]] MemoryChoices& memory() { return memory_; }
  [[nodiscard]] const MemoryChoices& memory() const { return memory_; }
  /// Null if there is none.
  [[nodiscard]] Monitor* monitor() const { return monitor_.get(); }
  /// Null: nothing is recorded, by option or because the file could not be created.
  [[nodiscard]] Recorder* recorder() const { return records_ ? recorder_.get() : nullptr; }
  /// The stream of what happens. Null: it is neither recorded nor read.
  [[nodiscard]] Recorder* stream() const { return recorder_.get(); }
  /// Null: no coverage is wanted of this run.
  [[nodiscard]] Milestones* milestones() const { return milestones_.get(); }
  /// The mistakes of programs with memory and queues of the device. Null: they are not looked for
  /// (WorldOptions::ownership).
  [[nodiscard]] Mistakes* mistakes() const { return mistakes_.get(); }
  /// All packets put on the wire so far as a classic pcap file that Wireshark reads. Precondition:
  /// WorldOptions::capture.
  [[nodiscard]] std::vector<std::uint8_t> capture() const;
  /// Packets put on the wire so far.
  [[nodiscard]] std::uint64_t packets() const { return packets_; }

 private:
  friend class Host;
  friend class Link;
  friend class Flight;
  friend class Faults;
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
  void carry(Host& from, const Owner& to, verbs::soft::PacketPtr&& packet,
             Duration late = Duration::zero());
  /// As carry, after what the fault plan has for this packet.
  void carry_or_not(Host& from, const Owner& to, verbs::soft::PacketPtr&& packet);
  /// Reports events to the fault plan from now on.
  void watch_events();
  void watch_calls();  ///< of calls
  void watch_gate();   ///< before them
  void flood(Host& from, const verbs::soft::Packet& packet);
  /// A copy of a sent packet that is on its way to the link of a host.
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

/// The attribute id of the CM's MAD in a packet; 0 when there is none.
[[nodiscard]] std::uint16_t cm_attribute(const verbs::soft::Packet& packet);

}  // namespace anyrdma::sim
