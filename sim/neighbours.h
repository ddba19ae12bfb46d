// A simulated host's neighbours: their link addresses, and the questions for them.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/address_key.h"
#include "sim/interfaces.h"
#include "transport/soft/network.h"
#include "verbs/result.h"

namespace anyrdma::sim {

/// Resolves addresses for the host's transport and for its processes, as a kernel does with ARP and
/// neighbour discovery. Interfaces are numbered from 1 (interface_number()).
class Neighbours {
 public:
  explicit Neighbours(Host& host);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  /// Probes a neighbour's link address again, as a kernel does about every minute, and removes the
  /// neighbour if there is no answer. ENOENT: unknown neighbour.
  [[nodiscard]] Result<void> confirm(std::string_view address);
  /// Removes a neighbour, as `ip neighbour del` does: the next connection resolves it again. Both
  /// this function and confirm() send UNREACHABLE to the ids that know another link address of the
  /// neighbour. ENOENT: unknown neighbour.
  [[nodiscard]] Result<void> forget(std::string_view address);

  /// Asks for the link address of a neighbour, as the host's own programs do. The answer is a call
  /// of Uplink::on_neighbour, inside this call if the neighbour is known. No-op if the host is
  /// powered off. `interface`: its number from 0. Precondition: the interface has an uplink.
  void ask(std::size_t interface, transport::soft::NeighbourToken token, const Address& neighbour,
           Duration timeout);

  // --- as transport::soft::Network --------------------------------------------------------------

  void resolve(transport::soft::NeighbourToken token, const transport::soft::Route& route,
               std::chrono::milliseconds timeout);
  void cancel(transport::soft::NeighbourToken token);
  [[nodiscard]] bool resolve_path(transport::soft::NeighbourToken token,
                                  std::chrono::milliseconds timeout);
  [[nodiscard]] transport::soft::LinkNumber link_of(int interface, const Address& neighbour) const;

  // --- for the host and the world ---------------------------------------------------------------

  /// A neighbour says which link address it has now.
  void on_moved(const Address& neighbour, transport::soft::LinkNumber link);
  /// Forgets all neighbours: the host has lost its power.
  void clear() { known_.clear(); }
  /// Drops all questions: the host has a new kernel.
  void drop_questions();
  /// Answers the questions whose answers came while the host was paused.
  void resume();

 private:
  class Question;

  struct Neighbour {
    int interface = 0;  ///< that leads to it
    transport::soft::LinkNumber link{};
    bool known = true;  ///< false: forgotten, and not found again yet

    bool operator==(const Neighbour&) const = default;
  };
  enum class Asker : bool { kTransport, kUplink };

  [[nodiscard]] const Interface& interface_at(int interface) const;
  void look_for(transport::soft::NeighbourToken token, const Address& neighbour, int interface,
                Duration timeout, Asker asker);
  Question& open(transport::soft::NeighbourToken token, Duration timeout);
  void answer(Question& question);
  void recycle(Question& question);
  /// Whether a probe on an interface reaches the neighbour.
  [[nodiscard]] bool answers(const Address& neighbour, int interface) const;
  void tell(transport::soft::NeighbourToken token, int error, int interface, Asker asker);
  void tell_of(const Address& neighbour, const Neighbour& known);
  [[nodiscard]] Neighbour* find(std::string_view address, Address& found);

  Host& host_;
  boost::unordered_flat_map<AddressKey, Neighbour, AddressKeyHash> known_;
  std::vector<std::unique_ptr<Question>> questions_;  ///< all there ever were
  std::vector<Question*> spare_;
  boost::unordered_flat_map<transport::soft::NeighbourToken, Question*> open_;
};

}  // namespace anyrdma::sim
