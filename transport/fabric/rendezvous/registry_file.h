// The rendezvous file: a table in shared memory that the processes of one fabric keep together. It
// appears with the first of them and goes with the last; what a killed process leaves behind is
// recognised by its lock being free, and reused.
//
// Nobody ever waits for somebody else in here, who may be stopped, in a debugger or about to be
// killed:
//   - Every member holds the file's flock as one of many (LOCK_SH). Whoever wants to remove the
//     file tries to be the only one (LOCK_EX), and gives up where he is not. Who comes while that
//     one is at work, which takes microseconds, looks again for half a second, and then meets the
//     others in a file of another name, for which everybody looks (kSpares).
//   - A slot is a lock that is tried, never waited for, and goes with its process.
//   - A file of zeroes is an empty table: so nobody has to be let finish making one.
//   - What is in the table changes by single atomic steps, each of which leaves it in order
//     (port_records.h).
// The table lies in memory that the file system has promised (fallocate): no full one kills whoever
// touches it. Nothing that another process may have written is an index or a length unchecked.
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
  std::atomic<std::uint32_t> pid;  ///< for people who look; else only whether there is one
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
  std::atomic<std::uint32_t> next_slot;     ///< to be tried next by who joins, modulo kSlotCount
  std::atomic<std::uint32_t> ports_used;    ///< records below were used at some time
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
  /// Leaves everything to the others; in the end the last one of them, or whoever comes then,
  /// removes it.
  ~RegistryFile();

  [[nodiscard]] RegistryImage& image() { return *image_; }
  /// The file's inode number.
  [[nodiscard]] std::uint64_t place() const;
  /// Where it is, and the sockets of its members.
  [[nodiscard]] const Place& directory() const { return *directory_; }
  /// The name of a member's socket, up to its slot.
  [[nodiscard]] std::string socket_stem() const;

  /// Takes a slot's own lock, which lasts until give_up() or the end of the process. False:
  /// somebody else lives there.
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

  /// Removes what this user's other fabrics in that place left whose processes were all killed:
  /// nobody else would.
  void sweep() const;
  /// Ends the use of the file, and removes it if nobody else uses it.
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
