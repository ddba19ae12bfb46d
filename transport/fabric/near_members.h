// Memory of the other members of a fabric, without packets: a member maps what the others show and
// does by itself what their responders would do, on their memory where it is shared, else through
// the kernel (process_vm_writev(2)).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/fabric/near_segment.h"
#include "transport/fabric/registry.h"
#include "transport/fabric/shared_pages.h"
#include "transport/fabric/slot.h"
#include "transport/realtime/descriptor.h"
#include "transport/realtime/fork_guard.h"
#include "verbs/soft/near_memory.h"

namespace anyrdma::transport::fabric {

/// Used inside the critical section, except by forks.
class NearMembers final : public verbs::soft::NearMemory, private realtime::ForkGuarded {
 public:
  struct Config {
    /// Registered memory is moved into pages that others map; otherwise all goes through the
    /// kernel.
    bool share_pages = true;
  };
  /// Null where the system does not let us; then all goes by packets. The registry outlives it.
  [[nodiscard]] static std::unique_ptr<NearMembers> create(Registry& registry,
                                                           const Config& config);
  /// No HCA uses it any more. Forks are not held off.
  ~NearMembers() override;
  /// Before the first region: from now on a fork's child gets memory of its own. Forks are held
  /// off.
  void guard_forks();

  // --- verbs::soft::NearMemory ------------------------------------------------------------------
  void set_end(const End& end) override;
  void forget_end(std::uint32_t number) override;
  void add_region(const Region& region) override;
  void forget_region(std::uint32_t key) override;
  void set_open(bool open) override;
  [[nodiscard]] bool write(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                           std::span<const Piece> from) override;
  [[nodiscard]] bool read(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                          std::span<const Piece> to) override;
  [[nodiscard]] std::optional<std::uint64_t> atomic(
      std::uint32_t number, std::uint32_t key, std::uint64_t address,
      const verbs::soft::AtomicRequest& request) override;

  // --- the others -------------------------------------------------------------------------------
  static constexpr std::size_t kGifts = 2;
  /// What every other member is to be given: the segment, and a pidfd.
  [[nodiscard]] std::vector<int> gifts() const { return {fd_.get(), process_.get()}; }
  /// What another member has given; anything else has no effect.
  void on_gifts(Slot slot, std::uint64_t incarnation, realtime::Descriptor segment,
                realtime::Descriptor process);
  /// That process is gone: what it shows counts no more.
  void on_gone(Slot slot);
  /// Leaves: nobody may do anything here any more, and nothing is done elsewhere.
  void close();

  /// How many bytes went through the kernel, and how many did not.
  struct Counters {
    std::uint64_t attached = 0;
    std::uint64_t mapped = 0;
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  struct View;
  struct Link;
  struct Use;
  /// A part of a region, checked; nothing at `at`: private memory of the other process.
  struct Target {
    std::uint8_t* at = nullptr;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
  };
  enum class Direction : std::uint8_t { kWrite, kRead };

  NearMembers(Registry& registry, const Config& config, realtime::Descriptor fd,
              realtime::Descriptor process, NearSegment& segment);

  // --- what others may do here ---
  template <class Record, class Fill>
  void change(Record& record, Fill fill);
  template <class Record>
  void withdraw(Record& record);
  void wait_for_users();
  /// Nobody uses anything until resume().
  void pause();
  void resume();

  // --- what may be done there ---
  [[nodiscard]] Link* link_of(std::uint32_t number);
  [[nodiscard]] bool transfer(Direction direction, std::uint32_t number, std::uint32_t key,
                              std::uint64_t address, std::span<const Piece> pieces);
  [[nodiscard]] bool transfer_piece(Direction direction, Link& link, View& view, Region wanted,
                                    const Piece& piece);
  [[nodiscard]] static bool admit(Link& link, const View& view);
  [[nodiscard]] static const NearRegionRecord* find(Link& link, View& view, const Region& wanted);
  [[nodiscard]] static Target resolve(const NearRegionRecord& record, View& view,
                                      std::uint64_t address, std::uint64_t size);
  [[nodiscard]] bool through_kernel(Direction direction, View& view, const Target& target,
                                    std::uint8_t* here);

  // --- fork ---
  void before_fork() override;
  void after_fork_in_parent() override;
  void after_fork_in_child() override;

  Registry& registry_;
  Config config_;
  realtime::Descriptor fd_;
  realtime::Descriptor process_;  ///< this one
  NearSegment* segment_;
  SharedPages pages_;
  bool open_ = true;  ///< as set_open() said
  bool closed_ = false;
  bool guarded_ = false;
  std::vector<Link> links_;                              ///< by own QPN
  std::vector<std::vector<NearRange>> ranges_;           ///< by a region's index
  std::array<std::unique_ptr<View>, kSlotCount> views_;  ///< by slot
  Counters counters_;
  realtime::Descriptor child_here_;  ///< while forking: the child's end of a pipe ...
  realtime::Descriptor child_done_;  ///< ... which is at its end once the child is done
};

}  // namespace anyrdma::transport::fabric
