// The port records of a fabric's rendezvous file. Many processes change them at once, and none
// waits for another.
//
// A record stays in one list, that of its port's hash bucket; lists only grow. A record's stamp
// contains the owner, the state, and which of its two copies of the claim is valid. Only the owner
// changes a record that is in use: it writes the other copy, and then the stamp. A reader reads the
// stamp, the copy, and the stamp again. A process that finds a record of a dead owner frees it, by
// a compare-exchange of the stamp that it read.
//
// Claims need no lock. A process first publishes that it tries (kTrying), then reads all other
// records. Of two that try at once, at least one sees the other; it withdraws its own claim and
// tries again a little later, a limited number of times (Registry). A process that is stopped or
// killed in between does not make others wait.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "transport/fabric/rendezvous/registry_file.h"
#include "transport/fabric/rendezvous/slot.h"
#include "transport/soft/port_table.h"

namespace anyrdma::transport::fabric {

/// The bits of an incarnation number that a record stores.
inline constexpr std::uint64_t kIncarnationMask = (std::uint64_t{1} << 46) - 1;

enum class PortState : std::uint8_t {
  kFree = 0,
  kTaken,      ///< says nothing yet; of a view: could not be read
  kTrying,     ///< claimed, unless another process objects
  kBound,      ///< claimed
  kListening,  ///< and a process listens
};

/// A copy of one process's record of a port.
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
  /// `file` must outlive the object.
  explicit PortRecords(RegistryFile& file) : file_(file) {}

  /// A record of this process, with its known index and stamp.
  struct Own {
    std::uint32_t index = 0;
    std::uint64_t stamp = 0;
    std::uint64_t number = 0;  ///< of the claim
  };
  /// Takes a free record for that port; nothing: the table or the file system is full.
  [[nodiscard]] std::optional<Own> take(std::uint16_t port, Slot owner);
  /// Publishes the record in this state. False: another process has taken the record, which should
  /// not happen.
  bool publish(Own& own, PortState state, std::uint64_t incarnation, const soft::Claim& claim);
  /// Frees the record, if its stamp is unchanged.
  void free(std::uint32_t index, std::uint64_t stamp);

  /// Calls `look` with each record (kTrying and above) of the port's bucket, until it returns
  /// false. kTaken: the record changes too fast to be read.
  void for_each(std::uint16_t port, const std::function<bool(const PortView&)>& look);
  /// Frees all records of dead owners. `dead` is called after the record was read, and returns
  /// whether all processes that could have written it are dead.
  void clear(const std::function<bool(Slot owner)>& dead);

 private:
  [[nodiscard]] std::optional<Own> take_free(std::uint32_t bucket, Slot owner);
  [[nodiscard]] std::uint64_t next_number();
  [[nodiscard]] std::optional<PortView> read(std::uint32_t index);

  RegistryFile& file_;
};

}  // namespace anyrdma::transport::fabric
