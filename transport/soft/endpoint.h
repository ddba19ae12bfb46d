// The kernel's part of one rdma_cm_id (cma.c, and ucma.c above it). It uses the CM agent (cm.c) of
// the device to which the id is bound.
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

/// One membership of an endpoint in a multicast group.
struct Membership {
  MembershipId id{};
  bool joined = false;  ///< false: joining failed, and the membership waits for leave_multicast()
  rdma_ud_param group{};
  /// The local address with which the host joined the IP group; AF_UNSPEC: it did not join.
  Address local{};
  Address ip_group{};
};

/// The part of an endpoint's state that only datagram services have.
struct Datagram {
  std::uint32_t qkey = 0;                 ///< 0: not chosen yet (kernel: cma_set_default_qkey)
  std::vector<Membership> memberships{};  ///< in the order of joining
};

class SoftEndpoint final : public Endpoint, public AttachedHook {
 public:
  SoftEndpoint(Core& core, rdma_port_space space, ibv_qp_type type, EndpointHandler& handler);
  /// Creates the endpoint of a connection request that `device` has received, with the CM id that
  /// the agent gave to the request.
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

  /// Delivers the event to the handler, unless the id's state does not allow the event.
  void raise(const EndpointEvent& event);
  /// For a listener: offers a connection request to the handler. Null: the backlog is full.
  [[nodiscard]] EndpointHandler* offer(std::unique_ptr<Endpoint>& child,
                                       const EndpointEvent& event);
  [[nodiscard]] ibv_qp_type type() const { return type_; }
  /// Returns the number of bytes of the CM's header in the private data of a request.
  [[nodiscard]] std::size_t header_size() const {
    return source_.family == AF_IB ? 0 : CmaHeader::kSize;
  }
  [[nodiscard]] bool is_wildcard() const { return source_.is_any(); }
  /// Whether a request for the address `local` that arrived at `device` is for this listener
  /// (kernel: cma_match_private_data).
  [[nodiscard]] bool listens_for(const Address& local, const Device& device) const;
  /// Call when the interface of the endpoint may have another link address. Raises ADDR_CHANGE if
  /// that address differs from the one that the interface had when the endpoint was bound or
  /// resolved its address.
  void on_link_changed();
  /// Call when a neighbour may have another link address. Raises UNREACHABLE if the route uses the
  /// neighbour and its link address differs from the one that it had when the address was resolved.
  void on_neighbour_changed(const Address& neighbour);
  /// For a listener: returns the service id that it listens on.
  [[nodiscard]] ibcm::ServiceId own_service() const { return service_id(source_.port); }
  /// Call with the answer about a neighbour: 0 or an errno.
  void on_neighbour(int error);
  /// Call with the result of a route lookup: 0 or an errno.
  void on_path(int error);
  /// Call with the peer's answer to a SIDR_REQ.
  void on_resolved(const ibcm::SidrRepParameters& reply);
  /// Reports the result of joining a group, unless the group was left meanwhile.
  void on_membership(rdma_cm_event_type type, int status, MembershipId membership);
  /// Call when a multicast group has ended. Raises MULTICAST_ERROR if the endpoint has joined the
  /// group. False: it has not.
  bool lose_group(const Address& group);
  void leave_group(const Membership& membership);
  /// Call when the device is removed. Ends the endpoint with the CM message that destroying it
  /// would send. The object stays.
  void on_device_removed();
  /// Drops the connection request of this endpoint without an answer. Precondition: the CM agent
  /// has removed its CM id.
  void abandon_request();
  /// Queues an event, which the next SoftTransport::drain() delivers.
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
  /// Whether the kernel has a CM id for this endpoint that has no connection, as a listener has.
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
  const void* process_;  ///< the process that owns the endpoint: see verbs::Runtime::process
  State state_ = State::kIdle;
  bool is_asking_ = false;  ///< no answer came yet about a neighbour or a route

  /// Kernel: uid; an id made for a request raises no events until accept() succeeded.
  bool reports_events_ = true;
  int room_ = 0;  ///< number of further requests that may wait to be fetched
  Device* device_ = nullptr;
  Address source_{};
  Address destination_{};
  Route route_{};
  std::optional<ClaimId> claim_;
  std::optional<wire::CommId> comm_id_;
  std::optional<LinkNumber> own_link_{};  ///< kernel: src_dev_addr; nullopt: no interface
  LinkNumber peer_link_{};                ///< kernel: dst_dev_addr

  /// True: the id resolves addresses and connects; false: it was made for a request.
  bool active_ = true;
  wire::Psn psn_;
  ibcm::Path path_{};
  std::optional<ibv_sa_path_rec> path_record_;
  std::unique_ptr<Datagram> datagram_;  ///< null for a connected service

  // Options.
  std::uint8_t traffic_class_ = 0;
  bool reuse_ = false;
  std::optional<bool> afonly_;
  std::optional<std::uint8_t> ack_timeout_;
};

}  // namespace anyrdma::transport::soft
