// The port records of a fabric's rendezvous file: each says which process has claimed a port. Many
// processes change them at once, and none waits for another.
//
// A record always stays in the list of its port's hash bucket, and lists only grow. A record's
// stamp contains the owner, the state, and which of the record's two copies of the claim is valid.
// Only the owner changes a record that is in use: it writes the other copy, and then the stamp. A
// reader reads the stamp, the copy, and the stamp again. A process that finds a record of a dead
// owner frees it, by a compare-exchange of the stamp that it has read.
//
// A claim to a port needs no lock. A process first publishes its claim as kTrying, and then reads
// all other records of the port. Of two processes that try at once, at least one sees the other.
// That process withdraws its claim and tries again a little later, a limited number of times
// (Registry). A process that is stopped or killed meanwhile does not make others wait.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "transport/fabric/rendezvous/registry_file.h"
#include "transport/fabric/rendezvous/slot.h"
#include "transport/soft/port_table.h"

namespace anyrdma::transport::fabric {

/// The bits of an incarnation number (Registry::incarnation) that a record stores.
inline constexpr std::uint64_t kIncarnationMask = (std::uint64_t{1} << 46) - 1;

enum class PortState : std::uint8_t {
  kFree = 0,
  kTaken,      ///< the record is taken and states no claim yet; in a PortView: it could not be read
  kTrying,     ///< the port is claimed, unless another process has claimed it
  kBound,      ///< the port is claimed
  kListening,  ///< the port is claimed, and its owner listens
};

/// A copy of one process's record of a port.
struct PortView {
  std::uint32_t index = 0;
  std::uint64_t stamp = 0;
  PortState state = PortState::kFree;
  Slot owner{};
  std::uint64_t incarnation = 0;  ///< incarnation number of the owner (Registry::incarnation)
  std::uint64_t number = 0;       ///< number of the claim; later claims have greater numbers
  soft::Claim claim{};
};

class PortRecords {
 public:
  /// Creates the object. `file` must outlive it.
  explicit PortRecords(RegistryFile& file) : file_(file) {}

  /// A record that this process owns, with the index and the stamp that it knows.
  struct Own {
    std::uint32_t index = 0;
    std::uint64_t stamp = 0;
    std::uint64_t number = 0;  ///< of the claim
  };
  /// Takes a free record for that port. Nothing: the table or the file system is full.
  [[nodiscard]] std::optional<Own> take(std::uint16_t port, Slot owner);
  /// Writes the claim and the state to the record, so that other processes see them. False: another
  /// process has taken the record, which should not happen.
  bool publish(Own& own, PortState state, std::uint64_t incarnation, const soft::Claim& claim);
  /// Frees the record `index`, if its stamp still equals `stamp`.
  void free(std::uint32_t index, std::uint64_t stamp);

  /// Calls `look` with each record of the port that is in state kTrying or above, until it returns
  /// false. A record that changes too fast to be read is passed with state kTaken.
  void for_each(std::uint16_t port, const std::function<bool(const PortView&)>& look);
  /// Frees all records of dead owners. `dead` is called after a record was read, and returns
  /// whether every process that could have written the record is dead.
  void clear(const std::function<bool(Slot owner)>& dead);

 private:
  [[nodiscard]] std::optional<Own> take_free(std::uint32_t bucket, Slot owner);
  [[nodiscard]] std::uint64_t next_number();
  [[nodiscard]] std::optional<PortView> read(std::uint32_t index);

  RegistryFile& file_;
};

}  // namespace anyrdma::transport::fabric
