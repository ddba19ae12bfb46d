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

/// Owns one fetched event: acknowledges it when it goes out of scope. Destroying an Id waits for
/// its fetched events, so let an Event go before you destroy its id. A CONNECT_REQUEST owns its new
/// id until take_request(): without it the request is rejected (reason 28) at acknowledgement.
/// Threads: like any value; different events may be acknowledged from any thread.
/// Source: rdma_get_cm_event(3), L/cma.c:rdma_get_cm_event.
class Event {
 public:
  /// An empty event, as after ack().
  Event() = default;
  Event(Event&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  Event& operator=(Event&& other) noexcept;
  ~Event() { ack(); }

  // --- what happened; only before ack() and release() -------------------------------------------
  [[nodiscard]] rdma_cm_event_type type() const { return raw().event; }
  /// 0, a negative errno or a positive reason of the CM, by type (K/cma.c:cma_ib_handler).
  [[nodiscard]] int status() const { return raw().status; }
  /// The id concerned; for CONNECT_REQUEST the new one.
  [[nodiscard]] Id& id() const;
  /// The listener of a CONNECT_REQUEST, null for all others.
  [[nodiscard]] Id* listen_id() const;
  /// Parameters of CONNECT_REQUEST, CONNECT_RESPONSE and the active side's ESTABLISHED.
  [[nodiscard]] const rdma_conn_param& conn() const { return raw().param.conn; }
  /// The parameters of datagram services, and of multicast events, whose private_data is the
  /// context of their join.
  [[nodiscard]] const rdma_ud_param& ud() const { return raw().param.ud; }
  /// Private data of the event, padded with zeros to the fixed length of its message; empty if the
  /// event has none.
  [[nodiscard]] std::span<const std::uint8_t> private_data() const;
  /// The event as C programs see it.
  [[nodiscard]] const rdma_cm_event& raw() const;

  /// The new id of a CONNECT_REQUEST, once; null afterwards and for other types.
  [[nodiscard]] std::unique_ptr<Id> take_request();

  /// Acknowledges now; the event is empty afterwards. Without effect on an empty one.
  void ack();

  // --- the C API's way --------------------------------------------------------------------------
  /// Releases the event, with the id of a CONNECT_REQUEST, as a C struct; ack(rdma_cm_event*)
  /// acknowledges it.
  [[nodiscard]] rdma_cm_event* release();
  /// rdma_ack_cm_event. EINVAL: null, or, as far as that can be seen, acknowledged already: a
  /// misuse that is reported. `event` comes from release() and is invalid afterwards.
  [[nodiscard]] static Result<void> ack(rdma_cm_event* event);

 private:
  friend class EventChannel;
  explicit Event(EventRecord& record) : record_(&record) {}

  EventRecord* record_ = nullptr;
};

}  // namespace anyrdma::cm
