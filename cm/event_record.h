// The storage of an event from the upcall until its acknowledgement. Internal to cm.
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

/// The largest private data of any event: REP, 196 bytes (docs/facts.md, 1). SIDR_REQ's 216 (AF_IB)
/// fit as well.
inline constexpr std::size_t kPrivateDataBytes = 216;

/// Links an event into the unfetched events of the id to which it belongs.
using ChargedHook = boost::intrusive::list_base_hook<boost::intrusive::tag<struct ChargedTag>>;

/// One event with its private data. Records are reused, and freed only with their pool.
struct EventRecord : boost::intrusive::list_base_hook<>, ChargedHook {
  /// The C struct, followed by the pointer to its record.
  struct Raw {
    rdma_cm_event event{};
    EventRecord* owner = nullptr;
  };
  Raw raw;
  EventPool* pool = nullptr;
  /// The id that counts the event as fetched and acknowledged: the listener for CONNECT_REQUEST,
  /// else the event's id. Null after that id was destroyed in a deadlock.
  Id* charged = nullptr;
  /// The id of a CONNECT_REQUEST until it is taken.
  std::unique_ptr<Id> request;
  /// For a multicast event, until its group is left: counts the event for the group as well.
  Membership* membership = nullptr;
  ibv_ece ece{};         ///< as the peer announced it: CONNECT_REQUEST, CONNECT_RESPONSE
  bool fetched = false;  ///< handed out and not acknowledged
  bool shown = false;    ///< to the application, which must acknowledge it
  bool own = false;      ///< not the transport's: the program's, or the library's for it
  verbs::Runtime::Mark fetcher;
  std::uint64_t charged_number = 0;  ///< of the id that it is, or was, charged to
  std::array<std::uint8_t, kPrivateDataBytes> private_data;

  EventRecord();
  ~EventRecord();
  [[nodiscard]] static EventRecord& from(rdma_cm_event* event) {
    return *reinterpret_cast<Raw*>(event)->owner;  // event is Raw's first member
  }
  /// Keeps a copy of `data` and points the event at it; null when it is empty, as librdmacm does.
  void set_private_data(std::span<const std::uint8_t> data);
};

using EventQueue = boost::intrusive::list<EventRecord>;
using ChargedEvents = boost::intrusive::list<EventRecord, boost::intrusive::base_hook<ChargedHook>,
                                             boost::intrusive::constant_time_size<false>>;

/// The records of one channel. Outlives the channel while fetched events are not acknowledged.
/// The pool's functions are called inside the critical section.
class EventPool {
 public:
  explicit EventPool(verbs::Runtime& runtime) : runtime_(runtime) {}
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  [[nodiscard]] verbs::Runtime& runtime() const { return runtime_; }
  /// A cleared record; allocates only when all earlier ones are in use.
  [[nodiscard]] EventRecord& take();
  /// Returns a record to its pool. May delete the pool if its channel was destroyed.
  static void give_back(EventRecord& record);
  /// Called when the channel ends: the pool deletes itself with its last record, perhaps now.
  static void abandon(EventPool* pool);

 private:
  ~EventPool();

  verbs::Runtime& runtime_;
  EventQueue free_;
  std::size_t in_use_ = 0;
  bool abandoned_ = false;
};

}  // namespace anyrdma::cm
