// A GoogleMock transport for tests of cm: each test says what the layers below cm return.
#pragma once

#include <gmock/gmock.h>
#include <rdma/rdma_cma.h>

#include <memory>
#include <ostream>
#include <vector>

#include "transport/transport.h"
#include "verbs/provider.h"
#include "verbs/runtime.h"

namespace anyrdma::transport {

// GoogleMock prints what a mocked call returned.
inline std::ostream& operator<<(std::ostream& out, const QpTransition& step) {
  return out << "transition to " << step.attr.qp_state << ", mask " << step.mask;
}

}  // namespace anyrdma::transport

namespace anyrdma::transport::testing {

/// An endpoint whose calls succeed unless the test says otherwise. qp_transition() returns
/// attributes with only the state.
class MockEndpoint : public Endpoint {
 public:
  explicit MockEndpoint(EndpointHandler& handler);
  ~MockEndpoint() override { destroyed(); }

  MOCK_METHOD(void, destroyed, ());
  MOCK_METHOD(Result<void>, admits, (Call), (const, override));
  MOCK_METHOD(Result<void>, bind, (const sockaddr&), (override));
  MOCK_METHOD(Result<void>, listen, (int), (override));
  MOCK_METHOD(Result<void>, resolve_address,
              (const sockaddr*, const sockaddr&, std::chrono::milliseconds), (override));
  MOCK_METHOD(Result<void>, resolve_route, (std::chrono::milliseconds), (override));
  MOCK_METHOD(Result<void>, connect, (const ConnectionParameters&), (override));
  MOCK_METHOD(Result<void>, accept, (const ConnectionParameters&), (override));
  MOCK_METHOD(Result<void>, establish, (), (override));
  MOCK_METHOD(Result<void>, reject, (std::uint8_t, std::span<const std::uint8_t>), (override));
  MOCK_METHOD(Result<void>, disconnect, (), (override));
  MOCK_METHOD(Result<void>, notify, (ibv_event_type), (override));
  MOCK_METHOD(Result<QpTransition>, qp_transition, (ibv_qp_state), (override));
  MOCK_METHOD(Result<void>, set_option, (int, int, std::span<const std::uint8_t>), (override));
  MOCK_METHOD(Result<void>, join_multicast, (const sockaddr&, MembershipId, JoinState), (override));
  MOCK_METHOD(Result<void>, leave_multicast, (MembershipId), (override));
  MOCK_METHOD(Binding, binding, (), (const, override));
  MOCK_METHOD(const ibv_sa_path_rec*, path, (), (const, override));
  MOCK_METHOD(void, on_request_fetched, (), (override));
  [[nodiscard]] std::string_view state() const override { return stands; }
  [[nodiscard]] bool reports() const override { return tells; }
  void set_handler(EndpointHandler& handler) override { handler_ = &handler; }

  [[nodiscard]] EndpointHandler& handler() { return *handler_; }

  std::string_view stands;  ///< the result of state()
  bool tells = true;        ///< the result of reports()
  Binding bound;            ///< the result of binding()
  ibv_sa_path_rec route{};  ///< the result of path()

 private:
  EndpointHandler* handler_;
};

/// A transport that creates MockEndpoints. Tests call raise() and request() to make upcalls.
class MockTransport : public Transport {
 public:
  /// Creates a transport with one device, the first one of the provider.
  MockTransport(verbs::Runtime& runtime, verbs::Provider& provider);
  ~MockTransport() override;

  verbs::Runtime& runtime() override { return runtime_; }
  std::span<ibv_device* const> devices() override { return devices_; }
  verbs::Provider& provider_of(ibv_device*) override { return provider_; }
  ibv_context* context_of(ibv_device*) override { return default_binding.verbs; }
  MOCK_METHOD(Result<std::unique_ptr<Endpoint>>, create_endpoint,
              (rdma_port_space, ibv_qp_type, EndpointHandler&), (override));

  /// Removes all RDMA devices.
  void remove_devices() { devices_.clear(); }
  /// The binding that every endpoint created from now on returns.
  Binding default_binding;

  /// Returns the endpoint that was created last. It may be destroyed already.
  [[nodiscard]] MockEndpoint& last() { return *last_; }
  /// Delivers an event to an endpoint, inside the critical section (verbs::Runtime::enter).
  void raise(MockEndpoint& endpoint, const EndpointEvent& event);
  void raise(MockEndpoint& endpoint, rdma_cm_event_type type, int status = 0);
  /// Delivers a connection request to a listener. Returns the new endpoint; null: the request was
  /// dropped.
  MockEndpoint* request(MockEndpoint& listener, const EndpointEvent& event);
  MockEndpoint* request(MockEndpoint& listener, const rdma_conn_param& conn = {},
                        std::span<const std::uint8_t> private_data = {});

 private:
  std::unique_ptr<MockEndpoint> make_endpoint(EndpointHandler& handler);

  verbs::Runtime& runtime_;
  verbs::Provider& provider_;
  std::vector<ibv_device*> devices_;
  MockEndpoint* last_ = nullptr;
};

/// Returns a binding as after address resolution: a device, port 1, 10.0.0.1:1025 to 10.0.0.2:7471.
[[nodiscard]] Binding resolved_binding(ibv_context* verbs);
/// Returns an IPv4 socket address. Both arguments are in host byte order.
[[nodiscard]] sockaddr_in ipv4(std::uint32_t address, std::uint16_t port);

}  // namespace anyrdma::transport::testing
