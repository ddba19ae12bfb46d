// RDMA to the memory of other members of a fabric without packets. If a member allows it, the
// requester itself does, through the kernel, the work of that member's responder. near_segment.h
// describes how.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "transport/fabric/near/near_segment.h"
#include "transport/fabric/near/process_memory.h"
#include "transport/fabric/rendezvous/slot.h"
#include "transport/realtime/descriptor.h"
#include "verbs/soft/near_memory.h"

namespace anyrdma::transport::fabric {

/// Used inside the critical section. No call waits for another process.
class NearMembers final : public verbs::soft::NearMemory {
 public:
  /// Who we are: place and incarnation, as the registry has them. Null where the system does not
  /// let us; then all goes by packets. Forks are held off.
  [[nodiscard]] static std::unique_ptr<NearMembers> create(Slot self, std::uint64_t incarnation);
  /// No HCA uses it any more.
  ~NearMembers() override;

  // --- verbs::soft::NearMemory ------------------------------------------------------------------
  void set_end(const End& end) override;
  void forget_end(std::uint32_t number) override;
  void add_region(const Region& region) override;
  void forget_region(std::uint32_t key) override;
  void set_open(bool open) override;
  void set_awake(bool awake) override;
  [[nodiscard]] bool write(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                           std::span<const Piece> from) override;
  [[nodiscard]] bool read(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                          std::span<const Piece> to) override;
  [[nodiscard]] bool is_awake(std::uint32_t number) const override;

  // --- the others -------------------------------------------------------------------------------
  static constexpr std::size_t kGifts = 2;
  /// The descriptors for another member, in place of earlier ones: the segment, and a description
  /// of our memory. They stay ours. Empty: none can be created.
  [[nodiscard]] std::vector<int> gifts_for(Slot slot);
  /// Takes the descriptors of another member, in place of earlier ones. Invalid ones have no
  /// effect.
  void on_gifts(Slot slot, std::uint64_t incarnation, realtime::Descriptor segment,
                realtime::Descriptor memory);
  /// That process has ended: the memory that it showed, and the memory that it was shown, are no
  /// longer used.
  void on_gone(Slot slot);
  /// Leaves: no member can access this memory any more, and this process accesses no other.
  void close();
  /// In a forked child: lets go of everything that is the parent's, without a trace.
  void abandon();

 private:
  struct View;
  struct Link;
  struct Passage;

  NearMembers(Slot self, std::uint64_t incarnation, realtime::Descriptor fd, NearSegment& segment);

  // --- what others may do here ---
  template <class Record>
  void withdraw(Record& record);
  void interrupt();
  void revoke(Slot slot);

  // --- what may be done there ---
  [[nodiscard]] bool find(std::uint32_t number, std::uint32_t key, std::uint64_t address,
                          std::uint64_t size, std::uint32_t access, Passage& passage);
  [[nodiscard]] static bool meet(Link& link, const View& view);
  [[nodiscard]] static bool look_up(Link& link, const View& view, std::uint32_t key);

  Slot self_;
  realtime::Descriptor fd_;
  NearSegment* segment_;
  bool open_ = true;  ///< as set_open() said
  bool closed_ = false;
  std::uint64_t grants_ = 0;  ///< numbers given so far
  std::map<Slot, ProcessMemory> granted_;
  std::vector<Link> links_;                              ///< by own QPN
  std::array<std::unique_ptr<View>, kSlotCount> views_;  ///< by slot
};

}  // namespace anyrdma::transport::fabric
