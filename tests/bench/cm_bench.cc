// What cm itself costs, above a transport that does nothing: an id's life, an event's way.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "verbs/testing/fake_provider.h"
#include "verbs/testing/fake_runtime.h"

namespace {

using namespace anyrdma;
using transport::EndpointEvent;

/// Agrees to everything at once.
class IdleEndpoint final : public transport::Endpoint {
 public:
  explicit IdleEndpoint(transport::Binding binding) : binding_(binding) {}
  verbs::Result<void> bind(const sockaddr&) override { return {}; }
  verbs::Result<void> admits(transport::Call) const override { return {}; }
  verbs::Result<void> listen(int) override { return {}; }
  void on_request_fetched() override {}
  verbs::Result<void> resolve_address(const sockaddr*, const sockaddr&,
                                      std::chrono::milliseconds) override {
    return {};
  }
  verbs::Result<void> resolve_route(std::chrono::milliseconds) override { return {}; }
  verbs::Result<void> connect(const transport::ConnectionParameters&) override { return {}; }
  verbs::Result<void> accept(const transport::ConnectionParameters&) override { return {}; }
  verbs::Result<void> establish() override { return {}; }
  verbs::Result<void> reject(std::uint8_t, std::span<const std::uint8_t>) override { return {}; }
  verbs::Result<void> disconnect() override { return {}; }
  verbs::Result<void> notify(ibv_event_type) override { return {}; }
  verbs::Result<transport::QpTransition> qp_transition(ibv_qp_state state) override {
    transport::QpTransition step;
    step.attr.qp_state = state;
    step.mask = IBV_QP_STATE;
    return step;
  }
  verbs::Result<void> set_option(int, int, std::span<const std::uint8_t>) override { return {}; }
  verbs::Result<void> join_multicast(const sockaddr&, transport::MembershipId,
                                     transport::JoinState) override {
    return {};
  }
  verbs::Result<void> leave_multicast(transport::MembershipId) override { return {}; }
  transport::Binding binding() const override { return binding_; }
  const ibv_sa_path_rec* path() const override { return &path_; }
  void set_handler(transport::EndpointHandler&) override {}

 private:
  transport::Binding binding_;
  ibv_sa_path_rec path_{};
};

class IdleTransport final : public transport::Transport {
 public:
  verbs::testing::FakeRuntime& runtime() override { return runtime_; }
  std::span<ibv_device* const> devices() override { return provider_.devices(); }
  verbs::Provider& provider_of(ibv_device*) override { return provider_; }
  ibv_context* context_of(ibv_device*) override { return provider_.context(); }
  verbs::Result<std::unique_ptr<transport::Endpoint>> create_endpoint(
      rdma_port_space, ibv_qp_type, transport::EndpointHandler& handler) override {
    newest_handler = &handler;
    transport::Binding binding;
    binding.verbs = provider_.context();
    return std::unique_ptr<transport::Endpoint>(new IdleEndpoint(binding));
  }
  transport::EndpointHandler* newest_handler = nullptr;

 private:
  verbs::testing::FakeRuntime runtime_;
  verbs::testing::FakeProvider provider_{runtime_};
};

void id_creation_and_destruction(benchmark::State& state) {
  IdleTransport transport;
  auto channel = cm::EventChannel::create(transport).value();
  for ([[maybe_unused]] auto _ : state) {
    auto id = cm::Id::create(*channel, RDMA_PS_TCP, nullptr);
    benchmark::DoNotOptimize(id);
  }
}
BENCHMARK(id_creation_and_destruction);

/// Upcall, fetch and acknowledgement of one event with 196 bytes of private data.
void event_from_upcall_to_acknowledgement(benchmark::State& state) {
  IdleTransport transport;
  auto channel = cm::EventChannel::create(transport).value();
  auto id = cm::Id::create(*channel, RDMA_PS_TCP, nullptr).value();
  const std::array<std::uint8_t, 196> data{};
  sockaddr address{};
  address.sa_family = AF_INET;
  const rdma_conn_param param{};
  (void)id->resolve_addr(nullptr, &address, std::chrono::milliseconds(1)).has_value();
  transport.newest_handler->on_event({RDMA_CM_EVENT_ADDR_RESOLVED, 0, {}, {}});
  (void)channel->try_get().has_value();
  (void)id->resolve_route(std::chrono::milliseconds(1)).has_value();
  transport.newest_handler->on_event({RDMA_CM_EVENT_ROUTE_RESOLVED, 0, {}, {}});
  (void)channel->try_get().has_value();
  if (!id->connect(&param)) state.SkipWithError("the id does not connect");
  const EndpointEvent event{RDMA_CM_EVENT_CONNECT_RESPONSE, 0, {}, data};
  for ([[maybe_unused]] auto _ : state) {
    transport.newest_handler->on_event(event);
    auto fetched = channel->try_get();
    benchmark::DoNotOptimize(fetched);
  }
}
BENCHMARK(event_from_upcall_to_acknowledgement);

}  // namespace
