// One event that was fetched.
#pragma once

#include <rdma/rdma_cma.h>

#include <utility>

#include "tests/conformance/calls.h"

namespace anyrdma::conformance {

/// Acknowledges with its end, if nobody has before. Threads: one at a time.
class Event {
 public:
  Event() = default;
  /// Null: none.
  Event(const Calls& calls, rdma_cm_event* event) : calls_(&calls), event_(event) {}
  Event(Event&& other) noexcept
      : calls_(other.calls_), event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    if (this == &other) return *this;
    ack();
    calls_ = other.calls_;
    event_ = std::exchange(other.event_, nullptr);
    return *this;
  }
  ~Event() { ack(); }

  void ack() {
    if (event_ != nullptr) (void)calls_->cm.ack_cm_event(std::exchange(event_, nullptr));
  }
  [[nodiscard]] const rdma_cm_event& operator*() const { return *event_; }
  [[nodiscard]] const rdma_cm_event* operator->() const { return event_; }
  /// The id on whose behalf it came: the listener's for CONNECT_REQUEST.
  [[nodiscard]] const rdma_cm_id* owner() const {
    return event_->listen_id != nullptr ? event_->listen_id : event_->id;
  }
  /// The new id of a CONNECT_REQUEST; else null.
  [[nodiscard]] rdma_cm_id* request() const {
    return event_->event == RDMA_CM_EVENT_CONNECT_REQUEST ? event_->id : nullptr;
  }

 private:
  const Calls* calls_ = nullptr;
  rdma_cm_event* event_ = nullptr;
};

}  // namespace anyrdma::conformance
