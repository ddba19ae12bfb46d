#include "transport/testing/mock_transport.h"

#include <arpa/inet.h>

#include "verbs/assert.h"

namespace anyrdma::transport::testing {
namespace {

/// Refuses what arrives for an endpoint that nobody has taken yet.
class NoHandler final : public EndpointHandler {
 public:
  void on_event(const EndpointEvent&) override { CM_ASSERT(false); }
  EndpointHandler* on_connect_request(std::unique_ptr<Endpoint>&, const EndpointEvent&) override {
    return nullptr;
  }
};
NoHandler no_handler;

}  // namespace

MockEndpoint::MockEndpoint(EndpointHandler& handler) : handler_(&handler) {
  ON_CALL(*this, binding).WillByDefault([this] { return bound; });
  ON_CALL(*this, path).WillByDefault([this] { return &route; });
  ON_CALL(*this, qp_transition).WillByDefault([](ibv_qp_state state) {
    QpTransition step;
    step.attr.qp_state = state;
    step.mask = IBV_QP_STATE;
    return Result<QpTransition>(step);
  });
}

MockTransport::MockTransport(verbs::Runtime& runtime, verbs::Provider& provider)
    : runtime_(runtime),
      provider_(provider),
      devices_(provider.devices().begin(), provider.devices().end()) {
  ON_CALL(*this, create_endpoint)
      .WillByDefault([this](rdma_port_space, ibv_qp_type, EndpointHandler& handler) {
        return Result<std::unique_ptr<Endpoint>>(make_endpoint(handler));
      });
}

MockTransport::~MockTransport() = default;

std::unique_ptr<MockEndpoint> MockTransport::make_endpoint(EndpointHandler& handler) {
  auto endpoint = std::make_unique<::testing::NiceMock<MockEndpoint>>(handler);
  endpoint->bound = default_binding;
  last_ = endpoint.get();
  return endpoint;
}

void MockTransport::raise(MockEndpoint& endpoint, const EndpointEvent& event) {
  verbs::CriticalSection section(runtime_);
  endpoint.handler().on_event(event);
}

void MockTransport::raise(MockEndpoint& endpoint, rdma_cm_event_type type, int status) {
  raise(endpoint, EndpointEvent{.type = type, .status = status, .conn = {}, .private_data = {}});
}

MockEndpoint* MockTransport::request(MockEndpoint& listener, const rdma_conn_param& conn,
                                     std::span<const std::uint8_t> private_data) {
  return request(listener, {.type = RDMA_CM_EVENT_CONNECT_REQUEST,
                            .status = 0,
                            .conn = conn,
                            .private_data = private_data});
}

MockEndpoint* MockTransport::request(MockEndpoint& listener, const EndpointEvent& event) {
  std::unique_ptr<MockEndpoint> made = make_endpoint(no_handler);
  MockEndpoint* child = made.get();
  std::unique_ptr<Endpoint> endpoint = std::move(made);
  verbs::CriticalSection section(runtime_);
  EndpointHandler* handler = listener.handler().on_connect_request(endpoint, event);
  if (handler == nullptr) return nullptr;
  CM_ASSERT(endpoint == nullptr);
  child->set_handler(*handler);
  return child;
}

Binding resolved_binding(ibv_context* verbs) {
  constexpr std::uint32_t kSource = 0x0a000001;
  constexpr std::uint32_t kDestination = 0x0a000002;
  Binding binding;
  binding.verbs = verbs;
  binding.port_num = 1;
  binding.addr.src_sin = ipv4(kSource, 1025);
  binding.addr.dst_sin = ipv4(kDestination, 7471);
  return binding;
}

sockaddr_in ipv4(std::uint32_t address, std::uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_addr.s_addr = htonl(address);
  result.sin_port = htons(port);
  return result;
}

}  // namespace anyrdma::transport::testing
