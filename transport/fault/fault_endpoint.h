// An endpoint that injects faults. It is a layer between cm and an endpoint of the transport below,
// and may delay or drop the events of that endpoint.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "transport/fault/fault_transport.h"
#include "transport/transport.h"

namespace anyrdma::fault {

using verbs::Result;

/// A copy of an event. Unlike the original, it stays valid after the upcall.
class StoredEvent {
 public:
  explicit StoredEvent(const transport::EndpointEvent& event);
  /// Returns the event, which is valid as long as this object.
  [[nodiscard]] transport::EndpointEvent view() const;

 private:
  transport::EndpointEvent event_;
  std::vector<std::uint8_t> private_data_;
  std::optional<rdma_ud_param> ud_;
  std::vector<std::uint8_t> ud_data_;
};

class FaultEndpoint final : public transport::Endpoint, private transport::EndpointHandler {
 public:
  /// Creates the endpoint. `handler` is null for the endpoint of a connection request, until cm
  /// accepts the request.
  FaultEndpoint(FaultTransport& owner, transport::EndpointHandler* handler);
  ~FaultEndpoint() override;
  FaultEndpoint(const FaultEndpoint&) = delete;
  FaultEndpoint& operator=(const FaultEndpoint&) = delete;

  /// Sets the endpoint of the transport below. Call it once, before any other function.
  void stand_on(std::unique_ptr<transport::Endpoint> below) { below_ = std::move(below); }
  [[nodiscard]] transport::EndpointHandler& handler_for_below() { return *this; }
  void number(std::uint64_t number) { number_ = number; }

  // --- for FaultTransport -----------------------------------------------------------------------

  /// Returns the next instant at which a delayed event must be delivered; nullopt: no event is
  /// delayed.
  [[nodiscard]] std::optional<verbs::Instant> next_deadline() const;
  void deliver_held(verbs::Instant now);
  [[nodiscard]] bool is_on(const ibv_device* device) const;
  [[nodiscard]] bool is_bound() const { return below_->binding().verbs != nullptr && !removed_; }
  /// Call when a fault has removed the device: delivers DEVICE_REMOVAL and disconnects the peer. No
  /// events follow.
  void remove();
  /// Delivers an event that the transport below has not raised.
  void raise(rdma_cm_event_type type, int status);

  // --- Endpoint ---------------------------------------------------------------------------------
  [[nodiscard]] Result<void> admits(transport::Call call) const override;
  [[nodiscard]] std::string_view state() const override { return below_->state(); }
  [[nodiscard]] bool reports() const override { return below_->reports(); }
  [[nodiscard]] Result<void> bind(const sockaddr& local) override;
  [[nodiscard]] Result<void> listen(int backlog) override;
  void on_request_fetched() override { below_->on_request_fetched(); }
  [[nodiscard]] Result<void> resolve_address(const sockaddr* source, const sockaddr& destination,
                                             std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<void> resolve_route(std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<void> connect(const transport::ConnectionParameters&) override;
  [[nodiscard]] Result<void> accept(const transport::ConnectionParameters&) override;
  [[nodiscard]] Result<void> establish() override;
  [[nodiscard]] Result<void> reject(std::uint8_t reason,
                                    std::span<const std::uint8_t> private_data) override;
  [[nodiscard]] Result<void> disconnect() override;
  [[nodiscard]] Result<void> notify(ibv_event_type event) override;
  [[nodiscard]] Result<transport::QpTransition> qp_transition(ibv_qp_state state) override;
  [[nodiscard]] Result<void> set_option(int level, int option,
                                        std::span<const std::uint8_t> value) override;
  [[nodiscard]] Result<void> join_multicast(const sockaddr& group,
                                            transport::MembershipId membership,
                                            transport::JoinState state) override;
  [[nodiscard]] Result<void> leave_multicast(transport::MembershipId membership) override;
  /// Returns the binding of the endpoint below. After the removal of its device, the binding has no
  /// device, unless DEVICE_REMOVAL was delivered to the id.
  [[nodiscard]] transport::Binding binding() const override;
  [[nodiscard]] const ibv_sa_path_rec* path() const override { return below_->path(); }
  void set_handler(transport::EndpointHandler& handler) override { handler_ = &handler; }

 private:
  /// An event that a fault delays, or that must wait until a delayed event was delivered.
  struct Held {
    StoredEvent event;
    verbs::Instant due{};
    std::unique_ptr<FaultEndpoint> child{};  ///< the new endpoint of a CONNECT_REQUEST
  };

  void on_event(const transport::EndpointEvent& event) override;
  transport::EndpointHandler* on_connect_request(std::unique_ptr<transport::Endpoint>& child,
                                                 const transport::EndpointEvent& event) override;
  void on_state(std::string_view state) override;
  [[nodiscard]] bool must_wait(std::uint64_t id, rdma_cm_event_type type, verbs::Instant& due);
  void keep(Held held);
  /// Delivers the event. False: the event is a connection request, and the listener's backlog is
  /// full.
  [[nodiscard]] bool deliver(Held& held);
  [[nodiscard]] bool offer(std::unique_ptr<FaultEndpoint>& child,
                           const transport::EndpointEvent& event);

  FaultTransport& owner_;
  transport::EndpointHandler* handler_;
  const std::uint64_t serial_;
  std::uint64_t number_ = 0;  ///< the number of the id, as cm counts ids
  std::unique_ptr<transport::Endpoint> below_;
  std::deque<Held> held_;
  bool removed_ = false;
};

}  // namespace anyrdma::fault
