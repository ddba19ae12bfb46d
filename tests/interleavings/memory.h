// Memory as C++ promises it and no stronger: a load may read any store that neither coherence nor
// what its thread knows rules out. After the view machines of the literature (Kang and others, "A
// promising semantics for relaxed-memory concurrency", without promises; loom and CDSChecker are
// relatives). What it leaves out: a load never reads a store that is later in program order than
// what depends on it (load buffering), and operations that are not seq_cst among seq_cst ones are
// allowed a little more than the standard allows, never less.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace anyrdma::interleavings {

inline constexpr std::size_t kThreadsMax = 4;

/// One store, in the modification order of its location.
struct Store;

/// What a thread knows, or what a store tells: how far each thread had come, and for each location
/// the oldest store that may still be read.
class Knowledge {
 public:
  void join(const Knowledge& other);
  [[nodiscard]] bool includes(std::size_t thread, std::uint32_t moment) const {
    return moments_[thread] >= moment;
  }
  /// Another moment of a thread's own.
  std::uint32_t advance(std::size_t thread) { return ++moments_[thread]; }
  /// Null: any.
  [[nodiscard]] Store* floor(std::size_t location) const {
    return location < floors_.size() ? floors_[location] : nullptr;
  }
  void raise(std::size_t location, Store* to);
  /// What another may not read any more, without what it has done.
  void raise_all(const Knowledge& other);

 private:
  std::array<std::uint32_t, kThreadsMax> moments_{};
  std::vector<Store*> floors_;
};

struct Store {
  std::uint64_t value = 0;
  std::size_t position = 0;  ///< in the modification order
  bool continued = false;    ///< by a read-modify-write, so no other store comes in between
  Knowledge told;            ///< to who acquires it
};

/// Chooses one of `count` possibilities; 0 is the one without surprises.
using Choose = std::function<std::size_t(std::size_t count)>;

class Memory {
 public:
  explicit Memory(Choose choose) : choose_(std::move(choose)) {}

  /// Which of a thread's operations, at an address of `size` bytes. `now` is what the machine's
  /// memory holds, for a location that nobody has used atomically.
  struct Place {
    std::size_t thread = 0;
    std::uint64_t at = 0;
    std::size_t size = 0;
    std::uint64_t now = 0;
  };
  struct Read {
    std::uint64_t value = 0;
    std::size_t age = 0;  ///< so many later stores there are
  };
  [[nodiscard]] Read load(const Place& place, std::memory_order order);
  void store(const Place& place, std::uint64_t value, std::memory_order order);
  /// `change` gives what is stored for what was read, or nothing: then it was but a load, in
  /// the order `otherwise`.
  using Change = std::function<bool(std::uint64_t& value)>;
  [[nodiscard]] Read modify(const Place& place, const Change& change, std::memory_order order,
                            std::memory_order otherwise);
  void fence(std::size_t thread, std::memory_order order);
  /// The last one in the modification order.
  [[nodiscard]] std::uint64_t last(std::uint64_t at) const;

  /// An access that is not atomic. A description of the other one if nothing orders the two.
  [[nodiscard]] std::string plain(std::size_t thread, std::uint64_t at, std::size_t size,
                                  bool writes);
  /// Races of atomic accesses with those that are not; to be asked after each.
  [[nodiscard]] const std::string& race() const { return race_; }

  /// What a thread knows now, to be told by other ways than memory (the kernel's).
  [[nodiscard]] Knowledge tell(std::size_t thread);
  void hear(std::size_t thread, const Knowledge& told);

 private:
  struct Thread {
    Knowledge known;
    Knowledge read;    ///< what an acquire fence would add
    Knowledge fenced;  ///< what a relaxed store tells
  };
  struct Location {
    std::size_t number = 0;
    std::size_t size = 0;
    std::vector<std::unique_ptr<Store>> stores;
  };
  /// When each thread last used four bytes.
  struct Use {
    std::array<std::uint32_t, kThreadsMax> reads{};
    std::array<std::uint32_t, kThreadsMax> writes{};
    std::array<std::uint32_t, kThreadsMax> atomic_reads{};
    std::array<std::uint32_t, kThreadsMax> atomic_writes{};
  };

  Use& use_of(std::uint64_t cell);
  Location& location(const Place& place);
  void note(const Place& place, bool reads, bool writes);
  [[nodiscard]] std::size_t oldest(const Location& location, std::size_t thread,
                                   std::memory_order order) const;
  void see(Location& location, std::size_t thread, Store& store, std::memory_order order);
  void put(Location& location, std::size_t thread, std::size_t position, std::uint64_t value,
           std::memory_order order, const Store* continues);
  void forget(std::uint64_t at, std::size_t size);

  Choose choose_;
  std::array<Thread, kThreadsMax> threads_;
  Knowledge sequential_;  ///< of all seq_cst operations so far
  std::map<std::uint64_t, Location> locations_;
  std::vector<Location> former_;  ///< overwritten by other accesses; stores are still pointed to
  std::size_t numbers_ = 0;
  static constexpr std::uint64_t kUsesPerPage = 256;
  std::unordered_map<std::uint64_t, std::unique_ptr<std::array<Use, kUsesPerPage>>> uses_;
  std::string race_;
};

}  // namespace anyrdma::interleavings
