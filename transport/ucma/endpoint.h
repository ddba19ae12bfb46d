// Implements an Endpoint with one id of the system's librdmacm. That id never has a queue pair
// there: cm moves queue pairs, and also makes the last step of the handshake.
#pragma once

#include <rdma/rdma_cma.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "transport/transport.h"
#include "transport/ucma/event.h"
#include "transport/ucma/functions.h"

namespace anyrdma::transport::ucma {

/// An endpoint over the kernel. The errors of its functions are the kernel's errno values.
///
/// The backlog of a listener: the kernel counts a request until it is fetched, and this class
/// fetches it at once. So the class also counts the application's fetches. A request for which
/// there is no room waits here, and is offered again whenever a thread leaves the critical section
/// (verbs::Runtime::enter). The peer sees a slow server, whose MRA answers its repeated REQs. A
/// kernel would drop the request instead.
class UcmaEndpoint final : public Endpoint {
 public:
  /// The interface of the transport, which offers waiting requests again.
  class Host {
   public:
    virtual ~Host() = default;
    /// Call when `listener` has requests that wait. Not called again until stop_offering().
    virtual void keep_offering(UcmaEndpoint& listener) = 0;
    virtual void stop_offering(UcmaEndpoint& listener) = 0;
  };

  /// Creates the endpoint, which owns `id` and its context from now on.
  UcmaEndpoint(const CmFunctions& system, Host& host, rdma_cm_id& id, EndpointHandler* handler);
  ~UcmaEndpoint() override;
  UcmaEndpoint(const UcmaEndpoint&) = delete;
  UcmaEndpoint& operator=(const UcmaEndpoint&) = delete;

  /// Returns success, because the system's kernel decides in the call itself.
  [[nodiscard]] Result<void> admits(Call) const override { return {}; }
  [[nodiscard]] Result<void> bind(const sockaddr& local) override;
  [[nodiscard]] Result<void> listen(int backlog) override;
  void on_request_fetched() override { ++room_; }
  [[nodiscard]] Result<void> resolve_address(const sockaddr* source, const sockaddr& destination,
                                             std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<void> resolve_route(std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<void> connect(const ConnectionParameters&) override;
  [[nodiscard]] Result<void> accept(const ConnectionParameters&) override;
  [[nodiscard]] Result<void> establish() override;
  [[nodiscard]] Result<void> reject(std::uint8_t reason,
                                    std::span<const std::uint8_t> private_data) override;
  [[nodiscard]] Result<void> disconnect() override;
  [[nodiscard]] Result<void> notify(ibv_event_type event) override;
  [[nodiscard]] Result<QpTransition> qp_transition(ibv_qp_state state) override;
  [[nodiscard]] Result<void> set_option(int level, int option,
                                        std::span<const std::uint8_t> value) override;
  [[nodiscard]] Result<void> join_multicast(const sockaddr& group, MembershipId membership,
                                            JoinState state) override;
  [[nodiscard]] Result<void> leave_multicast(MembershipId membership) override;
  [[nodiscard]] Binding binding() const override;
  /// Returns the path. Null also over iWARP, where TCP chooses the route.
  [[nodiscard]] const ibv_sa_path_rec* path() const override;
  void set_handler(EndpointHandler& handler) override { handler_ = &handler; }

  // --- from the event channel; upcalls ----------------------------------------------------------
  void on_event(const Event& event);
  /// Call when a request for this listener has arrived. `id` is the id that librdmacm has made for
  /// it.
  void on_request(const Event& event, rdma_cm_id& id);
  /// Offers the requests that wait, oldest first, while the handler has room. False: no request
  /// waits any more.
  bool offer_again();

 private:
  struct Request {
    Event event;
    std::unique_ptr<UcmaEndpoint> child;
  };
  struct Joined {
    MembershipId membership;
    sockaddr_storage group;
  };
  [[nodiscard]] bool offer(Request& request);
  [[nodiscard]] Result<rdma_conn_param> announce(const ConnectionParameters& parameters);

  const CmFunctions& system_;
  Host& host_;
  rdma_cm_id& id_;
  EndpointHandler* handler_;
  std::deque<Request> waiting_;
  int room_ = 0;  ///< number of further requests that the application may leave unfetched
  std::vector<Joined> groups_;
  std::optional<ibv_sa_path_rec> path_;  ///< the path that the application has set
};

}  // namespace anyrdma::transport::ucma
