// Drives the sans-I/O objects of one process in real time: the clock, the lock, and the flow of
// packets between the HCA, the transport and whatever carries packets to others.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

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

/// One lock per station. While it is held the thread cannot be cancelled. leave() carries out all
/// that can be done without waiting, on the caller's thread; the progress thread does the rest.
/// While an application polls, it reads packets itself and peers wake no thread. The progress
/// thread only checks from time to time, more and more rarely, whether it still polls.
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
  /// Reads packets and runs due timers, so that a polling application needs no other thread. After
  /// a number of empty polls, other threads get the section and the processor first.
  void progress() override;
  void about_to_wait() override;
  /// Empty unless there is a sink.
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
  /// Before the first object is made.
  void set_ownership_sink(verbs::soft::OwnershipSink* sink) { sink_ = sink; }

  [[nodiscard]] realtime::Epilogue& epilogue() { return epilogue_; }
  /// Moves all packets and events onward, as leave() does. Call it in the critical section, and not
  /// from a function that it calls.
  void settle();

  // --- verbs::soft::Outlet ----------------------------------------------------------------------
  [[nodiscard]] bool is_full(wire::Qpn destination) const override {
    return parts_.carrier != nullptr && parts_.carrier->is_full(destination);
  }

  // --- life -------------------------------------------------------------------------------------
  /// Returns the receiver to which the carrier delivers packets.
  [[nodiscard]] Carrier::Receiver& receiver() { return *this; }
  /// The objects that are driven. They must exist until detach().
  struct Parts {
    verbs::soft::Hca* hca = nullptr;
    soft::SoftTransport* transport = nullptr;
    Carrier* carrier = nullptr;
    Carrier::Receiver* arrivals =
        nullptr;  ///< sees received packets before the HCA does; null: the HCA is first
  };
  void attach(const Parts& parts) { parts_ = parts; }
  /// Whether objects are driven: false before attaching and after retire().
  [[nodiscard]] bool is_attached() const { return parts_.carrier != nullptr; }
  /// Stops driving; the parts may then be destroyed. Call it after retire(), outside the section.
  void detach();
  /// Starts the progress thread.
  [[nodiscard]] verbs::Result<void> start();
  /// Sends queued packets and closes the carrier; later packets are dropped. The thread ends. Call
  /// it outside the critical section.
  void retire();

  // --- fork, in the handlers of pthread_atfork --------------------------------------------------
  void before_fork() { lock_.before_fork(); }
  void after_fork_in_parent() { lock_.after_fork(); }
  /// Closes everything shared with the parent, without effect on the parent.
  void after_fork_in_child();

 private:
  void on_packet(verbs::soft::PacketPtr packet) override;
  void on_own_packet(verbs::soft::PacketPtr packet) override { own_.push_back(std::move(packet)); }
  std::optional<verbs::Instant> on_wakeup() override;

  /// The number of polls without a wait after which an application counts as polling all the time:
  /// one that waits for completion events polls a few times per event.
  static constexpr unsigned kPollsUntilAwake = 64;

  [[nodiscard]] verbs::Instant clock();
  bool take_packets();
  bool deliver_own(int& budget);
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
  Parts parts_;
  std::unique_ptr<realtime::ProgressThread> thread_;
  /// The deadline for which the thread will wake up; nullopt: none. Guarded by the lock.
  std::optional<verbs::Instant> awaited_;
  std::optional<verbs::Instant> timer_;            ///< what the thread's timer is set to
  verbs::soft::Ring<verbs::soft::PacketPtr> own_;  ///< from us to us
  std::optional<verbs::Instant> clock_;            ///< when this critical section wanted to know
  unsigned idle_polls_ = 0;                        ///< since something arrived
  std::atomic<bool> yielded_ = false;  ///< somebody polls as soon as it has a processor again
  // Who takes in what arrives: while `awake_`, an application that polls.
  bool awake_ = false;
  bool sure_ = false;          ///< the next look tells
  unsigned entries_ = 0;       ///< of applications into the critical section
  unsigned entries_seen_ = 0;  ///< when the thread looked last
  unsigned polls_ = 0;         ///< all there were
  unsigned polls_at_rest_ =
      0;                     ///< when a caller announced that it would wait, or had stopped waiting
  unsigned polls_seen_ = 0;  ///< when the thread looked last
  verbs::Duration doubt_{};  ///< how long the next one lasts at least
  verbs::Instant doubted_until_{};  ///< till then no poller is relied upon
  verbs::Duration look_pause_{};    ///< between looks of the thread
  verbs::Instant look_at_{};        ///< while awake: when the thread looks again
};

}  // namespace anyrdma::transport::station
