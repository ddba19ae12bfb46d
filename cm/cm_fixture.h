// What the tests of cm stand on: one host whose world below is a MockTransport.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <vector>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "transport/testing/event_matchers.h"
#include "transport/testing/mock_transport.h"
#include "verbs/testing/errno_of.h"
#include "verbs/testing/fake_provider.h"
#include "verbs/testing/fake_runtime.h"

namespace anyrdma::cm::testing {

using namespace anyrdma::transport::testing;  // NOLINT: the vocabulary of every test here
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::NiceMock;
using ::testing::Return;
using transport::ConnectionParameters;
using transport::EndpointEvent;
using verbs::errno_code;
using verbs::testing::errno_of;

inline constexpr std::chrono::milliseconds kTimeout{2000};

/// How far place() takes an id, by calls and events.
enum class Place : std::uint8_t {
  kIdle,
  kAddrQuery,
  kAddrResolved,
  kRouteQuery,
  kRouteResolved,
  kConnect,     ///< the active side's
  kDisconnect,  ///< DISCONNECTED came
  kAddrBound,
  kListen,
  kDeviceRemoval,  ///< the endpoint refuses everything
  kDestroying,     ///< its channel went away
};

/// What place() has joined on the way.
inline constexpr transport::MembershipId kPlacedMembership{1};

/// An id together with the endpoint below it.
struct Placed {
  std::unique_ptr<Id> id;
  MockEndpoint* endpoint = nullptr;
  transport::EndpointHandler* handler = nullptr;  ///< the id, as endpoints see it
};

class CmTest : public ::testing::Test {
 protected:
  CmTest();

  [[nodiscard]] Placed make_id(rdma_port_space space = RDMA_PS_TCP);
  /// An id that was taken there by calls and events, all events acknowledged. As soon as it had an
  /// address it has joined group_.
  [[nodiscard]] Placed place(Place state);
  [[nodiscard]] Placed listener(int backlog = 10);
  /// The new id of one request, its event acknowledged. `listening` must outlive the call only.
  [[nodiscard]] Placed incoming(Placed& listening, const rdma_conn_param& conn = {});

  /// The next event, which must be there.
  [[nodiscard]] Event next();
  [[nodiscard]] bool channel_is_empty();
  /// Raises `type` and fetches and acknowledges what comes of it.
  void deliver(const Placed& placed, rdma_cm_event_type type, int status = 0);

  /// A device-default QP on `id`: eight work requests each way.
  static ibv_qp_init_attr qp_attributes();

  verbs::testing::FakeRuntime runtime_;
  verbs::testing::FakeProvider provider_{runtime_};
  NiceMock<MockTransport> transport_{runtime_, provider_};
  std::unique_ptr<EventChannel> channel_;
  sockaddr_in here_ = ipv4(0x0a000001, 0);
  sockaddr_in there_ = ipv4(0x0a000002, 7471);
  sockaddr_in group_ = ipv4(0xe0000001, 0);

  static const sockaddr* raw(const sockaddr_in& address) {
    return reinterpret_cast<const sockaddr*>(&address);
  }
};

}  // namespace anyrdma::cm::testing
