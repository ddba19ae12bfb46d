// One process's membership in a fabric: the process's number (slot), its ports, and the listeners
// of all processes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "transport/fabric/rendezvous/config.h"
#include "transport/fabric/rendezvous/port_records.h"
#include "transport/fabric/rendezvous/registry_file.h"
#include "transport/fabric/rendezvous/slot.h"
#include "transport/soft/port_table.h"
#include "verbs/random.h"
#include "verbs/result.h"

namespace anyrdma::transport::fabric {

/// The kind of a process in a fabric. A fabric has at most one gateway, whose slot is kGatewaySlot;
/// a second one gets FabricErrc::kTooManyProcesses. In a fabric with a gateway no other process
/// gets that slot.
enum class Seat : std::uint8_t { kMember, kGateway };

/// The RDMA ports of the machine, which the processes of one fabric share. No function waits for
/// another process, even if that one is stopped (registry_file.h, port_records.h). A record of a
/// dead owner is removed when it is found. Not thread-safe: call it inside the critical section
/// (verbs::Runtime::enter).
class Registry final : public soft::PortTable {
 public:
  /// Joins the fabric. The process gets the number (slot) after the one that was assigned last, so
  /// that numbers of ended processes are not reused soon. `random` gives the start of each search
  /// for an ephemeral port, and must outlive the registry. If a gateway joins, `random` also gives
  /// the slot of the process that joins next.
  [[nodiscard]] static verbs::Result<std::unique_ptr<Registry>> join(
      const FabricConfig& config, verbs::Random& random, const soft::PortTableConfig& ports = {},
      Seat seat = Seat::kMember);
  /// Leaves the fabric.
  ~Registry() override { leave(); }

  [[nodiscard]] Slot slot() const { return slot_; }
  /// Returns a number that differs between rendezvous files of the same name.
  [[nodiscard]] std::uint64_t place() const { return place_; }
  /// Returns a number that differs between processes that have the same slot one after the other.
  [[nodiscard]] std::uint64_t incarnation() const { return incarnation_; }
  /// Returns the directory of the processes' sockets. It stays open until leave() or abandon().
  [[nodiscard]] const Place& directory() const { return file_->directory(); }
  /// Returns the beginning of the names of all sockets; a name ends with the slot. leave() removes
  /// this process's socket.
  [[nodiscard]] std::string socket_stem() const { return file_->socket_stem(); }

  // --- ports; after leave() or abandon() claims are refused with EADDRNOTAVAIL ------------------
  [[nodiscard]] verbs::Result<Claimed> claim(const soft::Claim& wanted) override;
  [[nodiscard]] verbs::Result<void> listen(soft::ClaimId id) override;
  void update(soft::ClaimId id, const soft::Claim& claim) override;
  void release(soft::ClaimId id) override;

  // --- other processes ---------------------------------------------------------------------------

  /// Returns the process that gets a connection request for `destination` and its port: a listener
  /// on that address, else one on the wildcard address, else one that will refuse the request.
  /// nullopt: no process listens on the port.
  [[nodiscard]] std::optional<Slot> listener(rdma_port_space space,
                                             const soft::Address& destination);
  /// Returns all other live processes of the fabric, in ascending order of their slots.
  [[nodiscard]] std::vector<Slot> others();

  /// Gives up the slot and the ports, and removes the rendezvous file if no other process uses it.
  /// A second call has no effect.
  void leave();
  /// Call in a forked child. Closes the rendezvous file without effect on the parent.
  void abandon() { file_.reset(); }

 private:
  /// The rule by which a claim to a port is checked.
  enum class Rule : std::uint8_t { kBind, kListen, kEphemeral };
  /// A claim of this process, as this process knows it; it is not read from the file.
  struct Own {
    PortRecords::Own record{};
    PortState state = PortState::kBound;
    soft::Claim claim{};
  };

  Registry(RegistryFile file, verbs::Random& random, const soft::PortTableConfig& ports)
      : file_(std::move(file)), random_(random), config_(ports), place_(file_->place()) {}

  [[nodiscard]] RegistryImage& image() { return file_->image(); }
  [[nodiscard]] bool take_slot(bool has_gateway, Seat seat);
  [[nodiscard]] bool settle(Slot slot);
  [[nodiscard]] bool alive(const PortView& port);
  void bury_all();

  [[nodiscard]] Own& own(soft::ClaimId id);
  [[nodiscard]] int conflict(const soft::Claim& wanted, std::uint32_t self, Rule rule);
  [[nodiscard]] bool seems_free(const soft::Claim& wanted);
  [[nodiscard]] verbs::Result<Claimed> claim_ephemeral(soft::Claim wanted);
  [[nodiscard]] verbs::Result<Claimed> add(const soft::Claim& claim, Rule rule);
  [[nodiscard]] int try_to_add(const soft::Claim& claim, Rule rule, Claimed& claimed);
  [[nodiscard]] int try_to_listen(Own& mine);
  void pause(unsigned tries);

  std::optional<RegistryFile> file_;
  verbs::Random& random_;
  soft::PortTableConfig config_;
  /// The claims of this process, by their numbers. The index of a record cannot be the key: another
  /// process may free the record, and this process then takes another one.
  std::unordered_map<soft::ClaimId, Own> owned_;
  std::uint64_t claims_ = 0;  ///< made
  Slot slot_{};
  std::uint64_t place_ = 0;
  std::uint64_t incarnation_ = 0;
  std::uint16_t last_ephemeral_ = 0;
};

}  // namespace anyrdma::transport::fabric
