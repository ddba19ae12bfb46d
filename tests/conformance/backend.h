// What a scenario's stage needs of the place where it is performed. One implementation per place:
// the simulator, the fabric between processes, a kernel.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "tests/conformance/calls.h"
#include "tests/conformance/place.h"

namespace anyrdma::conformance {

using Duration = std::chrono::nanoseconds;
/// On the clock of the backend.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

enum class Side : std::uint8_t { kPassive, kActive };  ///< server, client

/// What not every place can do. A scenario names what it needs.
enum class Ability : std::uint8_t {
  kLoss,             ///< lose chosen CM messages
  kDeafNeighbour,    ///< a neighbour that answers, and has no RDMA
  kDeviceEach,       ///< each party has a device, and so a link, of its own
  kIPv6,             ///< the parties have IPv6 addresses
  kRemoveDevice,     ///< unplug a party's device
  kFailOver,         ///< a bonded interface takes another link address
  kMovingNeighbour,  ///< a neighbour whose link address changes
  kMulticast,        ///< groups of one's own
  kEce,              ///< devices that have options to agree upon
  kAtomics,          ///< atomic operations in the peer's memory
  kRereg,            ///< ibv_rereg_mr
  kOnDemand,         ///< memory whose pages come when they are used
  kXrc,              ///< extended connections
  kAtomicWrite,      ///< eight bytes written at once
  kDeviceMemory,     ///< ibv_alloc_dm
  kParentDomains,    ///< ibv_alloc_parent_domain
  kTimestamps,       ///< completions with timestamps
  kModeration,       ///< ibv_modify_cq
  kMinutes,          ///< performances side by side, so that minutes of real time are affordable
};
inline constexpr Ability kLastAbility = Ability::kMinutes;
/// As the matrix words it: "lose chosen CM messages".
[[nodiscard]] std::string_view to_string(Ability ability);
/// "loss".
[[nodiscard]] std::string_view short_name(Ability ability);

/// The CM's messages that can be lost.
enum class Message : std::uint8_t {
  kReq,
  kMra,
  kRej,
  kRep,
  kRtu,
  kDreq,
  kDrep,
  kSidrReq,
  kSidrRep
};
/// "REQ".
[[nodiscard]] std::string_view to_string(Message message);

/// What the client's host hears of Role::kMoving.
enum class NeighbourNews : std::uint8_t {
  kElsewhere,  ///< it has another link address
  kBack,       ///< it has its first one again
  kAgain,      ///< it still has the one that it had
  kForgotten,  ///< nothing is known of it any more
};

/// One performance's surroundings: made before it, destroyed after it.
/// Threads: straight-line scenarios use one; both() may use two more.
class Backend {
 public:
  virtual ~Backend() = default;
  /// The functions of one party, whose calls the next ones on this thread are.
  [[nodiscard]] virtual const Calls& calls(Side side) = 0;
  /// The next event of a channel of that party's, if there is one. Does not wait.
  [[nodiscard]] virtual rdma_cm_event* next_event(Side side, rdma_event_channel* channel);
  /// The channel's descriptor goes, as with the process that had it; the channel itself stays.
  virtual void end(Side side, rdma_event_channel* channel) = 0;
  /// The address of a role; groups and any-addresses are the stage's.
  [[nodiscard]] virtual std::string address(Role role) = 0;
  [[nodiscard]] virtual Instant now() = 0;
  /// Lets time pass until `done()`; false: `patience` was not enough. May be called in both().
  [[nodiscard]] virtual bool wait_until(const std::function<bool()>& done, Duration patience) = 0;
  /// Runs both at once, to their ends. False: they did not end within `patience`; the performance
  /// is over then, and what is left is cancelled or the process ends.
  [[nodiscard]] virtual bool run_both(std::function<void()> server, std::function<void()> client,
                                      Duration patience) = 0;

  // --- abilities; calling one that the backend lacks aborts -------------------------------------
  /// Loses the next `count` messages of a kind that `from` sends; 0: all from now on.
  virtual void lose(Side from, Message message, unsigned count);
  virtual void remove_device(Side side);
  virtual void fail_over(Side side);
  virtual void fail_back(Side side);
  virtual void tell_of_neighbour(NeighbourNews news);
};

/// A wait on it in vain is known at once: EAGAIN. -1: there is no descriptor, and it is anyway.
void make_nonblocking(int fd);

/// A kind of place, by name, as tests and tables refer to it.
struct BackendKind {
  std::string_view name;
  std::set<Ability> abilities;
  /// Waiting costs nothing (virtual time); else slow scenarios run beside the others.
  bool virtual_time = false;
  /// Whether what it shows is the reference: a kernel's.
  bool is_kernel = false;
  /// The same with a newer kernel, of which only what differs is told.
  bool is_newer_kernel = false;
};
/// All kinds, in the order of the matrix.
[[nodiscard]] const std::vector<BackendKind>& backend_kinds();
/// Null: no such kind.
[[nodiscard]] const BackendKind* find_backend_kind(std::string_view name);

/// A test binary links one implementation of the following three.
[[nodiscard]] std::string_view backend_name();
/// Prepares the process, before threads are started. Empty: fine; else why nothing can run here.
[[nodiscard]] std::string prepare_process();
/// `number` is the scenario's, for what must not collide on a shared host.
[[nodiscard]] std::unique_ptr<Backend> make_backend(unsigned number);

}  // namespace anyrdma::conformance
