// One id of the system's librdmacm behind the Endpoint interface. It never has a queue pair there:
// cm moves queue pairs, and librdmacm then leaves the handshake's last step to us, too.
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

/// Errors are the kernel's errno values.
///
/// A listener's backlog: the kernel counts a request as waiting until it is fetched, and we fetch
/// at once. So the application's fetches are counted here, too: a request for which there is no
/// room waits, and is offered again whenever somebody leaves the critical section. The peer sees
/// what it sees of a slow server (an MRA answers its repetitions), where the kernel would have
/// dropped the request and let it repeat.
class UcmaEndpoint final : public Endpoint {
 public:
  /// The owner of waiting requests.
  class Host {
   public:
    virtual ~Host() = default;
    /// `listener` has requests waiting; called again after stop_offering only.
    virtual void keep_offering(UcmaEndpoint& listener) = 0;
    virtual void stop_offering(UcmaEndpoint& listener) = 0;
  };

  /// Owns `id` from now on, and its context.
  UcmaEndpoint(const CmFunctions& system, Host& host, rdma_cm_id& id, EndpointHandler* handler);
  ~UcmaEndpoint() override;
  UcmaEndpoint(const UcmaEndpoint&) = delete;
  UcmaEndpoint& operator=(const UcmaEndpoint&) = delete;

  /// The system's kernel decides, in the call itself.
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
  /// Returns the path; null also over iWARP, where TCP chooses the route.
  [[nodiscard]] const ibv_sa_path_rec* path() const override;
  void set_handler(EndpointHandler& handler) override { handler_ = &handler; }

  // --- from the event channel; upcalls ----------------------------------------------------------
  void on_event(const Event& event);
  /// A request for this listener, and the id that librdmacm has made for it.
  void on_request(const Event& event, rdma_cm_id& id);
  /// Offers the requests that wait, oldest first, while the handler has room. False: none waits any
  /// more.
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
  int room_ = 0;  ///< requests that the application may leave unfetched
  std::vector<Joined> groups_;
  std::optional<ibv_sa_path_rec> path_;  ///< as the application brought it
};

}  // namespace anyrdma::transport::ucma
