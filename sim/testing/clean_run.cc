#include "sim/testing/clean_run.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

namespace anyrdma::sim::testing {
namespace {

// Where things are in both buffers.
constexpr std::size_t kInAt = 0;
constexpr std::size_t kOutAt = 64;
constexpr std::size_t kWrittenAt = 512;
constexpr std::size_t kReadAt = 1024;
constexpr std::uint32_t kRoom = 64;

void put(Pipe& pipe, std::size_t at, std::string_view text) {
  std::memcpy(pipe.buffer().data() + at, text.data(), text.size());
}

std::string text_at(Pipe& pipe, std::size_t at) {
  return reinterpret_cast<const char*>(pipe.buffer().data() + at);
}

}  // namespace

CleanRun::CleanRun(World& world)
    : client_(world.add_host("client", {"192.0.2.1"})),
      server_(world.add_host("server", {"192.0.2.2"})) {}

void CleanRun::start() {
  server_.host().spawn("server", [this] { run_server(); });
  client_.host().spawn("client", [this] { run_client(); });
}

void CleanRun::run_server() {
  listener_ = server_.listen(server_.host().address(kPort));
  const auto id = server_.expect_request();
  Pipe pipe(*id);
  serve(*id, pipe);
}

void CleanRun::serve(cm::Id& id, Pipe& pipe) {
  server_qpn_ = id.qp()->qp_num;
  server_address_ = pipe.address();
  server_key_ = pipe.rkey();
  put(pipe, kReadAt, "to be read");
  pipe.post_receive(1, kInAt, kRoom);
  const rdma_conn_param param = parameters("welcome", 1, 2);
  id.accept(&param).value();
  server_.expect(RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(pipe.wait_received().byte_len, 4u);
  received_by_server_ = text_at(pipe, kInAt);
  put(pipe, kOutAt, "pong");
  pipe.post(IBV_WR_SEND, 2, kOutAt, 4);
  EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
  server_.expect(RDMA_CM_EVENT_DISCONNECTED);
  written_ = text_at(pipe, kWrittenAt);
  id.disconnect().value();
  server_.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

void CleanRun::run_client() {
  const auto id = client_.resolve(server_.host().address(kPort));
  Pipe pipe(*id);
  client_qpn_ = id->qp()->qp_num;
  pipe.post_receive(1, kInAt, kRoom);
  const rdma_conn_param param = parameters("hello", 3, 5);
  id->connect(&param).value();
  client_.expect(RDMA_CM_EVENT_ESTABLISHED);
  use(pipe);
  id->disconnect().value();
  client_.expect(RDMA_CM_EVENT_DISCONNECTED);
  client_.expect(RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

void CleanRun::use(Pipe& pipe) {
  put(pipe, kOutAt, "ping");
  pipe.post(IBV_WR_SEND, 2, kOutAt, 4);
  EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
  EXPECT_EQ(pipe.wait_received().byte_len, 4u);
  received_by_client_ = text_at(pipe, kInAt);
  put(pipe, kOutAt, "written");
  pipe.post(IBV_WR_RDMA_WRITE, 3, kOutAt, 7, server_address_ + kWrittenAt, server_key_);
  EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
  pipe.post(IBV_WR_RDMA_READ, 4, kReadAt, 10, server_address_ + kReadAt, server_key_);
  EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
  read_ = text_at(pipe, kReadAt);
}

}  // namespace anyrdma::sim::testing
