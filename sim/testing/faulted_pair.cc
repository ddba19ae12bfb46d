#include "sim/testing/faulted_pair.h"

#include <chrono>
#include <utility>

namespace anyrdma::sim::testing {

void FaultedPair::inject(std::string_view plan) {
  const auto injected = world.faults().inject(FaultPlan::parse(plan).value());
  EXPECT_TRUE(injected) << injected.error().to_string();
}

void FaultedPair::connect(cm::Id& id, std::uint32_t qpn) {
  rdma_conn_param param = parameters("");
  param.qp_num = qpn;
  id.connect(&param).value();
}

std::unique_ptr<cm::Id> FaultedPair::ask() {
  return ask(client, next_qpn++);
}

std::unique_ptr<cm::Id> FaultedPair::ask(Program& program, std::uint32_t qpn) {
  auto id = program.resolve(server_host.address(kPort));
  connect(*id, qpn);
  return id;
}

std::unique_ptr<cm::Id> FaultedPair::accept() {
  auto id = server.expect_request();
  rdma_conn_param param = parameters("");
  param.qp_num = next_qpn++;
  id->accept(&param).value();
  return id;
}

FaultedPair::Connection FaultedPair::finish(Program& program, std::unique_ptr<cm::Id> active) {
  Connection made{std::move(active), accept()};
  program.expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
  made.active->establish().value();
  server.expect(RDMA_CM_EVENT_ESTABLISHED);
  return made;
}

double FaultedPair::now() const {
  return std::chrono::duration<double>(world.now().time_since_epoch()).count();
}

}  // namespace anyrdma::sim::testing
