// The port records of a fabric's rendezvous file, changed by many processes at once of which none
// waits for another.
//
// A record belongs to one list for ever, that of its port's bucket; lists only grow. Its stamp says
// whose it is, what for, and which of its two copies of the claim counts. Only the owner changes a
// record that is in use: he writes the other copy, and then the stamp. Who reads it reads the
// stamp, the copy, and the stamp again. A record whose owner is dead is freed by whoever meets it,
// by an exchange of the very stamp that he saw.
//
// Whether a claim may be made is settled without a lock: its owner first shows that he tries
// (kTrying), then looks at all others. Of two who try at once at least one sees the other; who sees
// somebody trying takes his own claim back, and tries again a little later, a limited number of
// times (Registry). Whoever stops or dies in between keeps nobody waiting.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "transport/fabric/rendezvous/registry_file.h"
#include "transport/fabric/rendezvous/slot.h"
#include "transport/soft/port_table.h"

namespace anyrdma::transport::fabric {

/// Of an incarnation so many bits count.
inline constexpr std::uint64_t kIncarnationMask = (std::uint64_t{1} << 46) - 1;

enum class PortState : std::uint8_t {
  kFree = 0,
  kTaken,      ///< says nothing yet; of a view: could not be read
  kTrying,     ///< claimed, if nobody has anything against it
  kBound,      ///< claimed
  kListening,  ///< and somebody listens
};

/// What somebody says of a port, copied.
struct PortView {
  std::uint32_t index = 0;
  std::uint64_t stamp = 0;
  PortState state = PortState::kFree;
  Slot owner{};
  std::uint64_t incarnation = 0;  ///< of the owner
  std::uint64_t number = 0;       ///< of the claim: later ones have greater numbers
  soft::Claim claim{};
};

class PortRecords {
 public:
  /// The file outlives it.
  explicit PortRecords(RegistryFile& file) : file_(file) {}

  /// A record of ours (index and stamp are known).
  struct Own {
    std::uint32_t index = 0;
    std::uint64_t stamp = 0;
    std::uint64_t number = 0;  ///< of the claim
  };
  /// A record for that port; nothing: the table or the file system is full.
  [[nodiscard]] std::optional<Own> take(std::uint16_t port, Slot owner);
  /// Says this from now on. False: the record is not ours any more, though nobody could take it.
  bool publish(Own& own, PortState state, std::uint64_t incarnation, const soft::Claim& claim);
  /// No effect unless the record is as it was seen.
  void free(std::uint32_t index, std::uint64_t stamp);

  /// All that is said (kTrying and more) about ports of this one's bucket, until `look` says false;
  /// kTaken: what is said changes too fast to be read.
  void for_each(std::uint16_t port, const std::function<bool(const PortView&)>& look);
  /// Frees all records of owners of whom `dead` says, asked after the record was seen, that no
  /// process that could have written it lives.
  void clear(const std::function<bool(Slot owner)>& dead);

 private:
  [[nodiscard]] std::optional<Own> take_free(std::uint32_t bucket, Slot owner);
  [[nodiscard]] std::uint64_t next_number();
  [[nodiscard]] std::optional<PortView> read(std::uint32_t index);

  RegistryFile& file_;
};

}  // namespace anyrdma::transport::fabric
