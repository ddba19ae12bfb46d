// rdma_write_cm_event, rdma_resolve_addrinfo and rdma_query_addrinfo as a C program uses them.
#include <netdb.h>

#include <cstring>
#include <utility>

#include "cm/c_api/newer_functions.h"
#include "cm/c_api/testing/cm_door.h"
#include "cm/newer_rdma_cma.h"

namespace anyrdma::c_api {
namespace {

/// As an enumerator, which Debian 12's headers do not have.
rdma_cm_event_type type_of(int number) {
  return static_cast<rdma_cm_event_type>(number);
}
const rdma_cm_event_type kUser = type_of(cm::kUserEvent);
constexpr std::uint64_t kArgument = 0xfedcba9876543210;

/// What rdma_cm_event::param.arg is in newer headers.
std::uint64_t argument_of(const rdma_cm_event& event) {
  std::uint64_t argument = 0;
  std::memcpy(&argument, &event.param, sizeof argument);
  return argument;
}

class OwnEvents : public testing::CmDoor {
 protected:
  ~OwnEvents() override { rdma_freeaddrinfo(info); }

  rdma_cm_event* next() {
    rdma_cm_event* event = nullptr;
    EXPECT_EQ(rdma_get_cm_event(channel, &event), 0);
    return event;
  }
  int resolve(rdma_cm_id* id, const char* node, int flags = 0) {
    hints.ai_flags = flags;
    return rdma_resolve_addrinfo(id, node, "7471", &hints);
  }
  /// The new id of a connection request.
  rdma_cm_id* requested(rdma_cm_id* listener) {
    EXPECT_EQ(rdma_bind_addr(listener, there()), 0);
    EXPECT_EQ(rdma_listen(listener, 1), 0);
    transport.request(transport.last());
    rdma_cm_event* event = next();
    rdma_cm_id* id = event->id;
    EXPECT_EQ(rdma_ack_cm_event(event), 0);
    return id;
  }

  rdma_addrinfo hints{};
  rdma_addrinfo* info = nullptr;
};

TEST_F(OwnEvents, WhatAProgramWritesItReads) {
  rdma_cm_id* id = make_id();

  ASSERT_EQ(rdma_write_cm_event(id, kUser, -7, kArgument), 0);

  rdma_cm_event* event = next();
  EXPECT_EQ(event->event, kUser);
  EXPECT_EQ(event->status, -7);
  EXPECT_EQ(event->id, id);
  EXPECT_EQ(event->listen_id, nullptr);
  EXPECT_EQ(argument_of(*event), kArgument);
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  destroy(id);
}

TEST_F(OwnEvents, ComeInTurnWithTheTransports) {
  rdma_cm_id* id = make_id();
  EXPECT_EQ(rdma_resolve_addr(id, nullptr, there(), 1), 0);
  EXPECT_EQ(rdma_write_cm_event(id, kUser, 0, 1), 0);
  transport.raise(transport.last(), RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(rdma_write_cm_event(id, kUser, 0, 2), 0);

  acknowledge_next(kUser);
  acknowledge_next(RDMA_CM_EVENT_ADDR_RESOLVED);
  rdma_cm_event* last = next();
  EXPECT_EQ(argument_of(*last), 2u);
  EXPECT_EQ(rdma_ack_cm_event(last), 0);
  destroy(id);
}

TEST_F(OwnEvents, NothingOfOneIsLeftInTheRecordOfTheNext) {
  rdma_cm_id* id = make_id();
  EXPECT_EQ(rdma_write_cm_event(id, kUser, 0, kArgument), 0);
  acknowledge_next(kUser);
  EXPECT_EQ(rdma_resolve_addr(id, nullptr, there(), 1), 0);
  transport.raise(transport.last(), RDMA_CM_EVENT_ADDR_RESOLVED);

  rdma_cm_event* event = next();

  EXPECT_EQ(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(argument_of(*event), 0u);
  EXPECT_EQ(ntohs(rdma_get_src_port(id)), 1025) << "the work of fetching it was done";
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  destroy(id);
}

TEST_F(OwnEvents, MoveWithTheirId) {
  rdma_cm_id* id = make_id();
  EXPECT_EQ(rdma_write_cm_event(id, kUser, 0, kArgument), 0);
  rdma_event_channel* other = rdma_create_event_channel();
  EXPECT_EQ(rdma_migrate_id(id, other), 0);
  std::swap(channel, other);

  acknowledge_next(kUser);
  EXPECT_EQ(rdma_write_cm_event(id, kUser, 0, kArgument), 0);
  acknowledge_next(kUser);

  destroy(id);
  rdma_destroy_event_channel(other);
}

TEST_F(OwnEvents, UnreadOnesGoWithTheirId) {
  rdma_cm_id* id = make_id();
  EXPECT_EQ(rdma_write_cm_event(id, kUser, 0, kArgument), 0);

  destroy(id);

  rdma_cm_event* event = nullptr;
  EXPECT_EQ(rdma_get_cm_event(channel, &event), -1);
  EXPECT_EQ(errno, EDEADLK);  // what the test's runtime says of waiting for ever
}

TEST_F(OwnEvents, OfAnotherTypeAreRefused) {
  rdma_cm_id* id = make_id();
  for (int type = 0; type < 24; ++type) {
    if (type == cm::kUserEvent) continue;
    errno = 0;
    EXPECT_EQ(rdma_write_cm_event(id, type_of(type), 0, 0), -1) << type;
    EXPECT_EQ(errno, EINVAL) << type;
  }
  EXPECT_EQ(rdma_write_cm_event(nullptr, kUser, 0, 0), -1);
  EXPECT_EQ(errno, EINVAL);
  destroy(id);
}

TEST_F(OwnEvents, AreRefusedWithoutADeviceOrAChannel) {
  rdma_cm_id* removed = routed();
  ON_CALL(transport.last(), admits(::testing::_))
      .WillByDefault(::testing::Return(verbs::Result<void>(verbs::errno_code(ENXIO))));
  EXPECT_EQ(rdma_write_cm_event(removed, kUser, 0, 0), -1);
  EXPECT_EQ(errno, ENXIO);
  EXPECT_EQ(resolve(removed, "127.0.0.1"), -1);
  EXPECT_EQ(errno, ENXIO);
  destroy(removed);

  rdma_cm_id* orphan = make_id();
  rdma_destroy_event_channel(channel);
  EXPECT_EQ(rdma_write_cm_event(orphan, kUser, 0, 0), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(resolve(orphan, "127.0.0.1"), -1);
  EXPECT_EQ(errno, ENOENT);
  destroy(orphan);
  channel = rdma_create_event_channel();
}

TEST_F(OwnEvents, ARequestsIdHasNoneUntilItIsAccepted) {
  rdma_cm_id* listener = make_id();
  rdma_cm_id* id = requested(listener);
  transport.last().tells = false;
  EXPECT_EQ(rdma_write_cm_event(id, kUser, 0, 1), 0) << "as on Linux, which loses it";
  rdma_conn_param param{};
  param.qp_num = 7;
  EXPECT_EQ(rdma_accept(id, &param), 0);
  transport.last().tells = true;

  EXPECT_EQ(rdma_write_cm_event(id, kUser, 0, 2), 0);

  rdma_cm_event* event = next();
  EXPECT_EQ(argument_of(*event), 2u);
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  destroy(id);
  destroy(listener);
}

TEST_F(OwnEvents, EndTheNextCallOfASynchronousId) {
  rdma_cm_id* id = nullptr;
  EXPECT_EQ(rdma_create_id(nullptr, &id, this, RDMA_PS_TCP), 0);
  EXPECT_EQ(rdma_write_cm_event(id, kUser, ETIMEDOUT, kArgument), 0);

  EXPECT_EQ(rdma_resolve_addr(id, nullptr, there(), 1), -1);

  EXPECT_EQ(errno, ETIMEDOUT);
  EXPECT_EQ(id->event->event, kUser);
  EXPECT_EQ(argument_of(*id->event), kArgument);
  destroy(id);
}

TEST_F(OwnEvents, AnAddressIsLookedUpWithAnEventAtTheEnd) {
  rdma_cm_id* id = make_id();

  ASSERT_EQ(resolve(id, "127.0.0.1", cm::kRaiDns), 0);

  rdma_cm_event* event = next();
  EXPECT_EQ(static_cast<int>(event->event), cm::kAddrinfoResolvedEvent);
  EXPECT_EQ(event->status, 0);
  EXPECT_EQ(event->id, id);
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  ASSERT_EQ(rdma_query_addrinfo(id, &info), 0);
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(ntohs(reinterpret_cast<sockaddr_in*>(info->ai_dst_addr)->sin_port), 7471);
  destroy(id);
}

TEST_F(OwnEvents, AnAnswerIsGivenOnceAndAskedForOneAtATime) {
  rdma_cm_id* id = make_id();
  EXPECT_EQ(rdma_query_addrinfo(id, &info), -1);
  EXPECT_EQ(errno, ENOENT);
  ASSERT_EQ(resolve(id, "127.0.0.1"), 0);
  EXPECT_EQ(resolve(id, "127.0.0.1"), -1);
  EXPECT_EQ(errno, EBUSY);
  acknowledge_next(type_of(cm::kAddrinfoResolvedEvent));

  ASSERT_EQ(rdma_query_addrinfo(id, &info), 0);
  rdma_addrinfo* again = nullptr;
  EXPECT_EQ(rdma_query_addrinfo(id, &again), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(resolve(id, "127.0.0.1"), 0) << "what nobody takes goes with the id";
  destroy(id);
}

TEST_F(OwnEvents, ANameThatIsNoneIsTheResolversNumberAndNoEvent) {
  rdma_cm_id* id = make_id();

  EXPECT_EQ(resolve(id, "not.a.number", RAI_NUMERICHOST), -1);
  EXPECT_EQ(errno, EAI_NONAME);
  EXPECT_EQ(rdma_query_addrinfo(id, &info), -1);
  EXPECT_EQ(resolve(id, "127.0.0.1"), 0) << "it may ask again";

  acknowledge_next(type_of(cm::kAddrinfoResolvedEvent));
  destroy(id);
}

TEST_F(OwnEvents, NothingToLookUpIsEinval) {
  rdma_cm_id* id = make_id();

  EXPECT_EQ(rdma_resolve_addrinfo(nullptr, "127.0.0.1", "7471", nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(rdma_resolve_addrinfo(id, nullptr, nullptr, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(rdma_query_addrinfo(id, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(rdma_query_addrinfo(nullptr, &info), -1);
  EXPECT_EQ(errno, EINVAL);
  destroy(id);
}

TEST_F(OwnEvents, NoAdministratorOfASubnetCanBeAsked) {
  rdma_cm_id* id = make_id();
  EXPECT_EQ(resolve(id, "127.0.0.1", cm::kRaiSa), -1);
  EXPECT_EQ(errno, EOPNOTSUPP) << "it knows no hosts";
  EXPECT_EQ(resolve(id, nullptr, cm::kRaiSa | cm::kRaiDns), -1);
  EXPECT_EQ(errno, EOPNOTSUPP) << "either the one or the other";
  hints.ai_flags = cm::kRaiSa;
  EXPECT_EQ(rdma_resolve_addrinfo(id, nullptr, nullptr, &hints), -1);
  EXPECT_EQ(errno, EINVAL) << "no service";
  EXPECT_EQ(resolve(id, nullptr, cm::kRaiSa), -1);
  EXPECT_EQ(errno, EINVAL) << "not bound";

  EXPECT_EQ(rdma_bind_addr(id, there()), 0);
  transport.last().stands = "RDMA_CM_ADDR_BOUND";
  EXPECT_EQ(resolve(id, nullptr, cm::kRaiSa), -1);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(resolve(id, "127.0.0.1"), 0) << "the resolver can still be asked";
  destroy(id);
}

TEST_F(OwnEvents, ASynchronousIdHasItsAnswerAtOnce) {
  rdma_cm_id* id = nullptr;
  EXPECT_EQ(rdma_create_id(nullptr, &id, this, RDMA_PS_TCP), 0);

  ASSERT_EQ(resolve(id, "127.0.0.1"), 0);

  EXPECT_EQ(static_cast<int>(id->event->event), cm::kAddrinfoResolvedEvent);
  EXPECT_EQ(rdma_query_addrinfo(id, &info), 0);
  destroy(id);
}

}  // namespace
}  // namespace anyrdma::c_api
