#include "transport/ucma/ucma.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "transport/ucma/system.h"
#include "transport/ucma/testing/fake_system.h"

namespace anyrdma::transport::ucma {
namespace {

/// Lets the test wait until the background thread has delivered an event.
class Handler : public EndpointHandler {
 public:
  explicit Handler(verbs::Runtime& runtime) : heard(runtime.make_semaphore().value()) {}
  void on_event(const EndpointEvent& event) override {
    type = event.type;
    heard->post();
  }
  EndpointHandler* on_connect_request(std::unique_ptr<Endpoint>&, const EndpointEvent&) override {
    return nullptr;
  }
  std::unique_ptr<verbs::Semaphore> heard;
  rdma_cm_event_type type{};
};

class UcmaTest : public ::testing::Test {
 protected:
  [[nodiscard]] int error_of_opening() {
    const auto opened = Ucma::open(system);
    EXPECT_FALSE(opened.has_value());
    EXPECT_EQ(fake.open_channels(), 0);
    return opened ? 0 : opened.error().value();
  }
  [[nodiscard]] static int number(UcmaErrc error) { return static_cast<int>(error); }
  std::unique_ptr<Endpoint> make_endpoint(Ucma& ucma, EndpointHandler& handler) {
    const verbs::CriticalSection section(ucma.transport().runtime());
    return ucma.transport().create_endpoint(RDMA_PS_TCP, IBV_QPT_RC, handler).value();
  }
  void destroy(Ucma& ucma, std::unique_ptr<Endpoint> endpoint) {
    const verbs::CriticalSection section(ucma.transport().runtime());
    endpoint.reset();
  }

  testing::FakeSystem fake;
  System system{testing::FakeSystem::verbs_functions(), testing::FakeSystem::cm_functions()};
};

TEST_F(UcmaTest, DeliversEventsWhileTheApplicationSleeps) {
  const auto ucma = Ucma::open(system).value();
  Handler handler(ucma->transport().runtime());
  auto endpoint = make_endpoint(*ucma, handler);
  rdma_cm_event event{};
  event.id = &fake.last_id();
  event.event = RDMA_CM_EVENT_ADDR_RESOLVED;

  fake.raise(event);

  ASSERT_TRUE(handler.heard->wait());
  EXPECT_EQ(handler.type, RDMA_CM_EVENT_ADDR_RESOLVED);
  destroy(*ucma, std::move(endpoint));
}

TEST_F(UcmaTest, AMachineWithoutDevicesIsToldApartFromOneWhoseDevicesAreClosed) {
  fake.fail("get_devices", ENODEV);
  fake.fail("open_device", EACCES);
  EXPECT_EQ(error_of_opening(), number(UcmaErrc::kNoPermission));
  fake.remove_devices();
  EXPECT_EQ(error_of_opening(), number(UcmaErrc::kNoDevice));
}

TEST_F(UcmaTest, AnInterfaceOfAnotherVersionIsNotALackOfDevices) {
  fake.fail("get_devices", EPERM);
  EXPECT_EQ(error_of_opening(), number(UcmaErrc::kOtherAbi));
}

TEST_F(UcmaTest, WhatTheSpecialFileSaysDecidesTheRemedy) {
  const std::pair<int, UcmaErrc> rows[] = {
      {ENOENT, UcmaErrc::kNoModule},    {EACCES, UcmaErrc::kNoPermission},
      {EPERM, UcmaErrc::kNoPermission}, {EMFILE, UcmaErrc::kNoResources},
      {ENFILE, UcmaErrc::kNoResources}, {ENOMEM, UcmaErrc::kNoResources},
  };
  for (const auto& [error, expected] : rows) {
    fake.fail("create_event_channel", error);
    EXPECT_EQ(error_of_opening(), number(expected)) << error;
  }
}

TEST_F(UcmaTest, EveryErrorNamesCauseAndRemedyAndHasAnErrno) {
  for (int value = number(UcmaErrc::kNoLibrary); value <= number(UcmaErrc::kNoResources); ++value) {
    const auto error = make_error_code(static_cast<UcmaErrc>(value));
    const std::string sentence = explain(error, {{"/nowhere"}});
    EXPECT_NE(sentence.find(": "), std::string::npos) << sentence;
    EXPECT_GT(errno_of(error), 0) << sentence;
  }
}

TEST_F(UcmaTest, WithoutTheLibrariesItSaysWhereItLooked) {
  const UcmaConfig config{{"/nowhere"}};
  const auto opened = Ucma::open(config);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error(), UcmaErrc::kNoLibrary);
  EXPECT_NE(explain(opened.error(), config).find("/nowhere"), std::string::npos);
}

TEST_F(UcmaTest, RetiredItsObjectsDoNoHarm) {
  const auto ucma = Ucma::open(system).value();
  Handler handler(ucma->transport().runtime());
  auto endpoint = make_endpoint(*ucma, handler);

  ucma->retire();
  ucma->retire();

  fake.fail("destroy_id", EBADF);
  destroy(*ucma, std::move(endpoint));
}

TEST_F(UcmaTest, AForkedChildIsCutOffAndMayOpenAnew) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer cannot follow threads of a child whose parent had some";
#endif
  const auto ucma = Ucma::open(system).value();
  Handler handler(ucma->transport().runtime());
  auto endpoint = make_endpoint(*ucma, handler);

  const pid_t child = ::fork();
  if (child == 0) {
    const bool fine = ucma->forked() && Ucma::open(system).has_value();
    fake.fail("destroy_id", EBADF);
    destroy(*ucma, std::move(endpoint));
    ::_exit(fine ? 0 : 1);
  }

  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(ucma->forked());
  rdma_cm_event event{};
  event.id = &fake.last_id();
  event.event = RDMA_CM_EVENT_ADDR_RESOLVED;
  fake.raise(event);
  ASSERT_TRUE(handler.heard->wait());
  destroy(*ucma, std::move(endpoint));
}

}  // namespace
}  // namespace anyrdma::transport::ucma
