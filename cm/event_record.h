// The storage of an event from its upcall by the transport until its acknowledgement. Internal to
// cm.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "verbs/runtime.h"

namespace anyrdma::cm {

class EventPool;
class Id;
struct Membership;

/// The largest size of an event's private data, in bytes: SIDR_REQ's 216 (AF_IB). REP has 196
/// bytes.
inline constexpr std::size_t kPrivateDataBytes = 216;

/// Links an event into the list of unfetched events that an id has (Id::unfetched_).
using ChargedHook = boost::intrusive::list_base_hook<boost::intrusive::tag<struct ChargedTag>>;

/// One event with its private data. Records are reused, and freed together with their pool
/// (EventPool).
struct EventRecord : boost::intrusive::list_base_hook<>, ChargedHook {
  /// The C struct, followed by the pointer to its record.
  struct Raw {
    rdma_cm_event event{};
    EventRecord* owner = nullptr;
  };
  Raw raw;
  EventPool* pool = nullptr;
  /// The id that counts the event as fetched and acknowledged: the listener for CONNECT_REQUEST,
  /// else the event's own id. Null after that id was destroyed without waiting, because the wait
  /// would have been a deadlock.
  Id* charged = nullptr;
  /// The new id of a CONNECT_REQUEST until the application takes it.
  std::unique_ptr<Id> request;
  /// The multicast membership that counts a multicast event, too. Null for other events, and after
  /// the group was left.
  Membership* membership = nullptr;
  ibv_ece ece{};         ///< options that the peer announced (CONNECT_REQUEST, CONNECT_RESPONSE)
  bool fetched = false;  ///< the event was fetched and is not acknowledged
  bool shown = false;    ///< the application has seen the event and must acknowledge it

  /// The program, or the library for it, created the event, not the transport.
  bool own = false;
  verbs::Runtime::Mark fetcher;
  /// Number of the id that counts the event, or did so before it was destroyed.
  std::uint64_t charged_number = 0;
  std::array<std::uint8_t, kPrivateDataBytes> private_data;

  EventRecord();
  ~EventRecord();
  [[nodiscard]] static EventRecord& from(rdma_cm_event* event) {
    return *reinterpret_cast<Raw*>(event)->owner;  // event is Raw's first member
  }
  /// Stores a copy of `data` and points the event at it. For empty data the pointer is null, as in
  /// librdmacm.
  void set_private_data(std::span<const std::uint8_t> data);
};

using EventQueue = boost::intrusive::list<EventRecord>;
using ChargedEvents = boost::intrusive::list<EventRecord, boost::intrusive::base_hook<ChargedHook>,
                                             boost::intrusive::constant_time_size<false>>;

/// The event records of one channel. The pool outlives its channel while fetched events are not
/// acknowledged. Call its functions inside the critical section (verbs::Runtime::enter).
class EventPool {
 public:
  explicit EventPool(verbs::Runtime& runtime) : runtime_(runtime) {}
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  [[nodiscard]] verbs::Runtime& runtime() const { return runtime_; }
  /// Returns a cleared record. Allocates memory only if all earlier records are in use.
  [[nodiscard]] EventRecord& take();
  /// Returns a record to its pool. May delete the pool if its channel was destroyed.
  static void give_back(EventRecord& record);
  /// Called when the channel is destroyed. The pool deletes itself when its last record is
  /// returned, or now if none is in use.
  static void abandon(EventPool* pool);

 private:
  ~EventPool();

  verbs::Runtime& runtime_;
  EventQueue free_;
  std::size_t in_use_ = 0;
  bool abandoned_ = false;
};

}  // namespace anyrdma::cm
