#include "verbs/soft/device_profile.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "verbs/soft/testing/fake_runtime.h"

namespace anyrdma::verbs::soft {
namespace {

// --- the text -----------------------------------------------------------------------------------

TEST(DeviceProfile, OfNothingIsTheDefault) {
  EXPECT_EQ(*parse_profile(""), HcaConfig{});
  EXPECT_EQ(*parse_profile("\n # only a comment\n\n"), HcaConfig{});
  EXPECT_EQ(to_string(HcaConfig{}), "");
}

TEST(DeviceProfile, SetsWhatItNames) {
  const auto device = parse_profile("max_qp = 339, max_inline_data=0 # none\nxrc = 0\n mtu = 512");

  ASSERT_TRUE(device) << device.error().to_string();
  EXPECT_EQ(device->max_qp, 339u);
  EXPECT_EQ(device->max_inline_data, 0u);
  EXPECT_FALSE(device->xrc);
  EXPECT_EQ(device->active_mtu, IBV_MTU_512);
  EXPECT_EQ(device->max_cq, HcaConfig{}.max_cq);
}

TEST(DeviceProfile, TakesOverOneThatIsBuiltIn) {
  const auto minimal = parse_profile("minimal");
  const auto changed = parse_profile("like minimal\nmax_srq = 7");

  ASSERT_TRUE(minimal);
  EXPECT_EQ(minimal->max_qp, 339u);
  EXPECT_EQ(minimal->max_srq, 0u);
  EXPECT_EQ(minimal->max_inline_data, 0u);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->max_srq, 7u);
  EXPECT_EQ(changed->max_qp, 339u);
}

TEST(DeviceProfile, EachBuiltInOneIsReadAndPrinted) {
  for (const std::string_view name : profile_names()) {
    const auto device = parse_profile(name);
    ASSERT_TRUE(device) << name << ": " << device.error().to_string();
    EXPECT_EQ(*parse_profile(to_string(*device)), *device) << name;
  }
}

TEST(DeviceProfile, SaysWhatIsWrongAndWhere) {
  const auto reason = [](std::string_view text) { return parse_profile(text).error().to_string(); };

  EXPECT_EQ(reason("\nmax_pq = 1"), "line 2: a device profile has no entry 'max_pq'");
  EXPECT_EQ(reason("max_sge = 256"), "line 1: max_sge is a number from 1 to 255, not '256'");
  EXPECT_EQ(reason("max_sge = "), "line 1: max_sge is a number from 1 to 255, not ''");
  EXPECT_EQ(reason("max_sge = -1"), "line 1: max_sge is a number from 1 to 255, not '-1'");
  EXPECT_EQ(reason("max_qp = 99999999999"),
            "line 1: max_qp is a number from 0 to 2147483647, not '99999999999'");
  EXPECT_EQ(reason("mtu = 1500"), "line 1: mtu is 256, 512, 1024, 2048 or 4096, not '1500'");
  EXPECT_EQ(reason("toaster"),
            "line 1: there is no device profile 'toaster'; profiles: anyrdma rxe connectx minimal");
  EXPECT_EQ(reason("uc = 0\nlike rxe"), "line 2: 'like rxe' is no entry; write NAME = NUMBER");
}

TEST(DeviceProfile, LeavesADeviceWhoItIs) {
  HcaConfig device{.name = "mine", .active_mtu = IBV_MTU_1024, .qpn_first = 77};
  resemble(device, *parse_profile("connectx"));

  EXPECT_EQ(device.name, "mine");
  EXPECT_EQ(device.qpn_first, 77u);
  EXPECT_EQ(device.active_mtu, IBV_MTU_1024);
  EXPECT_EQ(device.max_sge, 30u);
}

// --- what the entries do ------------------------------------------------------------------------

/// A device made of a profile, with one of each object.
class Device {
 public:
  explicit Device(std::string_view profile) : Device(*parse_profile(profile)) {}
  explicit Device(const HcaConfig& config) : hca(Hca::create(runtime, random, pool, config)) {
    ibv_gid gid{};
    gid.raw[10] = gid.raw[11] = 0xff;
    gid.raw[12] = 10;
    gid.raw[15] = 1;
    hca->set_gid(0, gid);
    address.is_global = 1;
    address.port_num = 1;
    address.grh.dgid = gid;
    context = hca->open_device(hca->device()).value();
    pd = hca->alloc_pd(context).value();
    cq = hca->create_cq(context, 1, nullptr, nullptr, 0).value();
    init.send_cq = init.recv_cq = cq;
    init.cap = {.max_send_wr = 1,
                .max_recv_wr = 1,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = 0};
    init.qp_type = IBV_QPT_RC;
  }

  template <class T>
  static int error_of(const Result<T>& result) {
    return result ? 0 : result.error().value();
  }
  int pds() { return error_of(hca->alloc_pd(context)); }
  int cqs(int depth = 1) { return error_of(hca->create_cq(context, depth, nullptr, nullptr, 0)); }
  int mrs(unsigned access = 0) { return error_of(hca->reg_mr(pd, &byte, 1, 0, access)); }
  int mws() {
    errno = 0;
    return context->ops.alloc_mw(pd, IBV_MW_TYPE_1) != nullptr ? 0 : errno;
  }
  int xrcds() {
    ibv_xrcd_init_attr attr{.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
                            .fd = -1,
                            .oflags = O_CREAT};
    errno = 0;
    return ibv_open_xrcd(context, &attr) != nullptr ? 0 : errno;
  }
  int ahs() { return error_of(hca->create_ah(pd, address)); }
  int qps(ibv_qp_type type = IBV_QPT_RC) {
    ibv_qp_init_attr attr = init;
    attr.qp_type = type;
    return error_of(hca->create_qp(pd, &attr));
  }
  int srqs(std::uint32_t depth = 1, std::uint32_t pieces = 1) {
    ibv_srq_init_attr attr{};
    attr.attr = {.max_wr = depth, .max_sge = pieces, .srq_limit = 0};
    return error_of(hca->create_srq(pd, &attr));
  }
  // Joins the group of that number with a new queue pair.
  int joins(std::uint8_t group) {
    ibv_qp_init_attr attr = init;
    attr.qp_type = IBV_QPT_UD;
    ibv_gid gid{};
    gid.raw[0] = 0xff;
    gid.raw[15] = group;
    return error_of(hca->attach_mcast(hca->create_qp(pd, &attr).value(), gid, 0));
  }
  // A new queue pair gets so far with these attributes.
  int connects(std::uint8_t incoming, std::uint8_t outgoing) {
    ibv_qp_init_attr of_qp = init;
    ibv_qp* qp = hca->create_qp(pd, &of_qp).value();
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    constexpr int kInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    EXPECT_EQ(error_of(hca->modify_qp(qp, &attr, kInit)), 0);
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_256;
    attr.ah_attr = address;
    attr.max_dest_rd_atomic = incoming;
    constexpr int kReceive = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    if (const int error = error_of(hca->modify_qp(qp, &attr, kReceive)); error != 0) return error;
    attr.qp_state = IBV_QPS_RTS;
    attr.max_rd_atomic = outgoing;
    constexpr int kSend = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
    return error_of(hca->modify_qp(qp, &attr, kSend));
  }
  int with(const std::function<void(ibv_qp_cap&)>& change) {
    change(init.cap);
    return qps();
  }
  ibv_device_attr attributes() {
    ibv_device_attr attr{};
    EXPECT_TRUE(hca->query_device(context, &attr));
    return attr;
  }

  testing::FakeRuntime runtime;
  testing::FakeRandom random;
  PacketPool pool;
  std::unique_ptr<Hca> hca;
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_ah_attr address{};
  ibv_qp_init_attr init{};
  char byte = 0;
};

/// What a profile's entry allows, and what it forbids.
struct Limit {
  std::string_view key;
  std::string_view value;
  std::function<int(Device&)> allowed;
  std::function<int(Device&)> forbidden;  ///< after that
  int error;
};

std::ostream& operator<<(std::ostream& out, const Limit& limit) {
  return out << limit.key << " = " << limit.value;
}

const std::vector<Limit>& limits() {
  using D = Device;
  static const auto nothing = [](D&) { return 0; };
  static const auto cap = [](auto member, std::uint32_t value) {
    return [=](D& d) { return d.with([=](ibv_qp_cap& it) { it.*member = value; }); };
  };
  static const std::vector<Limit> all{
      {"max_pd", "2", [](D& d) { return d.pds(); }, [](D& d) { return d.pds(); }, ENOMEM},
      {"max_cq", "2", [](D& d) { return d.cqs(); }, [](D& d) { return d.cqs(); }, ENOMEM},
      {"max_mr", "1", [](D& d) { return d.mrs(); }, [](D& d) { return d.mrs(); }, ENOMEM},
      {"max_mr", "0", nothing, [](D& d) { return d.mrs(); }, ENOMEM},
      {"max_mw", "1", [](D& d) { return d.mws(); }, [](D& d) { return d.mws(); }, ENOMEM},
      {"max_mw", "0", nothing, [](D& d) { return d.mws(); }, EOPNOTSUPP},
      {"max_ah", "1", [](D& d) { return d.ahs(); }, [](D& d) { return d.ahs(); }, ENOMEM},
      {"max_qp", "1", [](D& d) { return d.qps(); }, [](D& d) { return d.qps(); }, ENOMEM},
      {"max_srq", "1", [](D& d) { return d.srqs(); }, [](D& d) { return d.srqs(); }, ENOMEM},
      {"max_srq", "0", nothing, [](D& d) { return d.srqs(); }, EOPNOTSUPP},
      {"max_xrcd", "1", [](D& d) { return d.xrcds(); }, [](D& d) { return d.xrcds(); }, ENOMEM},
      {"max_mcast_grp", "1", [](D& d) { return d.joins(1); }, [](D& d) { return d.joins(2); },
       ENOMEM},
      {"max_mcast_grp", "0", nothing, [](D& d) { return d.joins(1); }, EOPNOTSUPP},
      {"max_mcast_qp_attach", "1", [](D& d) { return d.joins(1); }, [](D& d) { return d.joins(1); },
       ENOMEM},
      {"max_cqe", "8", [](D& d) { return d.cqs(8); }, [](D& d) { return d.cqs(9); }, EINVAL},
      {"max_srq_wr", "8", [](D& d) { return d.srqs(8); }, [](D& d) { return d.srqs(9); }, EINVAL},
      {"max_srq_sge", "2", [](D& d) { return d.srqs(1, 2); }, [](D& d) { return d.srqs(1, 3); },
       EINVAL},
      {"max_qp_wr", "8", cap(&ibv_qp_cap::max_send_wr, 8), cap(&ibv_qp_cap::max_send_wr, 9),
       EINVAL},
      {"max_qp_wr", "8", cap(&ibv_qp_cap::max_recv_wr, 8), cap(&ibv_qp_cap::max_recv_wr, 9),
       EINVAL},
      {"max_sge", "2", cap(&ibv_qp_cap::max_send_sge, 2), cap(&ibv_qp_cap::max_send_sge, 3),
       EINVAL},
      {"max_sge", "2", cap(&ibv_qp_cap::max_recv_sge, 2), cap(&ibv_qp_cap::max_recv_sge, 3),
       EINVAL},
      {"max_inline_data", "0", nothing, cap(&ibv_qp_cap::max_inline_data, 1), EINVAL},
      {"max_qp_rd_atom", "2", [](D& d) { return d.connects(2, 0); },
       [](D& d) { return d.connects(3, 0); }, EINVAL},
      {"max_qp_init_rd_atom", "2", [](D& d) { return d.connects(0, 2); },
       [](D& d) { return d.connects(0, 3); }, EINVAL},
      {"on_demand_paging", "0", [](D& d) { return d.mrs(); },
       [](D& d) { return d.mrs(IBV_ACCESS_ON_DEMAND); }, EOPNOTSUPP},
      {"uc", "0", [](D& d) { return d.qps(); }, [](D& d) { return d.qps(IBV_QPT_UC); }, EOPNOTSUPP},
      {"xrc", "0", [](D& d) { return d.qps(); }, [](D& d) { return d.qps(IBV_QPT_XRC_SEND); },
       EOPNOTSUPP},
  };
  return all;
}

class DeviceLimits : public ::testing::TestWithParam<Limit> {};

TEST_P(DeviceLimits, AreKeptWithTheErrnoOfTheManualPage) {
  const Limit& limit = GetParam();
  Device device(std::string(limit.key) + " = " + std::string(limit.value));

  EXPECT_EQ(limit.allowed(device), 0);
  EXPECT_EQ(limit.forbidden(device), limit.error);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceLimits, ::testing::ValuesIn(limits()));

TEST(DeviceProfile, HasATestForEachEntry) {
  // The last three: places_test.cc, vendor_completions_test.cc.
  std::set<std::string_view> tested{"mtu",
                                    "atomics",
                                    "local_ca_ack_delay",
                                    "min_ack_timeout",
                                    "path_migration",
                                    "max_dm_size",
                                    "free_when_executed",
                                    "flush_with_cause",
                                    "late_length_error"};
  for (const Limit& limit : limits()) tested.insert(limit.key);

  for (const std::string_view name : entry_names()) EXPECT_EQ(tested.count(name), 1u) << name;
}

TEST(DeviceProfile, GivesADevicePathMigration) {
  constexpr unsigned kFlag = IBV_DEVICE_AUTO_PATH_MIG;
  EXPECT_NE(Device("path_migration = 1").attributes().device_cap_flags & kFlag, 0u);
  EXPECT_EQ(Device("path_migration = 0").attributes().device_cap_flags & kFlag, 0u);
}

TEST(DeviceProfile, ShowsInWhatTheDeviceTellsOfItself) {
  Device device("like minimal, local_ca_ack_delay = 9");
  const ibv_device_attr attr = device.attributes();

  EXPECT_EQ(attr.max_qp, 339);
  EXPECT_EQ(attr.max_srq, 0);
  EXPECT_EQ(attr.max_mw, 0);
  EXPECT_EQ(attr.max_mcast_grp, 0);
  EXPECT_EQ(attr.atomic_cap, IBV_ATOMIC_NONE);
  EXPECT_EQ(attr.local_ca_ack_delay, 9);
  EXPECT_EQ(attr.device_cap_flags & (IBV_DEVICE_XRC | IBV_DEVICE_MEM_WINDOW), 0u);
}

TEST(DeviceProfile, HasANumberForEachQueuePairThatItPromises) {
  for (const std::string_view name : profile_names()) {
    Device device(name);
    EXPECT_EQ(device.attributes().max_qp, static_cast<int>(parse_profile(name)->max_qp)) << name;
    EXPECT_GE(device.hca->config().qpn_count, device.hca->config().max_qp) << name;
  }
}

// The fabric's, for example, has part of them for each process.
TEST(DeviceProfile, PromisesNoMoreQueuePairsThanItHasNumbers) {
  HcaConfig config = *parse_profile("connectx");
  config.qpn_count = 3;
  Device device(config);

  EXPECT_EQ(device.attributes().max_qp, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(device.qps(), 0);
  EXPECT_EQ(device.qps(), ENOMEM);
}

TEST(DeviceProfile, PromisesNoMoreRegionsAndWindowsThanThereAreKeys) {
  Device device("like connectx, max_mr = 2147483647");
  const ibv_device_attr attr = device.attributes();

  EXPECT_LT(std::int64_t{attr.max_mr} + attr.max_mw, 1 << 24);
  EXPECT_GT(attr.max_mr, 8'000'000);
}

TEST(DeviceProfile, SaysOfItsAtomicsWhatDevicesThatAreSoldSayUnlessAskedTo) {
  EXPECT_EQ(Device("anyrdma").attributes().atomic_cap, IBV_ATOMIC_HCA);
  EXPECT_EQ(Device("connectx").attributes().atomic_cap, IBV_ATOMIC_HCA);
  EXPECT_EQ(Device("atomics = 2").attributes().atomic_cap, IBV_ATOMIC_GLOB);
}

TEST(DeviceProfile, WithoutAtomicsRefusesToPostThem) {
  Device device("atomics = 0");
  ibv_qp_init_attr init = device.init;
  ibv_qp* qp = device.hca->create_qp(device.pd, &init).value();
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  constexpr int kInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  ASSERT_TRUE(device.hca->modify_qp(qp, &attr, kInit));
  attr.qp_state = IBV_QPS_ERR;
  ASSERT_TRUE(device.hca->modify_qp(qp, &attr, IBV_QP_STATE));
  ibv_sge piece{.addr = 0, .length = 8, .lkey = 0};
  ibv_send_wr request{};
  request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_send_wr* bad = nullptr;

  EXPECT_EQ(ibv_post_send(qp, &request, &bad), EINVAL);
  EXPECT_EQ(bad, &request);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
