// Delayed memory effects of a device with weak memory ordering (docs/memory.md). A real device with
// posted writes acknowledges a WRITE before the processor can see the data. It reads the payload of
// a request after the doorbell, and answers READs in its own order. Here a MemoryChooser chooses a
// time for each such effect. The effect is applied at that time, or earlier if another operation
// requires it.
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

/// The delayed memory effects of one queue pair. If the device's memory is strict, SoftQp has no
/// such object. Used inside the runtime's critical section (Runtime::enter).
class DelayedEffects {
 public:
  explicit DelayedEffects(SoftQp& qp);
  ~DelayedEffects();
  DelayedEffects(const DelayedEffects&) = delete;
  DelayedEffects& operator=(const DelayedEffects&) = delete;

  // --- responder --------------------------------------------------------------------------------

  /// Accepts a packet of a WRITE to memory of the region or window with the key `key`. `first`: the
  /// packet begins a message. Returns false if the memory is not mapped.
  [[nodiscard]] bool write(std::uint8_t* to, std::span<const std::uint8_t> bytes, bool first,
                           std::uint32_t key);
  /// Executes an atomic operation as a read and a later write, as the processor sees it. No other
  /// operation of the device comes between the two. `original` becomes the value that was read.
  /// Returns a number by which ready() tells when the response may be sent; 0: at once. nullopt:
  /// the memory is not mapped.
  [[nodiscard]] std::optional<std::uint32_t> execute(void* at, const AtomicRequest& request,
                                                     std::uint64_t& original);
  /// Accepts a READ of this memory. Returns a number of the response (`ticket`) for ready() and
  /// found(). 0: the memory is read when the response is sent.
  [[nodiscard]] std::uint32_t read(const std::uint8_t* from, std::uint32_t size);
  /// Whether the response with this number may be sent.
  [[nodiscard]] bool ready(std::uint32_t ticket) const;
  /// Returns the data for all packets of the response to a READ; empty: the memory is read when the
  /// response is sent.
  [[nodiscard]] std::span<const std::uint8_t> found(std::uint32_t ticket) const;
  /// Invalidates the number of a response. Call this function when the response was sent.
  void forget(std::uint32_t ticket) { awaited_.erase(ticket); }
  /// Invalidates the numbers of all responses. Call this function when no response will be sent.
  void forget_answers();
  /// Applies the delayed writes that a READ must see. Call this function when a READ was accepted.
  void before_read();
  /// Applies the delayed writes that must precede an atomic operation or a completion. Call this
  /// function before either.
  void settle_arrived();

  // --- requester --------------------------------------------------------------------------------

  /// Chooses when the device reads the payload of a newly posted request. Pass the result to
  /// fetch_is_due().
  [[nodiscard]] std::uint8_t choose_fetch();
  /// Whether packet `index` of `count` of a request may be built now. `fetch`: the result of
  /// choose_fetch(). If false, the QP is scheduled again at the time that was chosen.
  [[nodiscard]] bool fetch_is_due(std::uint8_t fetch, std::uint32_t index, std::uint32_t count);
  /// Writes a part of the response to a READ or an atomic operation to the scatter list, like
  /// scatter(), but perhaps later. `first`: the part begins a message.
  [[nodiscard]] ibv_wc_status place(std::span<const ibv_sge> list, std::uint64_t offset,
                                    std::span<const std::uint8_t> data, bool first);
  /// Whether parts of responses are not yet written, or whether completions that must follow them
  /// are not yet reported.
  [[nodiscard]] bool returning() const { return !returning_.empty(); }
  /// Reports a completion as soon as the effects of earlier requests are visible. Precondition:
  /// returning() is true.
  void report_later(const ibv_wc& completion, const FreedPlaces& frees);
  void settle_returned();

  // --- both sides -------------------------------------------------------------------------------
  [[nodiscard]] SoftQp& owner() const { return qp_; }
  void on_timer(QpTimerKind kind, Instant now);
  /// Applies all delayed effects now.
  void settle();
  /// Drops the pending effects of the queue pair. Effects of requests that were acknowledged are
  /// still applied.
  void discard();
  /// Drops all effects without access to memory. For use when the memory may be unmapped.
  void drop();

 private:
  enum class Kind : std::uint8_t { kStore, kStoreWord, kLoad, kPlace, kComplete };
  struct Effect {
    Instant due;
    Kind kind;
    std::uint8_t* at = nullptr;         // kStore, kStoreWord, kLoad
    std::vector<std::uint8_t> bytes{};  // kStore, kStoreWord, kPlace
    std::uint32_t ticket = 0;           // kStoreWord, kLoad

    // kLoad: offset in the data of a READ; kPlace: offset in the scatter list.
    std::uint64_t offset = 0;
    std::uint32_t size = 0;       // kLoad
    std::vector<ibv_sge> list{};  // kPlace
    ibv_wc completion{};          // kComplete
    FreedPlaces frees{};          // kComplete
  };
  // Sorted by `due`; effects of one instant in the order of acceptance.
  using Effects = std::deque<Effect>;
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
  Instant latest_arrived_{};   // when the effects of the peer's last message are applied
  Instant earlier_arrived_{};  // when the effects of the messages before it are applied
  Instant atomic_{};           // when the last atomic operation is complete
  Instant latest_returned_{};
  Instant earlier_returned_{};
  bool fetching_ = false;
  QpTimer timer_;
  QpTimer fetch_timer_;
};

/// Applies all delayed effects of the device now. Call this function before memory of an
/// application changes its owner.
void settle_effects(Core& core);
/// Drops all delayed effects of the device. Call this function when the memory of applications may
/// be unmapped.
void drop_effects(Core& core);
/// Overwrites the bytes of a scatter list with a pattern, if the MemoryChooser chooses so, because
/// they are undefined until the request completes. No effect if memory is strict.
void blur(Core& core, const ibv_pd* pd, std::span<const ibv_sge> list);

}  // namespace anyrdma::verbs::soft
