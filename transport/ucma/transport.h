// Implements Transport with the kernel's connection manager. All endpoints use one event channel of
// the system's librdmacm.
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
  /// Creates the transport. `provider` implements the contexts that the functions of `system`
  /// return.
  UcmaTransport(const CmFunctions& system, verbs::Provider& provider, verbs::Runtime& runtime);
  /// Precondition: all endpoints are destroyed.
  ~UcmaTransport() override;

  /// Opens the event channel. Errors: the system's errno values.
  [[nodiscard]] Result<void> open();
  /// Returns a descriptor that is readable while events wait.
  [[nodiscard]] int fd() const { return channel_->fd; }
  /// Closes the event channel, and with it the kernel's part of all ids, so that peers see them
  /// end. Later calls on these ids fail with EBADF. In a child after fork, the parent's ids are not
  /// affected.
  void close();

  // --- Transport --------------------------------------------------------------------------------
  [[nodiscard]] verbs::Runtime& runtime() override { return runtime_; }
  [[nodiscard]] std::span<ibv_device* const> devices() override;
  [[nodiscard]] verbs::Provider& provider_of(ibv_device*) override { return provider_; }
  [[nodiscard]] ibv_context* context_of(ibv_device* device) override;
  /// Creates an endpoint. EOPNOTSUPP: the queue pair type is not the one that librdmacm gives to
  /// the port space.
  [[nodiscard]] Result<std::unique_ptr<Endpoint>> create_endpoint(
      rdma_port_space space, ibv_qp_type type, EndpointHandler& handler) override;

  // --- Driver::Source ---------------------------------------------------------------------------
  void take_events() override;
  void catch_up() override;

 private:
  struct Generation {
    ibv_context** list;  ///< librdmacm's list; while it exists, the devices stay open
    std::vector<ibv_device*> devices;
  };
  void dispatch(rdma_cm_event& event);
  void keep_offering(UcmaEndpoint& listener) override;
  void stop_offering(UcmaEndpoint& listener) override;

  const CmFunctions& system_;
  verbs::Provider& provider_;
  verbs::Runtime& runtime_;
  rdma_event_channel* channel_ = nullptr;
  std::vector<UcmaEndpoint*> crowded_;  ///< listeners with requests that wait for room

  /// A list of devices for each time that the devices had changed, newest first. Older lists are
  /// kept, because pointers to them may be in use.
  std::list<Generation> generations_;
};

}  // namespace anyrdma::transport::ucma
