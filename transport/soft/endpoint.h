// The kernel's side of one rdma_cm_id (cma.c, and ucma.c above it), over the CM agent of the device
// it is bound to (cm.c).
#pragma once

#include <infiniband/ib.h>
#include <infiniband/sa.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/soft/address.h"
#include "transport/soft/cma_header.h"
#include "transport/soft/core.h"
#include "transport/soft/state.h"
#include "transport/transport.h"

namespace anyrdma::transport::soft {

/// One multicast group that an endpoint is in.
struct Membership {
  MembershipId id{};
  bool joined = false;  ///< false: joining failed; it waits to be left
  rdma_ud_param group{};
  Address local{};  ///< where the host became a member of the IP group; AF_UNSPEC: it did not
  Address ip_group{};
};

/// The state of datagram endpoints.
struct Datagram {
  std::uint32_t qkey = 0;                 ///< 0: not chosen yet (kernel: cma_set_default_qkey)
  std::vector<Membership> memberships{};  ///< in the order of joining
};

class SoftEndpoint final : public Endpoint, public AttachedHook {
 public:
  SoftEndpoint(Core& core, rdma_port_space space, ibv_qp_type type, EndpointHandler& handler);
  /// The endpoint of a request that `device` took in, with the CM id the agent gave it.
  SoftEndpoint(Core& core, const SoftEndpoint& listener, Device& device, const CmaHeader& header,
               wire::CommId comm_id);
  ~SoftEndpoint() override;

  [[nodiscard]] Result<void> admits(Call call) const override;
  [[nodiscard]] std::string_view state() const override { return to_string(state_); }
  [[nodiscard]] bool reports() const override { return reports_events_; }
  [[nodiscard]] Result<void> bind(const sockaddr& local) override;
  [[nodiscard]] Result<void> listen(int backlog) override;
  void on_request_fetched() override { ++room_; }
  [[nodiscard]] Result<void> resolve_address(const sockaddr* source, const sockaddr& destination,
                                             std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<void> resolve_route(std::chrono::milliseconds timeout) override;
  [[nodiscard]] Result<void> connect(const ConnectionParameters& parameters) override;
  [[nodiscard]] Result<void> accept(const ConnectionParameters& parameters) override;
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
  [[nodiscard]] const ibv_sa_path_rec* path() const override;
  void set_handler(EndpointHandler& handler) override { handler_ = &handler; }

  // --- for the transport ------------------------------------------------------------------------
  /// Delivers the event to the handler, unless the id's state excludes it.
  void raise(const EndpointEvent& event);
  /// For a listener: offers a connection request to the handler. Returns null if the backlog is
  /// full.
  [[nodiscard]] EndpointHandler* offer(std::unique_ptr<Endpoint>& child,
                                       const EndpointEvent& event);
  [[nodiscard]] ibv_qp_type type() const { return type_; }
  /// Returns how many bytes of a request's private data are the CM's header.
  [[nodiscard]] std::size_t header_size() const {
    return source_.family == AF_IB ? 0 : CmaHeader::kSize;
  }
  [[nodiscard]] bool is_wildcard() const { return source_.is_any(); }
  /// Whether a request for `local`, having arrived at `device`, is for this listener
  /// (kernel: cma_match_private_data).
  [[nodiscard]] bool listens_for(const Address& local, const Device& device) const;
  /// The interface of the endpoint may have another link address. Raises ADDR_CHANGE if that
  /// address differs from the one when the endpoint was bound or resolved its address.
  void on_link_changed();
  /// A neighbour may have another link address. Raises UNREACHABLE if the route uses the neighbour
  /// and its address differs from the one when the address was resolved.
  void on_neighbour_changed(const Address& neighbour);
  /// For a listener: returns the service id that it listens on.
  [[nodiscard]] ibcm::ServiceId own_service() const { return service_id(source_.port); }
  /// The neighbour's answer: 0 or an errno.
  void on_neighbour(int error);
  /// The result of a route lookup.
  void on_path(int error);
  /// The peer's answer to SIDR_REQ.
  void on_resolved(const ibcm::SidrRepParameters& reply);
  /// Reports how joining a group ended, unless it was left meanwhile.
  void on_membership(rdma_cm_event_type type, int status, MembershipId membership);
  /// The group was lost: raises MULTICAST_ERROR. False: the endpoint has not joined it.
  bool lose_group(const Address& group);
  void leave_group(const Membership& membership);
  /// Ends the endpoint with the message that a destroy would send. The object stays.
  void on_device_removed();
  /// Drops a connection request without an answer. The agent has removed its CM id already.
  void abandon_request();
  /// Queues an event for the next drain().
  void queue(rdma_cm_event_type type, int status = 0, MembershipId membership = {});

 private:
  [[nodiscard]] ibcm::ServiceId service_id(std::uint16_t port) const;
  [[nodiscard]] rdma_port_space port_space() const;
  // endpoint_address.cc
  [[nodiscard]] Result<void> bind_to(const Address& local);
  [[nodiscard]] Result<void> start_query(std::chrono::milliseconds timeout);
  [[nodiscard]] Result<void> resolve_loopback();
  [[nodiscard]] bool attach_loopback();
  [[nodiscard]] int finish_query();
  [[nodiscard]] Result<void> lose_route(const Admission::NoRoute& failure);
  [[nodiscard]] Claim claim() const;
  void attach(Device& device);
  void update_claim();
  void note_own_link();
  [[nodiscard]] bool routed_to(const Address& neighbour) const;
  void fill_path_record();
  // endpoint_path.cc
  [[nodiscard]] Result<void> set_path(std::span<const std::uint8_t> value);
  // endpoint_connection.cc
  [[nodiscard]] Result<wire::CommId> send_request(const ConnectionParameters& parameters);
  [[nodiscard]] Result<void> send_reply(const ConnectionParameters& parameters);
  // endpoint_datagram.cc
  [[nodiscard]] Result<wire::CommId> send_question(const ConnectionParameters& parameters);
  [[nodiscard]] Result<void> send_answer(const ConnectionParameters& parameters);
  [[nodiscard]] Result<void> choose_qkey();
  [[nodiscard]] bool agree_on_qkey(std::uint32_t qkey);
  void release();
  void enter(State next);
  /// Whether the kernel has a CM id without a connection: that of a listener.
  [[nodiscard]] bool listens_on_device() const {
    return state_ == State::kListen && device_ != nullptr;
  }
  [[nodiscard]] NeighbourToken token() const {
    return NeighbourToken{static_cast<std::uint64_t>(handle_)};
  }

  Core& core_;
  EndpointHandler* handler_;
  Handle handle_;
  rdma_port_space space_;
  ibv_qp_type type_;
  const void* process_;  ///< whose it is: see verbs::Runtime::process
  State state_ = State::kIdle;
  bool is_asking_ = false;      ///< a neighbour or the path service has not answered yet
  bool reports_events_ = true;  ///< kernel: uid; a request's id is mute until its accept succeeded
  int room_ = 0;                ///< requests that may still wait to be fetched
  Device* device_ = nullptr;
  Address source_{};
  Address destination_{};
  Route route_{};
  std::optional<ClaimId> claim_;
  std::optional<wire::CommId> comm_id_;
  std::optional<LinkNumber> own_link_{};  ///< kernel: src_dev_addr; nullopt: of no interface
  LinkNumber peer_link_{};                ///< kernel: dst_dev_addr
  bool active_ = true;  ///< resolves and connects itself; false: made for a request
  wire::Psn psn_;
  ibcm::Path path_{};
  std::optional<ibv_sa_path_rec> path_record_;
  std::unique_ptr<Datagram> datagram_;  ///< null: connected service
  // Options.
  std::uint8_t traffic_class_ = 0;
  bool reuse_ = false;
  std::optional<bool> afonly_;
  std::optional<std::uint8_t> ack_timeout_;
};

}  // namespace anyrdma::transport::soft
