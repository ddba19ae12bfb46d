// The same project's server, a program with a main() of its own, in a process beside a fiber.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sim/machines/running.h>
#include <sim/testing/kit.h>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using anyrdma::sim::ProgramHost;
using anyrdma::sim::Programs;
using anyrdma::sim::RunningProgram;
using anyrdma::testing::EventuallyEstablished;
using anyrdma::testing::parameters;
using anyrdma::testing::Pipe;
using anyrdma::testing::Program;
using anyrdma::testing::SimTest;

class MyServer : public SimTest {
 protected:
  Programs programs{world()};
  ProgramHost& host = programs.add_host("machine", {"10.0.0.3"});
};

TEST_F(MyServer, EndsWithItsClient) {
  RunningProgram& my_server = host.start({"./my_server", "--port", "7471"});
  ask([&] {
    client().sleep(100ms);
    Program program(client());
    const auto id = program.resolve(host.address(7471));
    Pipe pipe(*id);
    const rdma_conn_param request = parameters("hello");
    id->connect(&request).value();
    EXPECT_THAT(&program.channel(), EventuallyEstablished());
    EXPECT_FALSE(my_server.ended());
    client().sleep(60s);
    (void)id->disconnect().has_value();
    EXPECT_TRUE(my_server.wait());
  });

  ASSERT_TRUE(programs.run()) << programs.stuck_report();

  EXPECT_EQ(my_server.exit_status(), 0) << my_server.output();
  EXPECT_THAT(my_server.output(),
              ::testing::HasSubstr("RDMA_CM_EVENT_DISCONNECTED\nit said hello"));
}

}  // namespace
