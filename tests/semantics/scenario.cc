#include "tests/semantics/scenario.h"

#include <arpa/inet.h>

#include <algorithm>
#include <sstream>

#include "cm/event_channel.h"

namespace anyrdma::semantics {

Address::Address(const char* ip, std::uint16_t port) {
  auto* const four = reinterpret_cast<sockaddr_in*>(&storage_);
  auto* const six = reinterpret_cast<sockaddr_in6*>(&storage_);
  if (inet_pton(AF_INET, ip, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    return;
  }
  EXPECT_EQ(inet_pton(AF_INET6, ip, &six->sin6_addr), 1) << ip;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(port);
}

rdma_conn_param parameters(std::string_view data, std::uint8_t responder_resources,
                           std::uint8_t initiator_depth) {
  static std::uint32_t qpn = 0x10000;
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = static_cast<std::uint8_t>(data.size());
  param.responder_resources = responder_resources;
  param.initiator_depth = initiator_depth;
  param.retry_count = 7;
  param.rnr_retry_count = 7;
  param.qp_num = ++qpn;  // the same one twice would be a stale connection
  return param;
}

std::vector<std::uint8_t> padded(std::string_view text, std::size_t size) {
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  bytes.resize(size);
  return bytes;
}

// --- Party --------------------------------------------------------------------------------------

Party::Party(sim::Host& host) : host_(host) {
  as_program([this] { channel_ = rdma_create_event_channel(); });
  EXPECT_NE(channel_, nullptr);
}

Party::~Party() {
  while (!ids_.empty()) destroy(ids_.back());
  rdma_destroy_event_channel(channel_);
}

void Party::as_program(std::function<void()> body) {
  bool done = false;
  host_.spawn("main", [&] {
    body();
    done = true;
  });
  EXPECT_TRUE(host_.world().run_until([&] { return done; })) << host_.world().stuck_report();
}

rdma_cm_id* Party::make(rdma_port_space space) {
  rdma_cm_id* id = nullptr;
  EXPECT_EQ(error_of(rdma_create_id(channel_, &id, nullptr, space)), 0);
  ids_.push_back(id);
  return id;
}

rdma_cm_id* Party::routed(const char* to, rdma_port_space space, std::uint16_t port) {
  rdma_cm_id* id = make(space);
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(to, port), kPatienceMs)), 0);
  take(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
  EXPECT_EQ(error_of(rdma_resolve_route(id, kPatienceMs)), 0);
  take(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
  return id;
}

rdma_cm_id* Party::listen(const char* on, int backlog, rdma_port_space space, std::uint16_t port) {
  rdma_cm_id* id = make(space);
  EXPECT_EQ(error_of(rdma_bind_addr(id, Address(on, port))), 0);
  EXPECT_EQ(error_of(rdma_listen(id, backlog)), 0);
  return id;
}

void Party::make_qp(rdma_cm_id* id) {
  ibv_qp_init_attr attr{};
  attr.qp_type = id->qp_type;
  attr.sq_sig_all = 1;
  attr.cap.max_send_wr = attr.cap.max_recv_wr = 4;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  EXPECT_EQ(error_of(rdma_create_qp(id, nullptr, &attr)), 0);
}

ibv_qp_attr Party::query_qp(rdma_cm_id* id) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  EXPECT_EQ(ibv_query_qp(id->qp, &attr,
                         IBV_QP_STATE | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC, &init),
            0);
  return attr;
}

void Party::destroy(rdma_cm_id* id) {
  std::erase(ids_, id);
  if (id->qp != nullptr) rdma_destroy_qp(id);
  EXPECT_EQ(error_of(rdma_destroy_id(id)), 0);
}

rdma_cm_event* Party::hold() {
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel_, &event) != 0) {
    ADD_FAILURE() << "no event on " << host_.name() << ": " << strerror(errno);
    return nullptr;
  }
  if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) ids_.push_back(event->id);
  return event;
}

Seen Party::keep(rdma_cm_event* event) {
  Seen seen;
  seen.event = event->event;
  seen.status = event->status;
  seen.id = event->id;
  seen.listen_id = event->listen_id;
  seen.conn = event->param.conn;
  seen.ud = event->param.ud;
  const auto* data = static_cast<const std::uint8_t*>(event->param.conn.private_data);
  if (event->param.conn.private_data_len != 0) {
    seen.data.assign(data, data + event->param.conn.private_data_len);
  }
  seen.when = now();
  EXPECT_EQ(error_of(rdma_ack_cm_event(event)), 0);
  return seen;
}

Seen Party::take(rdma_cm_event_type event) {
  rdma_cm_event* const next = hold();
  if (next == nullptr) return {};
  EXPECT_STREQ(rdma_event_str(next->event), rdma_event_str(event))
      << "on " << host_.name() << ", status " << next->status;
  return keep(next);
}

Seen Party::take(rdma_cm_event_type event, int status) {
  Seen seen = take(event);
  EXPECT_EQ(seen.status, status) << rdma_event_str(event) << " on " << host_.name();
  return seen;
}

void Party::expect_silence(Duration time) {
  host_.world().run_for(time);
  // The C API waits where it looks, and the simulator has no descriptor to poll.
  auto event = cm::EventChannel::from(channel_).try_get();
  if (!event) return;
  ADD_FAILURE() << "unexpected " << rdma_event_str(event->type()) << ", status " << event->status()
                << " on " << host_.name();
}

// --- Pair ---------------------------------------------------------------------------------------

namespace {

sim::WorldOptions with_profile(const ibcm::Profile& profile) {
  sim::WorldOptions options;
  options.profile = profile;
  return options;
}

}  // namespace

Pair::Pair(const ibcm::Profile& profile) : Pair(with_profile(profile)) {}

Pair::Pair(const sim::WorldOptions& options) : world(1, options) {}

void Pair::plan(std::string_view line) {
  const auto parsed = sim::FaultPlan::parse(line);
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  ASSERT_TRUE(world.faults().inject(*parsed));
}

std::vector<Instant> Pair::sent(std::string_view from, std::string_view message) {
  std::vector<Instant> times;
  std::istringstream lines(world.trace().text());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    double time = 0;
    std::string sender, arrow, receiver, what;
    words >> time >> sender >> arrow >> receiver >> what;
    if (sender != from || arrow != "->" || what != message) continue;
    times.emplace_back(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(time)));
  }
  return times;
}

Pair::Connection Pair::request() {
  if (listener_ == nullptr) listener_ = server.listen("0.0.0.0", 8, RDMA_PS_TCP, kPort);
  Connection connection;
  connection.active = client.routed(kServer);
  Party::make_qp(connection.active);
  rdma_conn_param param = parameters();
  EXPECT_EQ(error_of(rdma_connect(connection.active, &param)), 0);
  connection.passive = server.take_request();
  Party::make_qp(connection.passive);
  return connection;
}

Pair::Connection Pair::half_connect() {
  const Connection connection = request();
  EXPECT_EQ(error_of(rdma_accept(connection.passive, nullptr)), 0);
  client.take(RDMA_CM_EVENT_ESTABLISHED, 0);
  return connection;
}

Pair::Connection Pair::connect() {
  const Connection connection = half_connect();
  server.take(RDMA_CM_EVENT_ESTABLISHED, 0);
  return connection;
}

}  // namespace anyrdma::semantics
