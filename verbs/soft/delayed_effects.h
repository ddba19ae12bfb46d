// The delayed memory effects of a device with weak memory. A device with posted writes acknowledges
// a WRITE before the processor can see it, reads a source after the doorbell, and answers READs in
// an order of its own. Here the MemoryChooser chooses a time for each such effect. It is applied
// then, or earlier if something comes that the effect must precede.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "verbs/soft/atomics.h"
#include "verbs/soft/core.h"
#include "verbs/time.h"

namespace anyrdma::verbs::soft {

/// The delayed effects of one queue pair. Its SoftQp owns it; with strict memory it has none. Used
/// inside the critical section.
class DelayedEffects {
 public:
  explicit DelayedEffects(SoftQp& qp);
  ~DelayedEffects();
  DelayedEffects(const DelayedEffects&) = delete;
  DelayedEffects& operator=(const DelayedEffects&) = delete;

  // --- of the responder -------------------------------------------------------------------------
  /// A packet of a WRITE was accepted for this memory, which belongs to the region or window of
  /// `key`. `first`: it begins a message. False: the memory is not there.
  [[nodiscard]] bool write(std::uint8_t* to, std::span<const std::uint8_t> bytes, bool first,
                           std::uint32_t key);
  /// Carries an atomic operation out in two steps for the processor: nothing else of the device's
  /// comes between them. `original` is what was there. Returns what ready() is to be asked for, 0:
  /// it is done. Nullopt: the memory is not there.
  [[nodiscard]] std::optional<std::uint32_t> execute(void* at, const AtomicRequest& request,
                                                     std::uint64_t& original);
  /// A READ of this memory was accepted. Returns what ready() and found() are to be asked for; 0:
  /// it reads when it is answered.
  [[nodiscard]] std::uint32_t read(const std::uint8_t* from, std::uint32_t size);
  /// Whether the answer may leave.
  [[nodiscard]] bool ready(std::uint32_t ticket) const;
  /// The data that a READ has read, for its whole message; empty: it reads when it is answered.
  [[nodiscard]] std::span<const std::uint8_t> found(std::uint32_t ticket) const;
  /// The answer has left.
  void forget(std::uint32_t ticket) { awaited_.erase(ticket); }
  /// No answer will leave.
  void forget_answers();
  /// Call when a READ was accepted: makes the writes visible that it must see.
  void before_read();
  /// Like the function above, for an atomic operation and for a completion.
  void settle_arrived();

  // --- of the requester -------------------------------------------------------------------------
  /// Chooses when the source of a request that is posted now is read, for fetch_is_due().
  [[nodiscard]] std::uint8_t choose_fetch();
  /// Whether packet `index` of `count` may be built. If not, the QP is scheduled in time, after
  /// its owner's on_fetch().
  [[nodiscard]] bool fetch_is_due(std::uint8_t fetch, std::uint32_t index, std::uint32_t count);
  /// Places a piece of a READ's or an atomic operation's answer as scatter() does. `first`: it
  /// begins a message.
  [[nodiscard]] ibv_wc_status place(std::span<const ibv_sge> list, std::uint64_t offset,
                                    std::span<const std::uint8_t> data, bool first);
  /// Whether answers are yet to be placed, or completions behind them to be reported.
  [[nodiscard]] bool returning() const { return !returning_.empty(); }
  /// Reports a completion after the effects of earlier requests are visible. Precondition:
  /// returning().
  void report_later(const ibv_wc& completion);
  void settle_returned();

  // --- of both ----------------------------------------------------------------------------------
  [[nodiscard]] SoftQp& owner() const { return qp_; }
  void on_timer(QpTimerKind kind, Instant now);
  /// Does at once all that is delayed.
  void settle();
  /// Drops the pending effects of the queue pair; effects of acknowledged requests take place
  /// nevertheless.
  void discard();
  /// Forgets all: the memory may be gone.
  void drop();

 private:
  enum class Kind : std::uint8_t { kStore, kStoreWord, kLoad, kPlace, kComplete };
  struct Effect {
    Instant due;
    Kind kind;
    std::uint8_t* at = nullptr;         // kStore, kStoreWord, kLoad
    std::vector<std::uint8_t> bytes{};  // kStore, kStoreWord, kPlace
    std::uint32_t ticket = 0;           // kStoreWord, kLoad
    std::uint64_t offset = 0;           // kLoad: in what was found; kPlace: in the list
    std::uint32_t size = 0;             // kLoad
    std::vector<ibv_sge> list{};        // kPlace
    ibv_wc completion{};                // kComplete
  };
  using Effects = std::deque<Effect>;  // by `due`; those of one instant in the order of acceptance
  struct Awaited {
    std::uint32_t missing = 0;  // effects
    std::vector<std::uint8_t> bytes{};
  };
  struct Piece {
    std::uint64_t begin;
    std::uint64_t end;
    Instant due;
  };

  [[nodiscard]] std::vector<Piece> cut(std::uint64_t address, std::uint64_t size, Instant floor);
  [[nodiscard]] std::vector<Piece> cut_finely(std::uint64_t address, std::uint64_t size,
                                              Instant now, std::uint32_t choice,
                                              std::uint32_t delays);
  void add(Effects& effects, Effect effect);
  void apply(Effect& effect);
  void apply_due(Effects& effects, Instant now);
  void apply_all(Effects& effects) { apply_due(effects, Instant::max()); }
  void finish_one(std::uint32_t ticket);
  void restart_timer();

  SoftQp& qp_;
  Core& core_;
  Effects arrived_;    // stores of the peer's
  Effects serving_;    // loads for its READs
  Effects returning_;  // answers to be placed, completions
  std::map<std::uint32_t, Awaited> awaited_;
  std::uint32_t tickets_ = 0;
  std::uint32_t cuts_ = 0;     // fine ones so far
  Instant latest_arrived_{};   // of what the peer's last message does
  Instant earlier_arrived_{};  // of what those before it do
  Instant atomic_{};           // when the last atomic operation is done
  Instant latest_returned_{};
  Instant earlier_returned_{};
  bool fetching_ = false;
  QpTimer timer_;
  QpTimer fetch_timer_;
};

/// Before memory of an application changes hands: all that is delayed is done.
void settle_effects(Core& core);
/// The memory of applications may be gone.
void drop_effects(Core& core);
/// What these bytes hold is not defined from now on until a completion: a pattern shows it, if the
/// MemoryChooser wants it. Does nothing where memory is strict.
void blur(Core& core, const ibv_pd* pd, std::span<const ibv_sge> list);

}  // namespace anyrdma::verbs::soft
