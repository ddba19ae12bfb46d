// An event that was fetched from an EventChannel.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "verbs/result.h"

namespace anyrdma::cm {

using verbs::Result;

class Id;
struct EventRecord;

/// Owns one fetched event, and acknowledges it when it goes out of scope. Destroying an Id waits
/// for its fetched events, so destroy an Event before its id. A CONNECT_REQUEST owns its new id
/// until take_request() is called. If it is not called, acknowledgement rejects the request with
/// reason 28. Threads: different events may be acknowledged in different threads. Source:
/// rdma_get_cm_event(3), L/cma.c:rdma_get_cm_event.
class Event {
 public:
  /// An empty event, as after ack().
  Event() = default;
  Event(Event&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  Event& operator=(Event&& other) noexcept;
  ~Event() { ack(); }

  // --- what happened; only before ack() and release() -------------------------------------------
  [[nodiscard]] rdma_cm_event_type type() const { return raw().event; }
  /// Returns the event's status: 0, a negative errno, or a positive reject reason of the CM, as the
  /// event's type requires (K/cma.c:cma_ib_handler).
  [[nodiscard]] int status() const { return raw().status; }
  /// Returns the id that the event is about; for CONNECT_REQUEST the new id.
  [[nodiscard]] Id& id() const;
  /// Returns the listener of a CONNECT_REQUEST; null for all other events.
  [[nodiscard]] Id* listen_id() const;
  /// Returns the connection parameters of CONNECT_REQUEST, CONNECT_RESPONSE and the active side's
  /// ESTABLISHED.
  [[nodiscard]] const rdma_conn_param& conn() const { return raw().param.conn; }
  /// Returns the parameters of an event of a datagram service or of multicast. For multicast, its
  /// private_data is the context that the application gave to rdma_join_multicast.
  [[nodiscard]] const rdma_ud_param& ud() const { return raw().param.ud; }
  /// Returns the private data of the event, padded with zeros to the fixed length of its CM
  /// message. Empty: the event has none.
  [[nodiscard]] std::span<const std::uint8_t> private_data() const;
  /// Returns the event in the form that C programs use.
  [[nodiscard]] const rdma_cm_event& raw() const;

  /// Returns the new id of a CONNECT_REQUEST on the first call. Null on later calls, and for other
  /// types.
  [[nodiscard]] std::unique_ptr<Id> take_request();

  /// Acknowledges the event now and empties this object. No effect on an empty object.
  void ack();

  // --- the C API's way --------------------------------------------------------------------------

  /// Releases the event, with the id of a CONNECT_REQUEST, as a C struct. Acknowledge it with
  /// ack(rdma_cm_event*).
  [[nodiscard]] rdma_cm_event* release();
  /// Acknowledges an event that release() returned, as rdma_ack_cm_event does. `event` is invalid
  /// afterwards. EINVAL: null, or acknowledged already. The latter is reported as a mistake of the
  /// program, as far as it can be recognized.
  [[nodiscard]] static Result<void> ack(rdma_cm_event* event);

 private:
  friend class EventChannel;
  explicit Event(EventRecord& record) : record_(&record) {}

  EventRecord* record_ = nullptr;
};

}  // namespace anyrdma::cm
