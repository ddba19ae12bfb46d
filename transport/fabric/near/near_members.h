// RDMA without packets between processes of a fabric. If a process allows it, the requester
// accesses that process's memory directly, through the kernel, instead of sending packets.
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

/// The direct access of one process to the memory of others. Call all functions inside the critical
/// section (verbs::Runtime::enter). No call waits for another process.
class NearMembers final : public verbs::soft::NearMemory {
 public:
  /// Creates the table in which this process allows access to its memory. `self` and `incarnation`
  /// are those of the Registry. Null: the system does not permit such access, so all operations use
  /// packets. No thread may fork during the call.
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
  /// Returns the descriptors to send to the process with number `slot`; they replace earlier ones.
  /// The first is the table of permissions, the second a description of this process's memory. The
  /// caller does not own them. Empty: no descriptors can be created.
  [[nodiscard]] std::vector<int> gifts_for(Slot slot);
  /// Takes the descriptors that the process with number `slot` has sent; they replace earlier ones.
  /// Invalid descriptors have no effect.
  void on_gifts(Slot slot, std::uint64_t incarnation, realtime::Descriptor segment,
                realtime::Descriptor memory);
  /// Call when the process with number `slot` has ended. Ends the access to its memory, and its
  /// access to this process's memory.
  void on_gone(Slot slot);
  /// Ends all direct access: no process can access this process's memory any more, and this process
  /// accesses no other memory.
  void close();
  /// Call in a forked child. Closes everything that belongs to the parent, without effect on the
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
  bool open_ = true;  ///< the last value passed to set_open()
  bool closed_ = false;
  std::uint64_t grants_ = 0;  ///< number of permissions that were given so far
  std::map<Slot, ProcessMemory> granted_;
  std::vector<Link> links_;                              ///< by own QPN
  std::array<std::unique_ptr<View>, kSlotCount> views_;  ///< by slot
};

}  // namespace anyrdma::transport::fabric
