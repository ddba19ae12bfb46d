#include "verbs/ibv/pass_through.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "verbs/context.h"
#include "verbs/testing/errno_of.h"
#include "verbs/testing/fake_provider.h"
#include "verbs/testing/fake_runtime.h"

namespace anyrdma::verbs::ibv {
namespace {

using verbs::testing::errno_of;

/// What the fake library does next, and what it was asked; one test at a time.
struct Library {
  std::vector<ibv_device*> devices;
  int lists = 0;  ///< handed out and not freed
  int error = 0;
  verbs_context context{};
  ibv_pd pd{};
  int returns = 0;
  std::uint64_t iova = 0;
} library;

ibv_device** get_device_list(int* count) {
  if (library.error != 0) return nullptr;
  auto** list = new ibv_device*[library.devices.size() + 1]();
  std::copy(library.devices.begin(), library.devices.end(), list);
  *count = static_cast<int>(library.devices.size());
  ++library.lists;
  return list;
}

void free_device_list(ibv_device** list) {
  --library.lists;
  delete[] list;
}

VerbsFunctions fake_functions() {
  VerbsFunctions it{};
  it.errno_location = [] { return &library.error; };
  it.get_device_list = get_device_list;
  it.free_device_list = free_device_list;
  it.open_device = [](ibv_device*) {
    return library.error == 0 ? &library.context.context : nullptr;
  };
  it.close_device = [](ibv_context*) { return library.returns; };
  it.alloc_pd = [](ibv_context* context) {
    library.pd.context = context;
    return library.error == 0 ? &library.pd : nullptr;
  };
  it.dealloc_pd = [](ibv_pd*) { return library.returns; };
  it.get_cq_event = [](ibv_comp_channel*, ibv_cq**, void**) { return library.returns; };
  it.reg_mr_iova2 = [](ibv_pd*, void*, std::size_t, std::uint64_t iova, unsigned) -> ibv_mr* {
    library.iova = iova;
    return nullptr;
  };
  return it;
}

class PassThroughTest : public ::testing::Test {
 protected:
  PassThroughTest() {
    library = {};
    library.context.sz = sizeof library.context;
    library.context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    speak_for_system_contexts(&system);
  }
  ~PassThroughTest() override { speak_for_system_contexts(nullptr); }

  PassThrough system{fake_functions()};
  ibv_device device{};
  ibv_device other{};
};

TEST_F(PassThroughTest, ContextsOfTheSystemBelongToIt) {
  const Context context = Context::open(system, &device).value();
  EXPECT_EQ(context.get(), &library.context.context);
  EXPECT_EQ(&provider_of(context.get()), &system);
}

TEST_F(PassThroughTest, ContextsOfOursStayOurs) {
  verbs::testing::FakeRuntime runtime;
  verbs::testing::FakeProvider ours(runtime);
  EXPECT_EQ(&provider_of(ours.context()), &ours);
}

TEST_F(PassThroughTest, APrivatePointerOfTheLibraryIsNotTakenForOurMark) {
  static int private_to_it = 0;
  library.context.priv = reinterpret_cast<verbs_ex_private*>(&private_to_it);
  EXPECT_EQ(&provider_of(&library.context.context), &system);
}

TEST_F(PassThroughTest, ErrnoIsTheLibrarysOwn) {
  library.error = EACCES;
  errno = ENOENT;
  EXPECT_EQ(errno_of(system.open_device(&device)), EACCES);
  EXPECT_EQ(errno_of(system.alloc_pd(&library.context.context)), EACCES);
}

TEST_F(PassThroughTest, AFailureWithoutAReasonIsAnInputOutputError) {
  EXPECT_EQ(errno_of(system.reg_mr(&library.pd, nullptr, 1, 0, 0)), EIO);
}

TEST_F(PassThroughTest, ErrorsMayBeReturnedOrLeftInErrno) {
  library.returns = EBUSY;
  EXPECT_EQ(errno_of(system.dealloc_pd(&library.pd)), EBUSY);
  library.returns = -1;
  library.error = EAGAIN;
  EXPECT_EQ(errno_of(system.get_cq_event(nullptr)), EAGAIN);
}

TEST_F(PassThroughTest, MemoryMayBeSeenUnderAnotherAddress) {
  (void)system.reg_mr(&library.pd, &device, sizeof device, 0x1000, 0).has_value();
  EXPECT_EQ(library.iova, 0x1000u);
}

TEST_F(PassThroughTest, ThePortIsAskedThroughTheContext) {
  ibv_port_attr attr{};
  EXPECT_EQ(errno_of(system.query_port(&library.context.context, 1, &attr)), EOPNOTSUPP);
  library.context.query_port = [](ibv_context*, std::uint8_t port, ibv_port_attr* answer,
                                  std::size_t) {
    answer->lid = port;
    return 0;
  };
  ASSERT_TRUE(system.query_port(&library.context.context, 7, &attr));
  EXPECT_EQ(attr.lid, 7);
}

TEST_F(PassThroughTest, AnUnchangedDeviceListIsNotKeptTwice) {
  library.devices = {&device};
  EXPECT_EQ(system.devices().size(), 1u);
  EXPECT_EQ(system.devices().size(), 1u);
  EXPECT_EQ(library.lists, 1);
}

TEST_F(PassThroughTest, PointersToDevicesThatAreGoneStayValid) {
  library.devices = {&device};
  const std::span<ibv_device* const> before = system.devices();
  library.devices = {&other};
  EXPECT_EQ(system.devices().front(), &other);
  EXPECT_EQ(before.front(), &device);
  EXPECT_EQ(library.lists, 2) << "the library frees what no list has any more";
}

TEST_F(PassThroughTest, ASystemThatCannotBeAskedHasNoDevices) {
  library.error = ENOSYS;
  EXPECT_TRUE(system.devices().empty());
}

}  // namespace
}  // namespace anyrdma::verbs::ibv
