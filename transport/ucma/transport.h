// The kernel's connection manager as a Transport: one event channel of the system's librdmacm for
// all endpoints.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <vector>

#include "transport/transport.h"
#include "transport/ucma/driver.h"
#include "transport/ucma/endpoint.h"
#include "transport/ucma/functions.h"
#include "verbs/provider.h"

namespace anyrdma::transport::ucma {

class UcmaTransport final : public Transport, public Driver::Source, public UcmaEndpoint::Host {
 public:
  /// `provider` implements the contexts that `system` returns.
  UcmaTransport(const CmFunctions& system, verbs::Provider& provider, verbs::Runtime& runtime);
  /// Precondition: no endpoints.
  ~UcmaTransport() override;

  /// Opens the event channel. The errors are the system's.
  [[nodiscard]] Result<void> open();
  /// Returns a descriptor that is readable while events wait.
  [[nodiscard]] int fd() const { return channel_->fd; }
  /// Closes the channel, and with it the kernel's side of all ids; peers see them end. Later calls
  /// on them fail with EBADF. In a child after fork the parent's side stays as it is.
  void close();

  // --- Transport --------------------------------------------------------------------------------
  [[nodiscard]] verbs::Runtime& runtime() override { return runtime_; }
  [[nodiscard]] std::span<ibv_device* const> devices() override;
  [[nodiscard]] verbs::Provider& provider_of(ibv_device*) override { return provider_; }
  [[nodiscard]] ibv_context* context_of(ibv_device* device) override;
  /// EOPNOTSUPP: a queue pair type other than the one that librdmacm gives to the port space.
  [[nodiscard]] Result<std::unique_ptr<Endpoint>> create_endpoint(
      rdma_port_space space, ibv_qp_type type, EndpointHandler& handler) override;

  // --- Driver::Source ---------------------------------------------------------------------------
  void take_events() override;
  void catch_up() override;

 private:
  struct Generation {
    ibv_context** list;  ///< librdmacm's; it keeps the devices open
    std::vector<ibv_device*> devices;
  };
  void dispatch(rdma_cm_event& event);
  void keep_offering(UcmaEndpoint& listener) override;
  void stop_offering(UcmaEndpoint& listener) override;

  const CmFunctions& system_;
  verbs::Provider& provider_;
  verbs::Runtime& runtime_;
  rdma_event_channel* channel_ = nullptr;
  std::vector<UcmaEndpoint*> crowded_;  ///< listeners with requests that wait
  /// The devices each time that they had changed, newest first. Older ones stay, because their
  /// pointers do.
  std::list<Generation> generations_;
};

}  // namespace anyrdma::transport::ucma
