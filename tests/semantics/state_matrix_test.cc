// Every call in every state (rdma_cm_state of the kernel): what is refused gives its errno and
// changes nothing.
#include <infiniband/sa.h>

#include <array>
#include <tuple>

#include "cm/id.h"
#include "tests/semantics/scenario.h"

namespace anyrdma::semantics {
namespace {

/// An id in a state, with all events taken. ROUTE_QUERY is missing: RoCE's route is there at once.
class Bench : public Pair {
 public:
  rdma_cm_id* id = nullptr;
  Party* party = &client;
  rdma_conn_param param = parameters();

  void resolve() {
    id = client.make();
    EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(kServer), kPatienceMs)), 0);
  }
  void ask() {
    server.listen(kServer);
    id = client.routed(kServer);
    EXPECT_EQ(error_of(rdma_connect(id, &param)), 0);
  }
};

struct Place {
  const char* name;
  std::string_view state;
  void (*go)(Bench&);
};

const std::array kPlaces{
    Place{"Idle", "RDMA_CM_IDLE", [](Bench& at) { at.id = at.client.make(); }},
    Place{"AddrQuery", "RDMA_CM_ADDR_QUERY", [](Bench& at) { at.resolve(); }},
    Place{"AddrResolved", "RDMA_CM_ADDR_RESOLVED",
          [](Bench& at) {
            at.resolve();
            at.client.take(RDMA_CM_EVENT_ADDR_RESOLVED);
          }},
    Place{"RouteResolved", "RDMA_CM_ROUTE_RESOLVED",
          [](Bench& at) { at.id = at.client.routed(Pair::kServer); }},
    Place{"ConnectActive", "RDMA_CM_CONNECT", [](Bench& at) { at.ask(); }},
    Place{"ConnectPassive", "RDMA_CM_CONNECT",
          [](Bench& at) {
            at.ask();
            at.id = at.server.take_request();
            at.party = &at.server;
          }},
    Place{"Disconnect", "RDMA_CM_DISCONNECT",
          [](Bench& at) {
            const Pair::Connection connection = at.connect();
            at.id = connection.passive;
            at.party = &at.server;
            EXPECT_EQ(error_of(rdma_disconnect(connection.active)), 0);
            at.server.take(RDMA_CM_EVENT_DISCONNECTED);
            at.client.destroy(connection.active);
            rdma_destroy_qp(at.id);
          }},
    Place{"AddrBound", "RDMA_CM_ADDR_BOUND",
          [](Bench& at) {
            at.id = at.client.make();
            EXPECT_EQ(error_of(rdma_bind_addr(at.id, Address(Pair::kClient))), 0);
          }},
    Place{"Listen", "RDMA_CM_LISTEN", [](Bench& at) { at.id = at.client.listen(Pair::kClient); }},
    Place{"DeviceRemoval", "RDMA_CM_DEVICE_REMOVAL",
          [](Bench& at) {
            at.id = at.client.routed(Pair::kServer);
            ASSERT_TRUE(at.client_host.devices().remove("anyrdma0"));
            at.client.take(RDMA_CM_EVENT_DEVICE_REMOVAL);
          }},
};

int set_option(Bench& at, int option, int value, std::size_t size) {
  return rdma_set_option(at.id, RDMA_OPTION_ID, option, &value, size);
}

/// A call and what it gives in each of kPlaces: 0 success, E EINVAL, X ENXIO; R EINVAL, but the
/// kernel's way out rejects the peer (K/cma:rdma_accept).
struct Call {
  const char* name;
  int (*make)(Bench&);
  const char* expected;
};

const std::array kCalls{
    //                                          idle, query, resolved, routed, active, passive,
    //                                          disconnect, bound, listen, removal
    Call{"bind_addr", [](Bench& at) { return rdma_bind_addr(at.id, Address(Pair::kClient, 99)); },
         "0EEEEEEEEX"},
    Call{"resolve_addr",
         [](Bench& at) { return rdma_resolve_addr(at.id, nullptr, Address(Pair::kServer), 9); },
         "0EEEEEE0EX"},
    Call{"resolve_route", [](Bench& at) { return rdma_resolve_route(at.id, 9); }, "EE0EEEEEEX"},
    Call{"listen", [](Bench& at) { return rdma_listen(at.id, 1); }, "0EEEEEE0EX"},
    Call{"connect", [](Bench& at) { return rdma_connect(at.id, &at.param); }, "EEE0EEEEEX"},
    Call{"establish", [](Bench& at) { return rdma_establish(at.id); }, "EEEERREEEX"},
    Call{"accept", [](Bench& at) { return rdma_accept(at.id, &at.param); }, "EEEER0EEEX"},
    Call{"reject", [](Bench& at) { return rdma_reject(at.id, nullptr, 0); }, "EEEE00EEEX"},
    Call{"reject_ece", [](Bench& at) { return rdma_reject_ece(at.id, nullptr, 0); }, "EEEE00EEEX"},
    Call{"disconnect", [](Bench& at) { return rdma_disconnect(at.id); }, "EEEE000E0X"},
    Call{"notify", [](Bench& at) { return rdma_notify(at.id, IBV_EVENT_COMM_EST); }, "EEEEEEEEEX"},
    Call{"create_qp",
         [](Bench& at) {
           ibv_qp_init_attr attr{};
           attr.qp_type = IBV_QPT_RC;
           attr.cap = {1, 1, 1, 1, 0};
           return rdma_create_qp(at.id, nullptr, &attr);
         },
         "EE0000E0EX"},
    Call{"create_qp_ex",
         [](Bench& at) {
           ibv_qp_init_attr_ex attr{};
           attr.qp_type = IBV_QPT_RC;
           attr.cap = {1, 1, 1, 1, 0};
           return rdma_create_qp_ex(at.id, &attr);
         },
         "EE0000E0EX"},
    Call{"init_qp_attr",
         [](Bench& at) {
           ibv_qp_attr attr{};
           int mask = 0;
           attr.qp_state = IBV_QPS_INIT;
           return rdma_init_qp_attr(at.id, &attr, &mask);
         },
         "EE0000E0EX"},
    Call{"set_tos", [](Bench& at) { return set_option(at, RDMA_OPTION_ID_TOS, 8, 1); },
         "000000000X"},
    Call{"set_reuseaddr", [](Bench& at) { return set_option(at, RDMA_OPTION_ID_REUSEADDR, 1, 4); },
         "00000000EX"},
    Call{"clear_reuseaddr",
         [](Bench& at) { return set_option(at, RDMA_OPTION_ID_REUSEADDR, 0, 4); }, "0EEEEEEEEX"},
    Call{"set_afonly", [](Bench& at) { return set_option(at, RDMA_OPTION_ID_AFONLY, 1, 4); },
         "0EEEEEE0EX"},
    Call{"set_ack_timeout",
         [](Bench& at) { return set_option(at, RDMA_OPTION_ID_ACK_TIMEOUT, 14, 1); }, "000000000X"},
    Call{"set_ib_path",
         [](Bench& at) {
           ibv_path_data path{};
           path.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
           path.path.mtu = IBV_MTU_1024;
           return rdma_set_option(at.id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof path);
         },
         "EE0EEEEEEX"},
    Call{"join_multicast",  // these ids serve connections, not datagrams
         [](Bench& at) { return rdma_join_multicast(at.id, Address("239.1.1.1", 0), nullptr); },
         "EEEEEEEEEX"},
    Call{"set_local_ece",
         [](Bench& at) {
           ibv_ece ece{.vendor_id = 1, .options = 0, .comp_mask = 0};
           return rdma_set_local_ece(at.id, &ece);
         },
         "0000000000"},
    Call{"get_remote_ece",
         [](Bench& at) {
           ibv_ece ece{};
           return rdma_get_remote_ece(at.id, &ece);
         },
         "0000000000"},
    Call{"get_request",
         [](Bench& at) {
           rdma_cm_id* request = nullptr;
           return rdma_get_request(at.id, &request);
         },
         "EEEEEEEEEE"},
};

class StateMatrix : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(StateMatrix, RefusalsGiveTheirErrnoAndChangeNothing) {
  const Call& call = kCalls[std::get<0>(GetParam())];
  const std::size_t place = std::get<1>(GetParam());
  ASSERT_EQ(std::strlen(call.expected), kPlaces.size());
  const char expected = call.expected[place];
  Bench at;
  kPlaces[place].go(at);
  const cm::Id& id = cm::Id::from(at.id);
  ASSERT_EQ(id.state(), kPlaces[place].state);
  const std::uint64_t packets = at.world.packets();

  const int error = error_of(call.make(at));

  EXPECT_EQ(error, expected == '0' ? 0 : expected == 'X' ? ENXIO : EINVAL);
  if (expected == '0') return;
  if (expected == 'R') {
    EXPECT_EQ(at.sent(at.party->host().name(), "REJ").size(), 1u);
    return;
  }
  EXPECT_EQ(id.state(), kPlaces[place].state);
  EXPECT_EQ(at.world.packets(), packets) << "something was sent";
  if (id.state() == "RDMA_CM_ADDR_QUERY") at.party->take(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
  at.party->expect_silence(1s);
}

INSTANTIATE_TEST_SUITE_P(Cells, StateMatrix,
                         ::testing::Combine(::testing::Range(std::size_t{0}, kCalls.size()),
                                            ::testing::Range(std::size_t{0}, kPlaces.size())),
                         [](const auto& cell) {
                           std::string name = kCalls[std::get<0>(cell.param)].name;
                           std::erase(name, '_');
                           return name + "In" + kPlaces[std::get<1>(cell.param)].name;
                         });

// What is gone is gone: the channel took its ids along.
TEST(StateMatrixOfTheDead, CallsOnAnIdWhoseChannelIsDestroyedAreEnoent) {
  Pair pair;
  rdma_event_channel* channel = nullptr;
  rdma_cm_id* id = nullptr;
  pair.client.as_program([&] { channel = rdma_create_event_channel(); });
  ASSERT_EQ(error_of(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP)), 0);
  rdma_destroy_event_channel(channel);

  EXPECT_EQ(error_of(rdma_bind_addr(id, Address(Pair::kClient))), ENOENT);
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(Pair::kServer), 9)), ENOENT);
  EXPECT_EQ(error_of(rdma_resolve_route(id, 9)), ENOENT);
  EXPECT_EQ(error_of(rdma_listen(id, 1)), ENOENT);
  EXPECT_EQ(error_of(rdma_disconnect(id)), ENOENT);
  EXPECT_EQ(error_of(rdma_migrate_id(id, pair.client.channel())), ENOENT);
  EXPECT_EQ(error_of(rdma_destroy_id(id)), 0);
}

}  // namespace
}  // namespace anyrdma::semantics
