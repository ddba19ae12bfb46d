// Memory of another device: what is registered of a dma-buf, and what its revocation ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "verbs/c_api/newer_functions.h"
#include "verbs/c_api/testing/software_device.h"
#include "verbs/soft/dmabuf.h"

namespace anyrdma::c_api {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

class Dmabuf : public testing::SoftwareDevice {
 protected:
  Dmabuf()
      : context(ibv_open_device(hca->device())),
        pd(ibv_alloc_pd(context)),
        cq(ibv_create_cq(context, 8, nullptr, nullptr, 0)),
        exporter(::memfd_create("exporter", 0)) {
    EXPECT_EQ(::ftruncate(exporter, 4 * kPage), 0);
    bytes = static_cast<char*>(
        ::mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, exporter, 0));
  }
  ~Dmabuf() override {
    ::munmap(bytes, 4 * kPage);
    ::close(exporter);
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
    EXPECT_EQ(ibv_close_device(context), 0);
  }

  ibv_mr* register_part(std::uint64_t offset, std::size_t length, std::uint64_t iova,
                        int access = kAll) {
    errno = 0;
    return ibv_reg_dmabuf_mr(pd, offset, length, iova, exporter, access);
  }
  int refusal(std::uint64_t offset, std::size_t length, std::uint64_t iova, int access = kAll) {
    EXPECT_EQ(register_part(offset, length, iova, access), nullptr);
    return errno;
  }
  /// How a SEND of `length` bytes from the region ends, on a queue pair without a peer.
  bool can_be_read(const ibv_mr* mr, std::uint64_t iova, std::uint32_t length) {
    const ibv_sge sge{.addr = iova, .length = length, .lkey = mr->lkey};
    return hca->digest(pd, {&sge, 1}, length).has_value();
  }

  ibv_context* context;
  ibv_pd* pd;
  ibv_cq* cq;
  int exporter;
  char* bytes;
};

TEST_F(Dmabuf, PartsOfItAreRegisteredByOffset) {
  ibv_mr* const mr = register_part(kPage + 8, 100, 0x10008);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(mr->addr, reinterpret_cast<void*>(kPage + 8)) << "the offset, as with rdma-core";
  EXPECT_EQ(mr->length, 100u);
  const ibv_sge sge{.addr = 0x10008, .length = 100, .lkey = mr->lkey};
  const auto before = hca->digest(pd, {&sge, 1}, 100);
  ASSERT_TRUE(before.has_value());
  std::memset(bytes + kPage + 8, 7, 100);
  const auto after = hca->digest(pd, {&sge, 1}, 100);
  EXPECT_NE(before, after) << "it is the exporter's memory";
  EXPECT_FALSE(can_be_read(mr, 0x10008 - 8, 8)) << "before it";
  EXPECT_FALSE(can_be_read(mr, 0x10008 + 96, 8)) << "beyond it";
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(Dmabuf, ItsDescriptorMayBeClosedBeforeTheRegionEnds) {
  const int other = ::memfd_create("other", 0);
  ASSERT_EQ(::ftruncate(other, kPage), 0);
  ibv_mr* const mr = ibv_reg_dmabuf_mr(pd, 0, kPage, 0, other, kAll);
  ASSERT_NE(mr, nullptr);
  ::close(other);
  EXPECT_TRUE(can_be_read(mr, 0, kPage));
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(Dmabuf, OtherFilesAndRangesAreRefused) {
  EXPECT_EQ(refusal(0, 4 * kPage + 1, 0), EINVAL) << "longer than it";
  EXPECT_EQ(refusal(5 * kPage, 1, 0), EINVAL);
  EXPECT_EQ(refusal(kPage, std::numeric_limits<std::size_t>::max(), 0), EINVAL);
  EXPECT_EQ(refusal(0, 0, 0), EINVAL);
  EXPECT_EQ(refusal(8, 100, 16), EINVAL) << "different places in a page";
  EXPECT_EQ(refusal(0, kPage, 0, IBV_ACCESS_ON_DEMAND), EINVAL);
  EXPECT_EQ(refusal(0, kPage, 0, IBV_ACCESS_REMOTE_WRITE), EINVAL) << "and not local";
  EXPECT_EQ(ibv_reg_dmabuf_mr(pd, 0, kPage, 0, -1, kAll), nullptr);
  EXPECT_EQ(errno, EBADF);
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(ibv_reg_dmabuf_mr(pd, 0, kPage, 0, file, 0), nullptr);
  EXPECT_EQ(errno, EINVAL) << "no buffer of a device";
  ::close(file);
  EXPECT_EQ(ibv_reg_dmabuf_mr(nullptr, 0, kPage, 0, exporter, kAll), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Dmabuf, ARegionOfItIsNotRegisteredAnew) {
  ibv_mr* const mr = register_part(0, kPage, 0);
  ASSERT_NE(mr, nullptr);
  EXPECT_NE(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0), 0);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(Dmabuf, IsRegisteredByItsAttributesToo) {
  newer::MrInitAttr attr{};
  attr.length = kPage;
  attr.access = kAll;
  attr.comp_mask = newer::kMrDescriptor | newer::kMrOffset | newer::kMrIova;
  attr.descriptor = exporter;
  attr.offset = kPage;
  ibv_mr* const mr = ibv_reg_mr_ex(pd, reinterpret_cast<ibv_mr_init_attr*>(&attr));
  ASSERT_NE(mr, nullptr);
  EXPECT_TRUE(can_be_read(mr, 0, kPage));
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(Dmabuf, RevocationEndsAllAccessButNotTheRegion) {
  ibv_mr* const mr = register_part(0, kPage, 0);
  ASSERT_NE(mr, nullptr);
  ASSERT_TRUE(can_be_read(mr, 0, 8));
  EXPECT_TRUE(verbs::soft::revoke_dmabuf(mr));
  EXPECT_FALSE(can_be_read(mr, 0, 8));
  EXPECT_TRUE(verbs::soft::revoke_dmabuf(mr)) << "once more";
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(Dmabuf, OnlyADmabufIsRevoked) {
  char own[64];
  ibv_mr* const mr = ibv_reg_mr(pd, own, sizeof own, IBV_ACCESS_LOCAL_WRITE);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(verbs::soft::revoke_dmabuf(mr).error().value(), EINVAL);
  EXPECT_EQ(verbs::soft::revoke_dmabuf(nullptr).error().value(), EINVAL);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

}  // namespace
}  // namespace anyrdma::c_api
