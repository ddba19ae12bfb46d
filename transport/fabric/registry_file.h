// The rendezvous file: a table in shared memory that the processes of one fabric keep together. It
// appears with the first of them and goes with the last; what a killed process leaves behind is
// recognised by its lock being free, and reused.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "transport/fabric/config.h"
#include "transport/fabric/error.h"
#include "transport/fabric/slot.h"
#include "transport/realtime/descriptor.h"
#include "transport/soft/port_table.h"
#include "verbs/result.h"

namespace anyrdma::transport::fabric {

/// A live process. Free: pid 0.
struct SlotRecord {
  std::uint32_t pid;  ///< for people who look; never decides anything
  std::uint32_t unused;
  std::uint64_t incarnation;  ///< tells successive owners of one slot apart
};

/// An owned port. Records with equal bucket form a list, in the order of claiming.
struct PortRecord {
  std::uint32_t owner;  ///< slot + 1; 0: free
  std::uint32_t next;   ///< index + 1 in the bucket's or the free list; 0: last
  std::uint32_t listening;
  std::uint32_t unused;
  soft::Claim claim;
};

inline constexpr std::uint32_t kPortBuckets = 4096;
inline constexpr std::uint32_t kPortRecords = 1u << 16;

/// The file, as mapped by all. Changed under the file's lock only.
struct RegistryImage {
  std::atomic<std::uint64_t> magic;  ///< written last when the file is made
  /// Not 0 while lists are being changed: a process killed in between leaves it so, and the next
  /// one rebuilds them.
  std::atomic<std::uint32_t> changing;
  std::uint32_t next_slot;     ///< where the search for a free slot starts
  std::uint64_t incarnations;  ///< handed out so far
  std::uint32_t ports_used;    ///< records below were used at some time
  std::uint32_t ports_ready;   ///< records below have memory behind them
  std::uint32_t free_port;     ///< index + 1; 0: none
  std::uint32_t unused;
  SlotRecord slots[kSlotCount];
  std::uint32_t buckets[kPortBuckets];  ///< index + 1 of the first record; 0: empty
  PortRecord ports[kPortRecords];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::is_trivially_copyable_v<soft::Claim>);

/// Says what the image looks like: another number means another version.
inline constexpr std::uint64_t kRegistryMagic =
    0x616e'7972'646d'6101 ^ (sizeof(RegistryImage) << 8);

/// The file, opened and mapped. Not thread-safe, except that several instances (in one process or
/// in many) exclude each other by lock().
class RegistryFile {
 public:
  /// Opens or makes the file; it comes locked. FabricErrc.
  [[nodiscard]] static verbs::Result<RegistryFile> open(const FabricConfig& config);
  RegistryFile(RegistryFile&& other) noexcept;
  RegistryFile& operator=(RegistryFile&&) = delete;
  ~RegistryFile();

  [[nodiscard]] RegistryImage& image() { return *image_; }
  /// The file's inode number.
  [[nodiscard]] std::uint64_t place() const;

  /// Waits for the lock of the whole file. It is held for microseconds. Locking what this instance
  /// has locked has no effect: one unlock() ends it.
  void lock();
  void unlock();

  /// Takes a slot's own lock, which lasts until give_up() or the end of the process. False:
  /// somebody else lives there.
  [[nodiscard]] bool take(Slot slot);
  void give_up(Slot slot);
  /// Whether another instance holds the slot.
  [[nodiscard]] bool taken(Slot slot) const;
  /// Puts memory behind all port records below `count`. False: none left.
  [[nodiscard]] bool reserve_ports(std::uint32_t count);
  /// Removes the files of this user's other fabrics in that directory whose processes were all
  /// killed: nobody else would.
  static void sweep(const FabricConfig& config);
  /// Removes the file's name, if it still is this file's. Locked.
  void remove();

 private:
  RegistryFile(realtime::Descriptor fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)) {}
  [[nodiscard]] bool is_current() const;
  [[nodiscard]] verbs::Result<void> prepare();
  [[nodiscard]] bool anybody_there() const;

  realtime::Descriptor fd_;
  std::string path_;
  RegistryImage* image_ = nullptr;
};

/// Scope guard of lock and unlock.
class RegistryLock {
 public:
  explicit RegistryLock(RegistryFile& file) : file_(file) { file_.lock(); }
  ~RegistryLock() { file_.unlock(); }
  RegistryLock(const RegistryLock&) = delete;
  RegistryLock& operator=(const RegistryLock&) = delete;

 private:
  RegistryFile& file_;
};

}  // namespace anyrdma::transport::fabric
