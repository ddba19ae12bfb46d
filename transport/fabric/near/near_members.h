// RDMA without packets to the memory of other processes of a fabric. If a process allows it, the
// requester accesses that process's memory itself, through the kernel, instead of sending requests.
// near_segment.h describes the protocol.
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
  /// Creates the table of this process; `self` and `incarnation` as in the registry. Null if the
  /// system does not permit such access; then all operations use packets. No fork may happen during
  /// the call.
  [[nodiscard]] static std::unique_ptr<NearMembers> create(Slot self, std::uint64_t incarnation);
  /// Precondition: no HCA uses the object any more.
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

  // --- other processes --------------------------------------------------------------------------
  static constexpr std::size_t kGifts = 2;
  /// Returns the descriptors for another process, which replace earlier ones: the table of
  /// permissions, and a description of this process's memory. The caller does not own them. Empty:
  /// none can be created.
  [[nodiscard]] std::vector<int> gifts_for(Slot slot);
  /// Takes the descriptors of another process, which replace earlier ones. Invalid ones have no
  /// effect.
  void on_gifts(Slot slot, std::uint64_t incarnation, realtime::Descriptor segment,
                realtime::Descriptor memory);
  /// The process at that slot has ended: ends the access to its memory, and its access to this
  /// process's memory.
  void on_gone(Slot slot);
  /// Ends all access: no process can access this process's memory any more, and it accesses no
  /// other memory.
  void close();
  /// Call in a forked child: closes everything that belongs to the parent, without effect on the
  /// parent.
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
