// Section I: Technical traps for replacements of the verbs
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <string>
#include <vector>

#include "tests/museum/exhibit.h"
#include "tests/semantics/scenario.h"

namespace anyrdma::museum {
namespace {

using semantics::parameters;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Traps : public Exhibit {
 protected:
  /// The names that ibv_get_device_list shows to a program of the host.
  static std::vector<std::string> devices() {
    std::vector<std::string> names;
    ibv_device** list = ibv_get_device_list(nullptr);
    for (ibv_device** device = list; device != nullptr && *device != nullptr; ++device) {
      names.emplace_back(ibv_get_device_name(*device));
    }
    ibv_free_device_list(list);
    return names;
  }
};

// Exhibit 49: Inline functions of <infiniband/verbs.h>, such as ibv_query_gid_ex and ibv_poll_cq,
// read the device context, so mocks of exported symbols do not see them, and a context made for a
// test crashed. The simulator's contexts have all fields that the header reads.
// https://github.com/kvcache-ai/Mooncake/pull/4263
TEST_F(Traps, TheHeadersInlineFunctionsWorkOnTheContext) {
  ask([] {
    ibv_device** list = ibv_get_device_list(nullptr);
    ibv_context* context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    ibv_gid_entry entry{};
    EXPECT_EQ(ibv_query_gid_ex(context, 1, 0, &entry, 0), 0);
    EXPECT_EQ(entry.gid_type, static_cast<unsigned>(IBV_GID_TYPE_ROCE_V2));
    ibv_port_attr port{};
    EXPECT_EQ(ibv_query_port(context, 1, &port), 0);
    EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
    ibv_cq* cq = ibv_create_cq(context, 1, nullptr, nullptr, 0);
    ibv_wc completion{};
    EXPECT_EQ(ibv_poll_cq(cq, 1, &completion), 0) << "through context->ops";
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
    EXPECT_EQ(ibv_close_device(context), 0);
  });

  run();
}

// Not shown 50: libibverbs exports versioned symbols, and an interposer that looks them up without
// a version gets the oldest one. tests/programs/symbols_test.sh compares the names and versions of
// the drop-in libraries with the system's.
// https://github.com/linux-rdma/rdma-core/blob/master/Documentation/versioning.md

// Exhibit 51: libibverbs finds devices over netlink first, so a fake of sysfs did not hide the
// machine's NICs. Programs in the simulator see only the devices of their simulated host.
// https://github.com/NVIDIA/k8s-test-infra/pull/403
TEST_F(Traps, TheMachinesOwnDevicesDoNotLeakIn) {
  sim::Host& poor =
      world.add_host("poor", {.interfaces = {{.addresses = {"192.0.2.3"}, .rdma = false}}});
  sim::Host& rich = world.add_host(
      "rich", {.interfaces = {{.addresses = {"192.0.2.4"}}, {.addresses = {"198.51.100.4"}}}});
  poor.spawn("look", [] {
    EXPECT_THAT(devices(), IsEmpty());
    EXPECT_EQ(rdma_create_event_channel(), nullptr);
    EXPECT_EQ(errno, ENODEV);
  });
  rich.spawn("look", [] {
    EXPECT_THAT(devices(), ElementsAre("anyrdma0", "anyrdma1"));
    int count = 0;
    rdma_free_devices(rdma_get_devices(&count));
    EXPECT_EQ(count, 2);
  });

  run();
}

// Not shown 52: rdma_write_cm_event and four event types were added to librdmacm in 2025, so
// programs that were compiled before do not know them. anyrdma is built with the headers of
// rdma-core 44, whose last event is TIMEWAIT_EXIT.
// https://github.com/linux-rdma/rdma-core/commit/7d7ca522f

// Exhibit 53: A program looked for CM events every 10 ms, so each event of a connection waited for
// the next look: 40 ms per connection. In the simulator it takes 20 ms, because RoCE resolves
// routes at once.
// https://github.com/ofiwg/libfabric/pull/5073
// https://github.com/ofiwg/libfabric/issues/5066
TEST_F(Traps, APollIntervalIsPaidOncePerEvent) {
  const auto time_to_connect = [this](sim::Duration interval) {
    const auto next = [&](rdma_cm_event_type wanted) {
      while (true) {
        if (const auto event = client.channel().try_get()) {
          EXPECT_EQ(event->type(), wanted);
          return;
        }
        if (!client_host.sleep(interval)) return;
      }
    };
    const sim::Instant start = world.now();
    const auto id = client.make_id();
    const sockaddr_storage to = server_host.address(kPort).to_sockaddr();
    const auto* address = reinterpret_cast<const sockaddr*>(&to);
    EXPECT_TRUE(id->resolve_addr(nullptr, address, kPatience));
    next(RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_TRUE(id->resolve_route(kPatience));
    next(RDMA_CM_EVENT_ROUTE_RESOLVED);
    Pipe pipe(*id);
    const rdma_conn_param param = parameters();
    EXPECT_TRUE(id->connect(&param));
    next(RDMA_CM_EVENT_ESTABLISHED);
    return world.now() - start;
  };
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    for (int i = 0; i < 2; ++i) {
      const Connection served = accept();
      server.expect(RDMA_CM_EVENT_ESTABLISHED);
      server.expect(RDMA_CM_EVENT_DISCONNECTED);
    }
  });
  ask([&] {
    EXPECT_GE(time_to_connect(10ms), 20ms) << "the address, the response";
    EXPECT_LT(time_to_connect(10us), 100us);
  });

  run();
}

}  // namespace
}  // namespace anyrdma::museum
