// The rendezvous file: a table in shared memory that the processes of one fabric change together.
// The first process creates the file, and the last one removes it. A killed process is recognized
// by its lock, which is free, and its entries are reused.
//
// No process of a fabric waits for another one, which may be stopped, killed or in a debugger:
// - Every process of the fabric holds a shared flock (LOCK_SH) on the rendezvous file. A process
// that wants to remove the file tries the exclusive lock (LOCK_EX), and gives up if that fails.
// - A process that opens the rendezvous file while it is removed retries for half a second. (A
// removal takes microseconds.) Then it uses a file of another name, for which every process looks
// (kSpares).
// - The number (slot) of a process is a lock that processes try and never wait for, and that ends
// with its process.
// - A rendezvous file of zeros is an empty table, so no process has to wait for its initialization.
// - The table changes by single atomic steps, each of which leaves it consistent (port_records.h).
//
// The file system has reserved the table's memory (fallocate), so access never fails even if the
// file system is full. Every index and length that another process may have written is checked.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "transport/fabric/rendezvous/config.h"
#include "transport/fabric/rendezvous/error.h"
#include "transport/fabric/rendezvous/place.h"
#include "transport/fabric/rendezvous/slot.h"
#include "transport/realtime/descriptor.h"
#include "verbs/result.h"

namespace anyrdma::transport::fabric {

/// A process of the fabric. pid 0: no process has this slot.
struct SlotRecord {
  /// The process's id, for people who inspect the file. The software uses only whether it is 0.
  std::atomic<std::uint32_t> pid;
  std::uint32_t unused;
  /// Number that differs between processes that have this slot one after the other.
  std::atomic<std::uint64_t> incarnation;
};

/// The number of words for a claim to a port and the incarnation number of its owner.
inline constexpr std::size_t kClaimWords = 8;

/// A port that a process has claimed: see port_records.h.
struct PortRecord {
  std::atomic<std::uint64_t> stamp;
  /// 1 + index of the next record in the bucket's list; 0: this is the last one.
  std::atomic<std::uint32_t> next;
  std::uint32_t unused;
  std::array<std::array<std::atomic<std::uint64_t>, kClaimWords>, 2> copies;
};

inline constexpr std::uint32_t kPortBuckets = 4096;
inline constexpr std::uint32_t kPortRecords = 1u << 16;

/// The layout of the rendezvous file, which all processes map. The file is so long that it contains
/// all port records that were ever used.
struct RegistryImage {
  std::atomic<std::uint64_t> magic;
  /// Number of incarnation numbers that were assigned so far.
  std::atomic<std::uint64_t> incarnations;
  std::atomic<std::uint64_t> claims;  ///< number of claims that were made or tried so far

  /// The slot that the next process tries first, modulo kSlotCount.
  std::atomic<std::uint32_t> next_slot;
  std::atomic<std::uint32_t> ports_used;  ///< records with a smaller index were used at some time
  SlotRecord slots[kSlotCount];
  /// 1 + index of the first record of each bucket; 0: none.
  std::atomic<std::uint32_t> buckets[kPortBuckets];
  PortRecord ports[kPortRecords];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Identifies the layout of the file. Another version of the software has another number.
inline constexpr std::uint64_t kRegistryMagic =
    0x616e'7972'646d'6103 ^ (sizeof(RegistryImage) << 8);

/// The open and mapped rendezvous file. The file is not removed while a process has it open. Not
/// thread-safe.
class RegistryFile {
 public:
  /// Opens or creates the file. Errors: FabricErrc.
  [[nodiscard]] static verbs::Result<RegistryFile> open(const FabricConfig& config);
  RegistryFile(RegistryFile&& other) noexcept;
  RegistryFile& operator=(RegistryFile&&) = delete;
  /// Closes the file. The last process that leaves removes it; if it was killed, the next process
  /// does.
  ~RegistryFile();

  [[nodiscard]] RegistryImage& image() { return *image_; }
  /// Returns the inode number of the file.
  [[nodiscard]] std::uint64_t place() const;
  /// Returns the directory of the file and of the processes' sockets.
  [[nodiscard]] const Place& directory() const { return *directory_; }
  /// Returns the name of a process's socket without its slot number.
  [[nodiscard]] std::string socket_stem() const;

  /// Locks a slot until give_up() or the end of this process. False: another process has locked it.
  [[nodiscard]] bool take(Slot slot);
  void give_up(Slot slot);
  /// Whether another process has locked the slot, or another membership of this process.
  [[nodiscard]] bool taken(Slot slot) const;
  /// Removes the socket of a slot that this process has taken.
  void remove_socket(Slot slot) const;

  /// Returns the port record with that index. Null: no memory is reserved for it (yet).
  [[nodiscard]] PortRecord* port(std::uint32_t index);
  /// Returns the number of port records that have memory. No list of records is longer than that,
  /// even if its links say so.
  [[nodiscard]] std::uint32_t ports_backed() const;
  /// Reserves memory for all port records below `count`. False: the file system is full.
  [[nodiscard]] bool reserve_ports(std::uint32_t count);

  /// Removes files of this user's other fabrics in that directory if all their processes were
  /// killed.
  void sweep() const;
  /// Closes the file, and removes it if no other process uses it.
  void leave();

 private:
  RegistryFile(realtime::Descriptor fd, std::shared_ptr<const Place> directory, std::string name)
      : fd_(std::move(fd)), directory_(std::move(directory)), name_(std::move(name)) {}
  [[nodiscard]] static verbs::Result<RegistryFile> join_others(const FabricConfig& config);
  [[nodiscard]] static verbs::Result<RegistryFile> join_or_make(const FabricConfig& config);
  [[nodiscard]] static verbs::Result<RegistryFile> enter(
      const std::shared_ptr<const Place>& directory, const std::string& name, uid_t uid);
  [[nodiscard]] verbs::Result<void> prepare();
  [[nodiscard]] verbs::Result<void> replace();
  [[nodiscard]] bool is_current() const;
  [[nodiscard]] std::uint64_t size() const;
  void remove() const;

  realtime::Descriptor fd_;
  std::shared_ptr<const Place> directory_;
  std::string name_;
  RegistryImage* image_ = nullptr;
  /// The file is at least as long as this number of bytes, because it never shrinks.
  std::uint64_t known_size_ = 0;
};

}  // namespace anyrdma::transport::fabric
