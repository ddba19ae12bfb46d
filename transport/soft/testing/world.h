// Two hosts with software HCAs, a network that the test writes down, and packets carried by hand in
// virtual time.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport/soft/network.h"
#include "transport/soft/port_table.h"
#include "transport/soft/transport.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/testing/fake_runtime.h"

namespace anyrdma::transport::soft::testing {

using verbs::soft::testing::FakeRandom;
using verbs::soft::testing::FakeRuntime;

/// 10.9.N.H for interface N of host H, and a port.
[[nodiscard]] Address address_of(int host, int interface = 0, std::uint16_t port = 0);

/// sockaddr of an Address, for calls.
class Sockaddr {
 public:
  explicit Sockaddr(const Address& address) : storage_(address.to_sockaddr()) {}
  [[nodiscard]] const sockaddr& get() const { return reinterpret_cast<const sockaddr&>(storage_); }

 private:
  sockaddr_storage storage_;
};

/// What an endpoint was told, with copies of what the views showed.
struct Seen {
  rdma_cm_event_type type;
  int status;
  rdma_conn_param conn;
  std::vector<std::uint8_t> private_data;
  std::optional<rdma_ud_param> ud;
  MembershipId membership;
  ibv_ece ece;
};

/// Keeps all events and takes requests while there is room.
class Recorder : public EndpointHandler {
 public:
  void on_event(const EndpointEvent& event) override;
  EndpointHandler* on_connect_request(std::unique_ptr<Endpoint>& child,
                                      const EndpointEvent& event) override;

  [[nodiscard]] std::vector<rdma_cm_event_type> types() const;
  /// The only event, which must be of that type. Forgets it.
  [[nodiscard]] Seen only(rdma_cm_event_type type);

  std::vector<Seen> events;
  int room = 1000;
  std::vector<std::unique_ptr<Endpoint>> requests;
  Recorder* child_handler = nullptr;  ///< of the requests; null: this one
};

/// Routes by equal 10.9.N/24 network; knows which neighbours answer.
class FakeNetwork final : public Network {
 public:
  explicit FakeNetwork(SoftTransport*& transport) : transport_(transport) {}
  verbs::Result<Route> route(const Address* source, const Address& destination) override;
  verbs::Result<int> interface_of(const Address& local) override;
  void resolve_neighbour(NeighbourToken token, const Route& route,
                         std::chrono::milliseconds timeout) override;
  void cancel_neighbour(NeighbourToken token) override;
  verbs::Result<void> join_group(const Address& local, const Address& group) override;
  void leave_group(const Address& local, const Address& group) override;
  LinkNumber link_of(int interface) override { return links[interface]; }
  LinkNumber link_of(int interface, const Address& neighbour) override {
    return neighbour_links[{interface, neighbour.ip}];
  }

  /// Memberships in force, as (interface's address, group).
  std::vector<std::pair<Address, Address>> groups;
  int join_error = 0;              ///< of joins to come
  Address cut_off{};               ///< nothing leads there
  std::vector<Address> addresses;  ///< by interface index; AF_UNSPEC: no such interface
  /// Answers of questions to come; without it they stay open in `asked`.
  std::optional<int> answer = 0;
  struct Question {
    NeighbourToken token;
    Route route;
    std::chrono::milliseconds timeout;
  };
  std::vector<Question> asked;
  std::vector<NeighbourToken> cancelled;
  std::map<int, LinkNumber> links;
  std::map<std::pair<int, decltype(Address::ip)>, LinkNumber> neighbour_links;

 private:
  SoftTransport*& transport_;
};

/// Counts MADs by attribute and keeps drop reasons.
class Trace final : public Observer {
 public:
  void on_mad_sent(std::string_view, const ibcm::Path&, Mad mad) override;
  void on_mad_received(std::string_view, const ibcm::Path&, Mad) override { ++received; }
  void on_mad_dropped(std::string_view, ibcm::DropReason reason, std::uint16_t) override {
    dropped.push_back(reason);
  }
  [[nodiscard]] int sent(std::uint16_t attribute) const;

  std::vector<std::uint16_t> attributes;
  int received = 0;
  std::vector<ibcm::DropReason> dropped;
};

inline constexpr std::uint16_t kReq = 0x10;
inline constexpr std::uint16_t kMra = 0x11;
inline constexpr std::uint16_t kRej = 0x12;
inline constexpr std::uint16_t kRep = 0x13;
inline constexpr std::uint16_t kRtu = 0x14;
inline constexpr std::uint16_t kDreq = 0x15;
inline constexpr std::uint16_t kDrep = 0x16;
inline constexpr std::uint16_t kSidrReq = 0x17;
inline constexpr std::uint16_t kSidrRep = 0x18;

/// One host. Interfaces have addresses from the start; HCAs are put on them by add_device.
class Host {
 public:
  Host(FakeRuntime& runtime, verbs::soft::PacketPool& pool, int number, int interfaces,
       const SoftTransportConfig& config = {});

  verbs::soft::Hca& add_device(int interface = 0);
  [[nodiscard]] std::unique_ptr<Endpoint> endpoint(rdma_port_space space = RDMA_PS_TCP) {
    const ibv_qp_type type =
        space == RDMA_PS_UDP || space == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
    return endpoint(space, type);
  }
  [[nodiscard]] std::unique_ptr<Endpoint> endpoint(rdma_port_space space, ibv_qp_type type) {
    return transport->create_endpoint(space, type, events).value();
  }
  [[nodiscard]] Address address(int interface = 0, std::uint16_t port = 0) const {
    return address_of(number, interface, port);
  }

  int number;
  FakeRandom random;
  std::vector<std::unique_ptr<verbs::soft::Hca>> hcas;
  SoftTransport* raw = nullptr;
  FakeNetwork network;
  LocalPortTable ports;
  Trace trace;
  Recorder events;
  std::unique_ptr<SoftTransport> transport;

 private:
  FakeRuntime& runtime_;
  verbs::soft::PacketPool& pool_;
};

/// `a` and `b`, with an HCA each on interface 0. Endpoints of a test must die before it does.
class World : public ::testing::Test {
 protected:
  static constexpr std::uint16_t kPort = 7471;

  explicit World(const SoftTransportConfig& config_of_b = {});

  /// Carries packets and drains until all is quiet; time stands still.
  void settle();
  /// Lets time pass up to `until`, firing timers on the way.
  void run_until(verbs::Instant until);
  void run_for(verbs::Duration duration) { run_until(runtime.time + duration); }

  /// Address and route of an endpoint to `destination`, ready to connect. Clears a's events.
  [[nodiscard]] std::unique_ptr<Endpoint> routed(Host& from, const Address& destination,
                                                 rdma_port_space space = RDMA_PS_TCP);
  /// The same for an endpoint that exists already.
  void route(Host& from, Endpoint& endpoint, const Address& destination);
  [[nodiscard]] std::unique_ptr<Endpoint> listener(Host& at, const Address& local,
                                                   rdma_port_space space = RDMA_PS_TCP);

  FakeRuntime runtime;
  verbs::soft::PacketPool pool;
  Host a{runtime, pool, 1, 2};
  Host b;
  /// False: the packet is lost.
  std::function<bool(const verbs::soft::Packet&)> wire;

 private:
  bool carry();
};

}  // namespace anyrdma::transport::soft::testing
