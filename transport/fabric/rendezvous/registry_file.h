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

/// A live process. Free: pid 0.
struct SlotRecord {
  std::atomic<std::uint32_t>
      pid;  ///< for people who inspect it; otherwise only zero or not zero matters
  std::uint32_t unused;
  std::atomic<std::uint64_t> incarnation;  ///< tells successive owners of one slot apart
};

/// So many words are a claim and its owner's incarnation.
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

/// The file, as mapped by all. It is as long as its port records have been used so far.
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

/// Says what the image looks like: another number means another version.
inline constexpr std::uint64_t kRegistryMagic =
    0x616e'7972'646d'6103 ^ (sizeof(RegistryImage) << 8);

/// The file, opened, mapped and kept from removal. Not thread-safe.
class RegistryFile {
 public:
  /// Opens or makes the file. FabricErrc.
  [[nodiscard]] static verbs::Result<RegistryFile> open(const FabricConfig& config);
  RegistryFile(RegistryFile&& other) noexcept;
  RegistryFile& operator=(RegistryFile&&) = delete;
  /// Leaves the file to the other members; the last one of them, or the next process, removes it.
  ~RegistryFile();

  [[nodiscard]] RegistryImage& image() { return *image_; }
  /// The file's inode number.
  [[nodiscard]] std::uint64_t place() const;
  /// Where it is, and the sockets of its members.
  [[nodiscard]] const Place& directory() const { return *directory_; }
  /// The name of a member's socket, up to its slot.
  [[nodiscard]] std::string socket_stem() const;

  /// Takes a slot's lock, until give_up() or the end of the process. False: another process has it.
  [[nodiscard]] bool take(Slot slot);
  void give_up(Slot slot);
  /// Whether another instance holds the slot.
  [[nodiscard]] bool taken(Slot slot) const;
  /// Removes the socket of a slot that was taken.
  void remove_socket(Slot slot) const;

  /// The port record of that index, if there is memory behind it; null: not (yet).
  [[nodiscard]] PortRecord* port(std::uint32_t index);
  /// So many records at most can be met: a list is not longer, whatever it says.
  [[nodiscard]] std::uint32_t ports_backed() const;
  /// Puts memory behind all port records below `count`. False: none left.
  [[nodiscard]] bool reserve_ports(std::uint32_t count);

  /// Removes files of this user's other fabrics in that directory whose processes were all killed.
  void sweep() const;
  /// Ends the use of the file, and removes it if no other process uses it.
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
