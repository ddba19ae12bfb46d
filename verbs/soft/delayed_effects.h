// Delayed memory effects of a device with weak memory ordering (docs/memory.md). A real device with
// posted writes acknowledges a WRITE before the processor can see it, reads a source after the
// doorbell, and answers READs in its own order. Here a MemoryChooser chooses a time for each such
// effect. The effect is applied at that time, or earlier if another operation requires it.
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

/// The delayed effects of one queue pair; null in SoftQp if memory is strict. Used inside the
/// critical section.
class DelayedEffects {
 public:
  explicit DelayedEffects(SoftQp& qp);
  ~DelayedEffects();
  DelayedEffects(const DelayedEffects&) = delete;
  DelayedEffects& operator=(const DelayedEffects&) = delete;

  // --- responder --------------------------------------------------------------------------------
  /// Accepts a packet of a WRITE to memory of the region or window of `key`. `first`: the packet
  /// begins a message. False: the memory is not mapped.
  [[nodiscard]] bool write(std::uint8_t* to, std::span<const std::uint8_t> bytes, bool first,
                           std::uint32_t key);
  /// Executes an atomic operation as a read and a later write, as the processor sees it. No other
  /// operation of the device comes between the two. `original` is the value that was read. Returns
  /// a ticket for ready(); 0: the operation is complete. Nullopt: the memory is not mapped.
  [[nodiscard]] std::optional<std::uint32_t> execute(void* at, const AtomicRequest& request,
                                                     std::uint64_t& original);
  /// Accepts a READ of this memory. Returns a ticket for ready() and found(); 0: the memory is read
  /// when the response is sent.
  [[nodiscard]] std::uint32_t read(const std::uint8_t* from, std::uint32_t size);
  /// Whether the response may be sent.
  [[nodiscard]] bool ready(std::uint32_t ticket) const;
  /// Returns the data of a READ, for its whole message; empty: the memory is read when the response
  /// is sent.
  [[nodiscard]] std::span<const std::uint8_t> found(std::uint32_t ticket) const;
  /// Call when the response was sent: the ticket is no longer valid.
  void forget(std::uint32_t ticket) { awaited_.erase(ticket); }
  /// Call when no response will be sent: all tickets become invalid.
  void forget_answers();
  /// Call when a READ was accepted: applies the delayed writes that the READ must see.
  void before_read();
  /// Call for an atomic operation or a completion: applies the delayed writes that must precede it.
  void settle_arrived();

  // --- requester --------------------------------------------------------------------------------
  /// Chooses when the source of a newly posted request is read. Pass the result to fetch_is_due().
  [[nodiscard]] std::uint8_t choose_fetch();
  /// Whether packet `index` of `count` may be built now. If not, the QP is scheduled again at the
  /// chosen time, after its owner's on_fetch().
  [[nodiscard]] bool fetch_is_due(std::uint8_t fetch, std::uint32_t index, std::uint32_t count);
  /// Writes a part of the response to a READ or an atomic operation to the scatter list, as
  /// scatter() does. `first`: the part begins a message.
  [[nodiscard]] ibv_wc_status place(std::span<const ibv_sge> list, std::uint64_t offset,
                                    std::span<const std::uint8_t> data, bool first);
  /// Whether parts of responses are not yet written, or completions behind them not yet reported.
  [[nodiscard]] bool returning() const { return !returning_.empty(); }
  /// Reports a completion once the effects of earlier requests are visible. Precondition:
  /// returning().
  void report_later(const ibv_wc& completion);
  void settle_returned();

  // --- both sides -------------------------------------------------------------------------------
  [[nodiscard]] SoftQp& owner() const { return qp_; }
  void on_timer(QpTimerKind kind, Instant now);
  /// Applies all delayed effects now.
  void settle();
  /// Drops the pending effects of the queue pair. Effects of acknowledged requests still take
  /// place.
  void discard();
  /// Drops all effects without access to memory, which may be unmapped.
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

/// Applies all delayed effects of the device. Call it before the memory of an application changes
/// its owner.
void settle_effects(Core& core);
/// Drops all delayed effects of the device. Call it when the memory of applications may be
/// unmapped.
void drop_effects(Core& core);
/// Marks the bytes of a scatter list as undefined until the request completes: writes a pattern to
/// them, if the MemoryChooser chooses so. No effect if memory is strict.
void blur(Core& core, const ibv_pd* pd, std::span<const ibv_sge> list);

}  // namespace anyrdma::verbs::soft
