// What libibverbs has had since rdma-core 56, as a C program uses it on the software device.
#include "verbs/c_api/newer_functions.h"

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstring>
#include <limits>

#include "verbs/c_api/testing/software_device.h"

extern "C" {
int ibv_cmd_create_cq_ex2(ibv_context* context, void* attr, void* cq);
}

namespace anyrdma::c_api {
namespace {

using newer::MrInitAttr;

class NewerVerbs : public testing::SoftwareDevice {
 protected:
  static constexpr std::size_t kSize = 8192;

  NewerVerbs() : context(ibv_open_device(hca->device())), pd(ibv_alloc_pd(context)) {
    attr.length = sizeof memory;
    attr.access = IBV_ACCESS_LOCAL_WRITE;
    attr.address = memory;
  }
  ~NewerVerbs() override {
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
    EXPECT_EQ(ibv_close_device(context), 0);
  }

  ibv_mr* register_with(std::uint64_t mask) {
    attr.comp_mask = mask;
    errno = 0;
    return ibv_reg_mr_ex(pd, reinterpret_cast<ibv_mr_init_attr*>(&attr));
  }
  int refusal_of(std::uint64_t mask) {
    EXPECT_EQ(register_with(mask), nullptr);
    return errno;
  }
  /// 0, or why a part of a buffer cannot be registered.
  int registering(ibv_buf* buffer, void* address, std::size_t length) {
    errno = 0;
    ibv_mr* mr = ibv_reg_buf_mr(pd, buffer, address, length, IBV_ACCESS_LOCAL_WRITE);
    return mr == nullptr ? errno : ibv_dereg_mr(mr);
  }

  ibv_context* context;
  ibv_pd* pd;
  MrInitAttr attr{};
  char memory[64] = {};
};

TEST_F(NewerVerbs, MemoryIsRegisteredByItsAttributes) {
  ibv_mr* mr = register_with(newer::kMrAddress);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(mr->addr, memory);
  EXPECT_EQ(mr->length, sizeof memory);
  EXPECT_EQ(mr->pd, pd);
  EXPECT_EQ(mr->context, context);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);

  attr.iova = 0x1000;
  ibv_mr* moved = register_with(newer::kMrAddress | newer::kMrIova);
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(moved->addr, memory);
  EXPECT_EQ(ibv_dereg_mr(moved), 0);
}

TEST_F(NewerVerbs, AttributesThatContradictThemselvesAreEinval) {
  EXPECT_EQ(refusal_of(0), EINVAL) << "no memory at all";
  EXPECT_EQ(refusal_of(newer::kMrIova), EINVAL);
  EXPECT_EQ(refusal_of(newer::kMrAddress | newer::kMrOffset), EINVAL);
  EXPECT_EQ(refusal_of(newer::kMrDescriptor), EINVAL) << "neither offset nor iova";
  constexpr auto kOfDescriptor = newer::kMrDescriptor | newer::kMrOffset | newer::kMrIova;
  EXPECT_EQ(refusal_of(kOfDescriptor | newer::kMrAddress), EINVAL);

  attr.access = IBV_ACCESS_REMOTE_WRITE;  // and not local
  EXPECT_EQ(refusal_of(newer::kMrAddress), EINVAL);
}

TEST_F(NewerVerbs, HintsAreNotSupported) {
  EXPECT_EQ(refusal_of(newer::kMrAddress | newer::kMrDmaHandle), EOPNOTSUPP);
  EXPECT_EQ(refusal_of(newer::kMrAddress | std::uint64_t{1} << 40), EOPNOTSUPP) << "a newer field";
}

TEST_F(NewerVerbs, BuffersStartOnAPageAndAreRegisteredInPart) {
  ibv_buf* buffer = nullptr;
  auto* const room = static_cast<char*>(ibv_alloc_buf(pd, kSize, &buffer));
  ASSERT_NE(room, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(room) % 4096, 0u);
  std::memset(room, 1, kSize);

  EXPECT_EQ(registering(buffer, room, kSize), 0);
  EXPECT_EQ(registering(buffer, room + 100, kSize - 100), 0);
  EXPECT_EQ(registering(buffer, room + 100, kSize), EINVAL) << "beyond its end";
  EXPECT_EQ(registering(buffer, room - 1, 2), EINVAL) << "before its beginning";
  EXPECT_EQ(registering(buffer, room + kSize + 1, 0), EINVAL);
  EXPECT_EQ(registering(buffer, room + 1, std::numeric_limits<std::size_t>::max()), EINVAL);

  EXPECT_EQ(ibv_export_buf_dmabuf_fd(buffer), -1);
  EXPECT_EQ(errno, ENODATA);
  ibv_free_buf(buffer);
}

TEST_F(NewerVerbs, ABufferIsRegisteredOnItsOwnDomainAsMemory) {
  ibv_buf* buffer = nullptr;
  void* const room = ibv_alloc_buf(pd, kSize, &buffer);
  ASSERT_NE(room, nullptr);
  ibv_pd* other = ibv_alloc_pd(context);
  EXPECT_EQ(ibv_reg_buf_mr(other, buffer, room, kSize, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);

  attr.buffer = buffer;
  attr.address = room;
  EXPECT_EQ(refusal_of(newer::kMrBuffer), EINVAL) << "without its address";
  EXPECT_EQ(refusal_of(newer::kMrBuffer | newer::kMrAddress | newer::kMrDescriptor), EINVAL);
  EXPECT_EQ(refusal_of(newer::kMrBuffer | newer::kMrAddress | newer::kMrDmaHandle), EOPNOTSUPP);

  EXPECT_EQ(ibv_dealloc_pd(other), 0);
  ibv_free_buf(buffer);
}

// A sanitizer's allocator ends the program instead, unless it is told otherwise: .bazelrc.
TEST_F(NewerVerbs, ABufferLargerThanMemoryIsEnomem) {
  ibv_buf* buffer = nullptr;
  EXPECT_EQ(ibv_alloc_buf(pd, std::numeric_limits<std::size_t>::max() / 2, &buffer), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(buffer, nullptr);
}

TEST_F(NewerVerbs, WhatSoftRoceLacksIsNotSupported) {
  EXPECT_EQ(ibv_alloc_dmah(context, nullptr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);

  ibv_alloc_dm_attr wanted{};
  wanted.length = 64;
  ibv_dm* dm = ibv_alloc_dm(context, &wanted);
  ASSERT_NE(dm, nullptr);
  errno = 0;
  EXPECT_EQ(ibv_dm_export_dmabuf_fd(dm), -1);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(NewerVerbs, APortHasTheSpeedOfAllItsLanes) {
  std::uint64_t speed = 0;
  EXPECT_EQ(ibv_query_port_speed(context, 1, &speed), 0);
  EXPECT_EQ(speed, 1000u) << "four lanes of 25 Gb/s, in units of 100 Mb/s";
  EXPECT_EQ(ibv_query_port_speed(context, 0, &speed), EINVAL);
  EXPECT_EQ(ibv_query_port_speed(context, 2, &speed), EINVAL);
  EXPECT_EQ(ibv_query_port_speed(context, 257, &speed), EINVAL);
}

// --- completion counters ------------------------------------------------------------------------

class Counters : public NewerVerbs {
 protected:
  ibv_comp_cntr* create(newer::CompCntrInitAttr wanted = {}) {
    errno = 0;
    return ibv_create_comp_cntr(context, reinterpret_cast<ibv_comp_cntr_init_attr*>(&wanted));
  }
  static int attach(ibv_qp* qp, ibv_comp_cntr* counter, newer::QpAttachCompCntrAttr wanted) {
    return ibv_qp_attach_comp_cntr(qp, counter,
                                   reinterpret_cast<ibv_qp_attach_comp_cntr_attr*>(&wanted));
  }
};

TEST_F(Counters, AreReportedAsFarAsTheCallerKnowsThem) {
  newer::CompCntrCaps caps{};
  auto* const given = reinterpret_cast<ibv_comp_cntr_caps*>(&caps);
  EXPECT_EQ(_ibv_query_comp_cntr_caps(context, given, 8), 0);
  EXPECT_EQ(caps.max_value, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(caps.max_counters, 0u) << "beyond what it was given";
  EXPECT_EQ(_ibv_query_comp_cntr_caps(context, given, sizeof caps), 0);
  EXPECT_EQ(caps.max_counters, 1024u);
  EXPECT_EQ(caps.supported_qp_attach_ops, 0x3fu);
}

TEST_F(Counters, HaveTwoValuesThatCanBeSetAndIncremented) {
  ibv_comp_cntr* const counter = create();
  ASSERT_NE(counter, nullptr);
  std::uint64_t value = 7;
  EXPECT_EQ(ibv_read_comp_cntr(counter, &value), 0);
  EXPECT_EQ(value, 0u);
  EXPECT_EQ(ibv_set_comp_cntr(counter, 5), 0);
  EXPECT_EQ(ibv_inc_comp_cntr(counter, 10), 0);
  EXPECT_EQ(ibv_set_err_comp_cntr(counter, std::numeric_limits<std::uint64_t>::max()), 0);
  EXPECT_EQ(ibv_inc_err_comp_cntr(counter, 3), 0);
  EXPECT_EQ(ibv_read_comp_cntr(counter, &value), 0);
  EXPECT_EQ(value, 15u);
  EXPECT_EQ(ibv_read_err_comp_cntr(counter, &value), 0);
  EXPECT_EQ(value, 2u) << "it wraps";
  EXPECT_EQ(ibv_read_comp_cntr(counter, nullptr), EINVAL);
  EXPECT_EQ(ibv_destroy_comp_cntr(counter), 0);
}

TEST_F(Counters, OfUnknownKindsAreRefused) {
  EXPECT_EQ(create({.comp_mask = 1, .type = 0, .flags = 0}), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(create({.comp_mask = 0, .type = 0, .flags = 1}), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(create({.comp_mask = 0, .type = 2, .flags = 0}), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(Counters, StayWhileTheyAreAttached) {
  ibv_comp_cntr* const counter = create({.comp_mask = 0, .type = 1, .flags = 0});
  ibv_comp_cntr* const other = create();
  ibv_cq* const cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.qp_type = IBV_QPT_RC;
  ibv_qp* const qp = ibv_create_qp(pd, &init);
  ASSERT_NE(qp, nullptr);
  EXPECT_EQ(attach(qp, counter, {.comp_mask = 0, .op_mask = 0}), EINVAL);
  EXPECT_EQ(attach(qp, counter, {.comp_mask = 1, .op_mask = 1}), EINVAL);
  EXPECT_EQ(attach(qp, counter, {.comp_mask = 0, .op_mask = 1 << 6}), EOPNOTSUPP);
  EXPECT_EQ(attach(qp, counter, {.comp_mask = 0, .op_mask = 0x5}), 0);
  EXPECT_EQ(attach(qp, other, {.comp_mask = 0, .op_mask = 0x6}), EBUSY) << "one overlaps";
  EXPECT_EQ(attach(qp, other, {.comp_mask = 0, .op_mask = 0x2}), 0) << "nothing was attached";
  EXPECT_EQ(ibv_destroy_comp_cntr(counter), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_comp_cntr(counter), 0);
  EXPECT_EQ(ibv_destroy_comp_cntr(other), 0);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

TEST_F(NewerVerbs, NullArgumentsAreEinvalWhereRdmaCoreWouldCrash) {
  std::uint64_t value = 0;
  ibv_buf* buffer = nullptr;
  EXPECT_EQ(ibv_alloc_buf(nullptr, 1, &buffer), nullptr);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(ibv_alloc_buf(pd, 1, nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_free_buf(nullptr);
  EXPECT_EQ(ibv_export_buf_dmabuf_fd(nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(registering(nullptr, memory, 1), EINVAL);
  errno = 0;
  EXPECT_EQ(ibv_reg_mr_ex(pd, nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(ibv_reg_mr_ex(nullptr, reinterpret_cast<ibv_mr_init_attr*>(&attr)), nullptr);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(ibv_alloc_dmah(nullptr, nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_dealloc_dmah(nullptr), EINVAL);
  EXPECT_EQ(ibv_dm_export_dmabuf_fd(nullptr), -1);
  EXPECT_EQ(ibv_query_port_speed(nullptr, 1, &value), EINVAL);
  EXPECT_EQ(ibv_query_port_speed(context, 1, nullptr), EINVAL);
  EXPECT_EQ(_ibv_query_comp_cntr_caps(context, nullptr, 8), EINVAL);
  EXPECT_EQ(ibv_create_comp_cntr(nullptr, nullptr), nullptr);
  for (const int answer : {ibv_destroy_comp_cntr(nullptr), ibv_set_comp_cntr(nullptr, 1),
                           ibv_set_err_comp_cntr(nullptr, 1), ibv_inc_comp_cntr(nullptr, 1),
                           ibv_inc_err_comp_cntr(nullptr, 1), ibv_read_comp_cntr(nullptr, &value),
                           ibv_read_err_comp_cntr(nullptr, &value),
                           ibv_qp_attach_comp_cntr(nullptr, nullptr, nullptr)}) {
    EXPECT_EQ(answer, EINVAL);
  }
}

TEST_F(NewerVerbs, DriversOfRdmaCore56FindWhatTheyLoadWith) {
  errno = 0;
  EXPECT_EQ(ibv_cmd_create_cq_ex2(context, nullptr, nullptr), EOPNOTSUPP);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(NewerVerbs, OperationsAndEventsHaveRdmaCoresNames) {
  const auto opcode = [](int any) { return static_cast<ibv_wr_opcode>(any); };
  EXPECT_STREQ(ibv_wr_opcode_str(IBV_WR_RDMA_WRITE), "rdma-write");
  EXPECT_STREQ(ibv_wr_opcode_str(IBV_WR_SEND_WITH_INV), "send-with-inv");
  EXPECT_STREQ(ibv_wr_opcode_str(opcode(14)), "flush");
  EXPECT_STREQ(ibv_wr_opcode_str(opcode(15)), "atomic-write");
  EXPECT_STREQ(ibv_wr_opcode_str(opcode(16)), "unknown");
  EXPECT_STREQ(ibv_wr_opcode_str(opcode(-1)), "unknown");
  EXPECT_STREQ(ibv_event_type_str(static_cast<ibv_event_type>(IBV_EVENT_WQ_FATAL + 1)),
               "Device link speed change");
}

}  // namespace
}  // namespace anyrdma::c_api
