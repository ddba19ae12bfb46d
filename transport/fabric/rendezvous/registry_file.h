// The rendezvous file: a table in shared memory that the processes of one fabric keep together. The
// first process creates it and the last one removes it. A killed process is recognised by its free
// lock, and its entries are reused.
//
// No process ever waits for another one, which may be stopped, in a debugger or killed:
//   - Every member holds a shared flock on the file (LOCK_SH). A process that wants to remove the
//     file tries the exclusive lock (LOCK_EX), and gives up if that fails. A process that arrives
//     during a removal, which takes microseconds, retries for half a second. Then it meets the
//     others in a file of another name, for which every process looks (kSpares).
//   - A slot is a lock that is tried and never waited for, and that ends with its process.
//   - A file of zeroes is an empty table, so no process has to wait for its initialisation.
//   - The table changes by single atomic steps, each of which leaves it consistent
//   (port_records.h).
// The file system has promised the table's memory (fallocate), so access never fails on a full one.
// Every index and length that another process may have written is checked.
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

/// A live process; pid 0: the slot is free.
struct SlotRecord {
  std::atomic<std::uint32_t>
      pid;  ///< for people who inspect it; otherwise only zero or not zero matters
  std::uint32_t unused;
  std::atomic<std::uint64_t> incarnation;  ///< tells successive owners of one slot apart
};

/// The number of words for a claim and its owner's incarnation.
inline constexpr std::size_t kClaimWords = 8;

/// An owned port: see port_records.h.
struct PortRecord {
  std::atomic<std::uint64_t> stamp;
  std::atomic<std::uint32_t> next;  ///< index + 1 in the bucket's list; 0: last
  std::uint32_t unused;
  std::array<std::array<std::atomic<std::uint64_t>, kClaimWords>, 2> copies;
};

inline constexpr std::uint32_t kPortBuckets = 4096;
inline constexpr std::uint32_t kPortRecords = 1u << 16;

/// The layout of the file, which all processes map. The file is as long as its port records have
/// been used so far.
struct RegistryImage {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint64_t> incarnations;  ///< handed out so far
  std::atomic<std::uint64_t> claims;        ///< made so far, or tried
  std::atomic<std::uint32_t>
      next_slot;  ///< the slot that the next process tries first, modulo kSlotCount
  std::atomic<std::uint32_t> ports_used;  ///< records below were used at some time
  SlotRecord slots[kSlotCount];
  std::atomic<std::uint32_t> buckets[kPortBuckets];  ///< index + 1 of the first; 0: none
  PortRecord ports[kPortRecords];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Identifies the layout of the file: another version has another number.
inline constexpr std::uint64_t kRegistryMagic =
    0x616e'7972'646d'6103 ^ (sizeof(RegistryImage) << 8);

/// The open and mapped file. While it is open, it is not removed. Not thread-safe.
class RegistryFile {
 public:
  /// Opens or creates the file. Errors: FabricErrc.
  [[nodiscard]] static verbs::Result<RegistryFile> open(const FabricConfig& config);
  RegistryFile(RegistryFile&& other) noexcept;
  RegistryFile& operator=(RegistryFile&&) = delete;
  /// Closes the file. The last process that leaves, or the next process, removes it.
  ~RegistryFile();

  [[nodiscard]] RegistryImage& image() { return *image_; }
  /// Returns the file's inode number.
  [[nodiscard]] std::uint64_t place() const;
  /// Returns the directory of the file and of the processes' sockets.
  [[nodiscard]] const Place& directory() const { return *directory_; }
  /// Returns the name of a process's socket without its slot number.
  [[nodiscard]] std::string socket_stem() const;

  /// Locks a slot until give_up() or the end of the process. False: another process has locked it.
  [[nodiscard]] bool take(Slot slot);
  void give_up(Slot slot);
  /// Whether another process (or another membership of this one) has the slot.
  [[nodiscard]] bool taken(Slot slot) const;
  /// Removes the socket of a slot that this process has taken.
  void remove_socket(Slot slot) const;

  /// Returns the port record of that index; null: no memory is reserved for it (yet).
  [[nodiscard]] PortRecord* port(std::uint32_t index);
  /// Returns the number of port records that have memory. A list of records has no more elements,
  /// even if its links say so.
  [[nodiscard]] std::uint32_t ports_backed() const;
  /// Reserves memory for all port records below `count`. False: the file system is full.
  [[nodiscard]] bool reserve_ports(std::uint32_t count);

  /// Removes the files of this user's other fabrics in that directory whose processes were all
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
  std::uint64_t known_size_ = 0;  ///< the file is at least so long: it never shrinks
};

}  // namespace anyrdma::transport::fabric
