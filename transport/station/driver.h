// Drives the objects of one process in real time that have no I/O of their own: it provides the
// clock, the lock, and the flow of packets between HCA, transport and packet carrier.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/realtime/epilogue.h"
#include "transport/realtime/progress_thread.h"
#include "transport/realtime/section_lock.h"
#include "transport/soft/transport.h"
#include "transport/station/carrier.h"
#include "verbs/runtime.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/ownership/finding.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/ring.h"

namespace anyrdma::transport::station {

/// The runtime of one process in real time. It has one lock. A thread that holds it cannot be
/// cancelled. leave() does all work that can be done without waiting, on the caller's thread; the
/// progress thread does the rest. While an application polls, it receives packets itself, and peers
/// wake no thread. The progress thread then checks only from time to time, ever less often, whether
/// the application still polls.
class Driver final : public verbs::Runtime,
                     public verbs::soft::Outlet,
                     private Carrier::Receiver,
                     private realtime::ProgressThread::Work {
 public:
  Driver() = default;
  ~Driver() override = default;

  // --- verbs::Runtime ---------------------------------------------------------------------------
  verbs::Instant now() override { return realtime::monotonic_now(); }
  verbs::Duration wall_clock(verbs::Instant instant) override {
    return realtime::wall_clock(instant);
  }
  [[nodiscard]] verbs::Result<std::unique_ptr<verbs::Semaphore>> make_semaphore() override;
  void enter() override;
  void spin() override;
  void leave() override;
  /// Receives packets and runs timers that are due, so that an application that polls needs no
  /// other thread. After a number of empty polls, other threads get the critical section
  /// (verbs::Runtime::enter) and the processor first.
  void progress() override;
  void about_to_wait() override;
  /// Returns the sink's mark; an empty mark if there is no sink.
  Mark mark() override { return sink_ == nullptr ? Mark{} : sink_->mark(); }
  std::string describe(const Mark& mark) override {
    return sink_ == nullptr ? std::string() : sink_->describe(mark);
  }
  void on_owed(const Owed& owed) override {
    if (sink_ != nullptr) sink_->on_owed(owed);
  }
  void on_paid() override {
    if (sink_ != nullptr) sink_->on_paid();
  }
  /// Sets the object that gets reports of mistakes with buffers. Call it before the first object is
  /// made.
  void set_ownership_sink(verbs::soft::OwnershipSink* sink) { sink_ = sink; }

  [[nodiscard]] realtime::Epilogue& epilogue() { return epilogue_; }
  /// Executes `work` once, after this critical section and outside of it, on the thread that leaves
  /// it. Only the work of epilogue() may call it.
  void call_outside(std::function<void()> work) { outside_ = std::move(work); }
  /// Moves all packets and events onward, as leave() does. Call it inside the critical section
  /// (verbs::Runtime::enter), but not from a function that it calls.
  void settle();

  // --- verbs::soft::Outlet ----------------------------------------------------------------------
  [[nodiscard]] bool is_full(wire::Qpn destination) const override {
    return parts_.carrier != nullptr && parts_.carrier->is_full(destination);
  }

  // --- life -------------------------------------------------------------------------------------

  /// Returns the receiver to which the carrier must deliver packets.
  [[nodiscard]] Carrier::Receiver& receiver() { return *this; }
  /// The objects that the driver drives. They must exist until detach().
  struct Parts {
    std::vector<verbs::soft::Hca*> hcas{};
    std::vector<Rail> rails{};  ///< by the numbers of Carrier::rail_of
    soft::SoftTransport* transport = nullptr;
    Carrier* carrier = nullptr;
    Carrier::Receiver* arrivals =
        nullptr;  ///< receives packets before the HCA does; null: the HCA receives them first
  };
  void attach(Parts parts) { parts_ = std::move(parts); }
  /// Replaces the carrier of attach(), and its receiver. Precondition: is_attached().
  void attach(Carrier& carrier, Carrier::Receiver& arrivals) {
    parts_.carrier = &carrier;
    parts_.arrivals = &arrivals;
  }
  /// Drives another HCA in the place of `old`, inside the critical section.
  void replace(const verbs::soft::Hca& old, verbs::soft::Hca& hca) {
    std::ranges::replace(parts_.hcas, &old, &hca);
    for (Rail& rail : parts_.rails) {
      if (rail.hca == &old) rail.hca = &hca;
    }
  }
  /// Passes a packet to the HCA that it is for. Precondition: is_attached().
  void deliver(verbs::Instant now, verbs::soft::PacketPtr packet) {
    const Rail rail = receiver_of(*packet);
    packet->port = rail.port;
    rail.hca->on_packet(now, std::move(packet));
  }
  /// Whether the driver has objects to drive: false before attach() and after retire().
  [[nodiscard]] bool is_attached() const { return parts_.carrier != nullptr; }
  /// Stops driving, so that the driven objects may be destroyed. Call it after retire(), outside
  /// the critical section (verbs::Runtime::enter).
  void detach();
  /// Starts the progress thread.
  [[nodiscard]] verbs::Result<void> start();
  /// Sends queued packets and closes the carrier; later packets are dropped. Ends the progress
  /// thread. Call it outside the critical section (verbs::Runtime::enter).
  void retire();

  // --- fork, in the handlers of pthread_atfork --------------------------------------------------
  void before_fork() { lock_.before_fork(); }
  void after_fork_in_parent() { lock_.after_fork(); }
  /// Call in a forked child. Closes everything that is shared with the parent, without effect on
  /// the parent.
  void after_fork_in_child();

 private:
  void on_packet(verbs::soft::PacketPtr packet) override;
  void on_own_packet(verbs::soft::PacketPtr packet) override { own_.push_back(std::move(packet)); }
  std::optional<verbs::Instant> on_wakeup() override;

  /// The number of polls without a wait after which an application counts as polling all the time.
  /// An application that waits for completion events polls only a few times for each event.
  static constexpr unsigned kPollsUntilAwake = 64;

  [[nodiscard]] Rail receiver_of(const verbs::soft::Packet& packet) const {
    if (parts_.rails.size() == 1 || parts_.carrier == nullptr) return parts_.rails.front();
    return parts_.rails[parts_.carrier->rail_of(packet)];
  }
  /// Whether there is nothing to drive.
  [[nodiscard]] bool idle() const { return parts_.hcas.empty() || parts_.transport == nullptr; }
  [[nodiscard]] verbs::Instant clock();
  bool take_packets();
  bool deliver_own(int& budget);
  /// The end of leave(), with the work of epilogue() and what that work leaves for outside.
  void leave_with_work();
  void run_timers();
  void notice_polling();
  void yield();
  [[nodiscard]] bool still_polled();
  void take_over();
  void rest();
  [[nodiscard]] std::optional<verbs::Instant> next_deadline();
  void ask_for_thread();

  verbs::soft::OwnershipSink* sink_ = nullptr;  ///< null: no findings are wanted
  realtime::SectionLock lock_;
  realtime::Epilogue epilogue_;
  std::function<void()> outside_;  ///< null: there is no work
  Parts parts_;
  std::unique_ptr<realtime::ProgressThread> thread_;
  /// The deadline at which the progress thread will wake up; nullopt: none. The lock guards it.
  std::optional<verbs::Instant> awaited_;
  /// The time to which the progress thread's timer is set.
  std::optional<verbs::Instant> timer_;
  verbs::soft::Ring<verbs::soft::PacketPtr> own_;  ///< packets from this process to itself

  /// The present time, if it was read in this critical section (verbs::Runtime::enter).
  std::optional<verbs::Instant> clock_;
  /// Number of empty polls since something arrived.
  unsigned idle_polls_ = 0;
  std::atomic<bool> yielded_ = false;  ///< a thread has yielded the processor and will poll again

  // Who receives packets: while `awake_` is true, an application that polls; else the progress
  // thread.
  bool awake_ = false;
  /// The next check by the progress thread decides whether the application still polls.
  bool sure_ = false;
  /// Number of times that the application has entered the critical section (verbs::Runtime::enter).
  unsigned entries_ = 0;
  unsigned entries_seen_ = 0;   ///< value of `entries_` at the last check by the progress thread
  unsigned polls_ = 0;          ///< number of all polls
  unsigned polls_at_rest_ = 0;  ///< value of `polls_` when a caller last began or ended to wait
  unsigned polls_seen_ = 0;     ///< value of `polls_` at the last check by the progress thread

  /// Shortest length of the next period in which polls are not relied upon.
  verbs::Duration doubt_{};
  verbs::Instant doubted_until_{};  ///< end of the period in which polls are not relied upon
  verbs::Duration look_pause_{};    ///< time between two checks by the progress thread

  /// While `awake_`: time of the next check by the progress thread.
  verbs::Instant look_at_{};
};

}  // namespace anyrdma::transport::station
