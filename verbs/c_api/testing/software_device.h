// One software HCA behind the doors, in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

#include "transport/testing/mock_transport.h"
#include "verbs/c_api/testing/process.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/testing/fake_runtime.h"

namespace anyrdma::c_api::testing {

/// Fixture: the process has one device, with one GID at index 1.
class SoftwareDevice : public ::testing::Test {
 protected:
  SoftwareDevice() {
    ibv_gid gid{};
    gid.raw[10] = gid.raw[11] = 0xff;
    gid.raw[12] = 10;
    gid.raw[15] = 1;
    hca->set_gid(1, gid);
    set_process_transport(&transport);
    errno = 0;
  }
  ~SoftwareDevice() override { set_process_transport(nullptr); }

  verbs::soft::testing::FakeRuntime runtime;
  verbs::soft::testing::FakeRandom random;
  verbs::soft::PacketPool pool;
  std::unique_ptr<verbs::soft::Hca> hca = verbs::soft::Hca::create(runtime, random, pool, {});
  ::testing::NiceMock<transport::testing::MockTransport> transport{runtime, *hca};
};

}  // namespace anyrdma::c_api::testing
