// What the tests of the door stand on: the C functions over a MockTransport.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/rdma_cma.h>

#include <cerrno>

#include "transport/testing/mock_transport.h"
#include "verbs/c_api/testing/process.h"
#include "verbs/testing/fake_provider.h"
#include "verbs/testing/fake_runtime.h"

namespace anyrdma::c_api::testing {

using namespace anyrdma::transport::testing;  // NOLINT: the vocabulary of the tests
using ::testing::NiceMock;
using ::testing::Return;

/// A process with one device, and one event channel.
class CmDoor : public ::testing::Test {
 protected:
  CmDoor() {
    set_process_transport(&transport);
    transport.default_binding = resolved_binding(provider.context());
    channel = rdma_create_event_channel();
    errno = 0;
  }
  ~CmDoor() override {
    rdma_destroy_event_channel(channel);
    set_process_transport(nullptr);
  }

  rdma_cm_id* make_id() {
    rdma_cm_id* id = nullptr;
    EXPECT_EQ(rdma_create_id(channel, &id, this, RDMA_PS_TCP), 0);
    return id;
  }
  static void destroy(rdma_cm_id* id) { EXPECT_EQ(rdma_destroy_id(id), 0); }
  sockaddr* there() { return reinterpret_cast<sockaddr*>(&there_); }
  void acknowledge_next(rdma_cm_event_type type) {
    rdma_cm_event* event = nullptr;
    ASSERT_EQ(rdma_get_cm_event(channel, &event), 0);
    EXPECT_EQ(event->event, type);
    EXPECT_EQ(rdma_ack_cm_event(event), 0);
  }
  /// An id whose route is resolved.
  rdma_cm_id* routed() {
    rdma_cm_id* id = make_id();
    EXPECT_EQ(rdma_resolve_addr(id, nullptr, there(), 1), 0);
    transport.raise(transport.last(), RDMA_CM_EVENT_ADDR_RESOLVED);
    acknowledge_next(RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_EQ(rdma_resolve_route(id, 1), 0);
    transport.raise(transport.last(), RDMA_CM_EVENT_ROUTE_RESOLVED);
    acknowledge_next(RDMA_CM_EVENT_ROUTE_RESOLVED);
    return id;
  }

  verbs::testing::FakeRuntime runtime;
  verbs::testing::FakeProvider provider{runtime};
  NiceMock<MockTransport> transport{runtime, provider};
  rdma_event_channel* channel;

 private:
  sockaddr_in there_ = ipv4(0x0a000002, 7471);
};

}  // namespace anyrdma::c_api::testing
