// The state that all parts of one software HCA share: clock and random numbers, tables of objects,
// and the list of QPs that have packets to send. Used inside the runtime's critical section
// (Runtime::enter).
#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "verbs/call_gate.h"
#include "verbs/random.h"
#include "verbs/runtime.h"
#include "verbs/soft/handle_table.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/memory_profile.h"
#include "verbs/soft/memory_table.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/rc_constants.h"
#include "verbs/timer_queue.h"

namespace anyrdma::verbs::soft {

class DelayedEffects;
class NearMemory;
class Ownership;
class Races;
class SoftCq;
class SoftSrq;
struct SoftQp;

enum class QpTimerKind : std::uint8_t {
  kRetransmit,  ///< no acknowledgement within the local ACK timeout
  kReceiverNotReady,
  kOverrun,    ///< the completion queue has overrun: its queue pairs go to ERR
  kModerated,  ///< the event moderation period is over: the completion event is sent
  kEffect,     ///< delayed memory effects are due (DelayedEffects)
  kFetch,      ///< the source of a request is to be read (DelayedEffects)
};
/// The owner and the purpose of a timer.
struct QpTimerTag {
  SoftQp* qp;
  QpTimerKind kind;
  SoftCq* cq = nullptr;  ///< the queue of kOverrun and kModerated, whose timers belong to no QP
};
using QpTimer = Timer<QpTimerTag>;

/// The QPs that have a packet to send, first come, first served. Each QP is in at most one such
/// list, and there only once.
class ReadyList {
 public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  void add(SoftQp& qp);
  void remove(SoftQp& qp);
  [[nodiscard]] SoftQp* take();

 private:
  SoftQp* first_ = nullptr;
  SoftQp* last_ = nullptr;
};

struct Core {
  Runtime& runtime;
  Random& random;
  PacketPool& pool;
  HcaConfig config;
  Hca::Counters counters{};
  HandleTable handles{};  ///< declared before the objects, whose destructors use it
  MemoryTable memory{&handles};
  TimerQueue<QpTimerTag> timers{&runtime.deadlines_moved()};
  const LidTable* lids = nullptr;  ///< null: the LID of a port is its number
  ReadyList ready{};
  ReadyList held{};          ///< QPs that wait for space at their destination
  Outlet* outlet = nullptr;  ///< null: there is always room
  bool lends = false;        ///< payloads may stay in the sender's memory (packet.h)
  LentPackets<OfDevice> lent{};
  std::vector<SoftSrq*> xrc_queues{};  ///< by number - 1; null: no such queue
  HcaObserver* observer = nullptr;     ///< null: none
  Ownership* ownership = nullptr;      ///< null: not checked
  NearMemory* near_memory = nullptr;   ///< null: none
  std::shared_ptr<Races> races{};      ///< null: ThreadSanitizer is not there
  MemoryProfile memory_profile = MemoryProfile::kStrict;
  MemoryChooser* memory_chooser = nullptr;  ///< null: memory is strict
  std::vector<DelayedEffects*> delayed{};   ///< those of all queue pairs

  /// The effects of the QP whose atomic operation has read its memory and not yet written it; null:
  /// no such operation.
  DelayedEffects* in_atomic = nullptr;
  bool removed = false;
  CallGate* gate = nullptr;
  MadeObjects own_made{};
  MadeObjects* made = nullptr;  ///< the host's counters; null: own_made
  const Hca* hca = nullptr;     ///< the device itself, for the state of its ports

  /// Returns the errno with which a call fails before its arguments are checked; 0: the call may
  /// continue.
  [[nodiscard]] int refusal(std::string_view call) const {
    if (removed) return EIO;
    return gate == nullptr ? 0 : gate->on_call(0, call);
  }
  /// Looks up the object that a call is to destroy. If the object was destroyed already, reports
  /// this as a mistake of the program (verbs/misuse.h).
  template <class Object, class Given>
  [[nodiscard]] Result<Object*> find_to_end(std::string_view call, const Given& given) const {
    const Result<Object*> found = handles.find<Object>(given);
    if (!found && handles.is_stale(given.handle)) report_stale(call, Object::kKind, given.handle);
    return found;
  }
  void report_stale(std::string_view call, ObjectKind kind, std::uint32_t handle) const;
  [[nodiscard]] MadeObjects& objects() { return made != nullptr ? *made : own_made; }
  /// Returns the length in bytes of the longest request that posting accepts.
  [[nodiscard]] std::uint64_t longest_request() const {
    return config.late_length_error ? ~std::uint64_t{0} : kMessageBytesMax;
  }
  /// Returns the largest number of payload bytes of a packet that the port can carry.
  [[nodiscard]] std::uint32_t mtu() const { return mtu_bytes(config.active_mtu); }
  [[nodiscard]] static constexpr std::uint32_t mtu_bytes(ibv_mtu mtu) {
    return 128u << static_cast<unsigned>(mtu);
  }
};

/// Publishes in NearMemory (RDMA without packets), if it is used, the access that remote peers have
/// to a region (near_path.cc).
void publish(Core& core, SoftMr& region);
/// Withdraws a region that publish() has published in NearMemory. Call this function before the
/// region changes or is deregistered.
void unpublish(Core& core, SoftMr& region);

}  // namespace anyrdma::verbs::soft
