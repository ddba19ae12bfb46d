#include "tests/conformance/stage.h"

#include <algorithm>
#include <cctype>

#include "tests/conformance/require.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr Duration kPatienceOfBoth = 400s;
constexpr Duration kPatience = 30s;
constexpr int kPatienceMs = 30'000;
constexpr Duration kArrival = 1500ms;
constexpr std::uint16_t kFirstPort = 7500;
constexpr unsigned kPortsEach = 8;
constexpr std::uint16_t kFirstEphemeral = 32768;
constexpr unsigned kGroups = 250;  // of the last byte
/// Beyond what devices number their queue pairs with.
constexpr std::uint32_t kFirstNumber = 0x800000;
constexpr std::uint32_t kNumbersEach = 256;

/// What making a connection usually looks like: L listens, A is active, P passive.
constexpr std::string_view kRouted = "A.routed to server:p: ok";
constexpr std::string_view kMadeQp = "A.make_qp(): ok";
constexpr std::string_view kConnects = "A.connect(): ok";
constexpr std::string_view kRequest = "L <- CONNECT_REQUEST retry=7 rnr=7 qp=A data=56 00*56 P";
constexpr std::string_view kMadeQpToo = "P.make_qp(): ok";
constexpr std::string_view kEstablished = "A <- ESTABLISHED rnr=7 qp=P data=196 00*196";
constexpr std::string_view kEstablishedToo = "P <- ESTABLISHED";

/// And on the terms that both ends may read.
constexpr std::string_view kConnectsToRead = "A.connect(resources=2 depth=2): ok";
constexpr std::string_view kRequestToRead =
    "L <- CONNECT_REQUEST resources=2 depth=2 retry=7 rnr=7 qp=A data=56 00*56 P";
constexpr std::string_view kAcceptsReads = "P.accept(resources=2 depth=2): ok";
constexpr std::string_view kEstablishedToRead =
    "A <- ESTABLISHED resources=2 depth=2 rnr=7 qp=P data=196 00*196";

/// The placeholder as a word of its own, which begins no other.
void replace_all(std::string& text, std::string_view placeholder, const std::string& name) {
  const auto is_letter = [&text](std::size_t at) {
    return at < text.size() &&
           (std::isalpha(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, at + 1)) {
    if (is_letter(at + 1) || (at > 0 && is_letter(at - 1))) continue;
    text.replace(at, placeholder.size(), name);
  }
}

std::vector<Scenario>& registered() {
  static std::vector<Scenario> all;
  return all;
}

}  // namespace

bool add_scenario(Scenario scenario) {
  if (scenario.slow) scenario.needs.insert(Ability::kMinutes);
  registered().push_back(std::move(scenario));
  return true;
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> kSorted = [] {
    std::vector<Scenario> all = registered();
    std::ranges::sort(all, {}, &Scenario::full_name);
    for (std::size_t i = 1; i < all.size(); ++i) {
      require(all[i].full_name() != all[i - 1].full_name(), "two of one name");
    }
    return all;
  }();
  return kSorted;
}

Stage::Stage(Backend& backend, unsigned number)
    : backend_(backend),
      first_port_(static_cast<std::uint16_t>(kFirstPort + kPortsEach * number)),
      first_number_(kFirstNumber + kNumbersEach * number),
      number_(number),
      last_line_(backend.now()),
      server_(std::make_unique<Party>(*this, Side::kPassive)),
      client_(std::make_unique<Party>(*this, Side::kActive)) {}

Stage::~Stage() {
  client_.reset();
  server_.reset();
}

void Stage::add(Side side, const std::string& line) {
  record_.add(side, line);
  last_line_ = backend_.now();
}

// --- connections --------------------------------------------------------------------------------

void Stage::listen_once() {
  if (listener_ == nullptr) listener_ = &server_->listening(kAny);
}

void Stage::condense(std::size_t first, const Connection& connection, std::string_view kind,
                     std::initializer_list<std::string_view> usual) {
  const std::vector<std::string> lines = record_.take_back(first);
  std::vector<std::string> expected;
  for (const std::string_view each : usual) {
    std::string line(each);
    replace_all(line, "L", listener_->name());
    replace_all(line, "A", connection.active.name());
    replace_all(line, "P", connection.passive.name());
    expected.push_back(line);
  }
  if (lines == expected) {
    return add(Side::kActive, connection.active.name() + " " + std::string(kind) + " " +
                                  connection.passive.name());
  }
  for (const std::string& line : lines) record_.add(Side::kActive, line);
}

Connection Stage::request() {
  listen_once();
  const std::size_t first = record_.lines().size();
  Id& active = client_->connecting();
  Id& passive = server_->take_request();
  passive.make_qp();
  const Connection connection{active, passive};
  condense(first, connection, "requests", {kRouted, kMadeQp, kConnects, kRequest, kMadeQpToo});
  return connection;
}

Connection Stage::half_connect() {
  listen_once();
  const std::size_t first = record_.lines().size();
  const Connection connection = request();
  connection.passive.accept(kNoParam);
  client_->take(connection.active);
  condense(first, connection, "accepted by", {"A requests P", "P.accept(null): ok", kEstablished});
  return connection;
}

Connection Stage::connect() {
  listen_once();
  const std::size_t first = record_.lines().size();
  const Connection connection = half_connect();
  server_->take(connection.passive);
  condense(first, connection, "connected with", {"A accepted by P", kEstablishedToo});
  return connection;
}

Connection Stage::connect(const Terms& terms) {
  listen_once();
  const std::size_t first = record_.lines().size();
  Id& active = client_->routed();
  active.make_qp(terms.active);
  active.connect(terms.asked);
  Id& passive = server_->take_request();
  passive.make_qp(terms.passive);
  passive.accept(terms.granted);
  client_->take(active);
  server_->take(passive);
  const Connection connection{active, passive};
  condense(first, connection, "connected for reads with",
           {kRouted, kMadeQp, kConnectsToRead, kRequestToRead, kMadeQpToo, kAcceptsReads,
            kEstablishedToRead, kEstablishedToo});
  return connection;
}

Connection Stage::connect_without_qp() {
  listen_once();
  const std::size_t first = record_.lines().size();
  Id& active = client_->routed();
  active.connect();
  Id& passive = server_->take_request();
  passive.accept();
  client_->take(active);
  active.establish();
  server_->take(passive);
  const Connection connection{active, passive};
  condense(
      first, connection, "connected without queue pairs with",
      {kRouted, kConnects, kRequest, "P.accept(): ok",
       "A <- CONNECT_RESPONSE rnr=7 qp=P data=196 00*196", "A.establish(): ok", kEstablishedToo});
  return connection;
}

// --- what happens -------------------------------------------------------------------------------

void Stage::both(std::function<void()> server, std::function<void()> client) {
  record_.begin_apart();
  const bool ended = backend_.run_both(std::move(server), std::move(client), kPatienceOfBoth);
  record_.end_apart();
  if (!ended) add(Side::kPassive, "they do not end");
}

void Stage::settle() {
  ask_in_vain();
  pass(kArrival);
}

void Stage::ask_in_vain() {
  const Calls::Cm& cm = backend_.calls(Side::kActive).cm;
  rdma_event_channel* const channel = cm.create_event_channel();
  if (channel == nullptr) return;
  rdma_cm_id* id = nullptr;
  // Time that is virtual, where there are no descriptors, is never too short.
  if (channel->fd >= 0 && cm.create_id(channel, &id, nullptr, RDMA_PS_TCP) == 0) {
    make_nonblocking(channel->fd);
    ask_in_vain(*id);
    (void)cm.destroy_id(id);
  }
  cm.destroy_event_channel(channel);
}

void Stage::ask_in_vain(rdma_cm_id& id) {
  const Calls::Cm& cm = backend_.calls(Side::kActive).cm;
  const auto comes = [&] {
    return backend_.wait_until(
        [&] {
          rdma_cm_event* const event = backend_.next_event(Side::kActive, id.channel);
          if (event != nullptr) (void)cm.ack_cm_event(event);
          return event != nullptr;
        },
        kPatience);
  };
  const Address from = address(any_port(kClient));
  const Address to = address(with_port(kServer, int{kPortsEach - 1}));  // no scenario listens there
  rdma_conn_param param{};
  param.qp_num = take_number();
  if (cm.resolve_addr(&id, from.get(), to.get(), kPatienceMs) != 0 || !comes()) return;
  if (cm.resolve_route(&id, kPatienceMs) != 0 || !comes()) return;
  if (cm.connect(&id, &param) == 0) (void)comes();
}

void Stage::pass(Duration time) {
  (void)backend_.wait_until([] { return false; }, time);
}

void Stage::lose(Party& from, Message message, unsigned count) {
  backend_.lose(from.side(), message, count);
}

void Stage::remove_device(Party& of) {
  of.note("device is removed");
  backend_.remove_device(of.side());
}

void Stage::fail_over(Party& of) {
  of.note("link address changes");
  backend_.fail_over(of.side());
}

void Stage::fail_back(Party& of) {
  of.note("first link address returns");
  backend_.fail_back(of.side());
}

void Stage::tell_of_neighbour(NeighbourNews news) {
  static constexpr std::array<std::string_view, 4> kWords = {
      "neighbour is elsewhere", "neighbour is back", "neighbour is where it was",
      "neighbour is forgotten"};
  client_->note(std::string(kWords[static_cast<std::size_t>(news)]));
  backend_.tell_of_neighbour(news);
}

// --- addresses and numbers ----------------------------------------------------------------------

std::string Stage::ip(Role role) {
  switch (role) {
    case Role::kAny:
      return "0.0.0.0";
    case Role::kAny6:
      return "::";
    case Role::kLoopback:
      return "127.0.0.1";
    case Role::kGroup:
      return "239.7." + std::to_string(1 + number_ / kGroups) + "." +
             std::to_string(number_ % kGroups + 1);
    case Role::kGroup6:
      return "ff0e::7:" + std::to_string(1 + number_ / kGroups) + ":" +
             std::to_string(number_ % kGroups + 1);
    case Role::kServer:
    case Role::kServerOther:
    case Role::kClient:
    case Role::kNobody:
    case Role::kDeaf:
    case Role::kMoving:
    case Role::kNowhere:
    case Role::kForeign:
      return backend_.address(role);
  }
  return {};
}

Address Stage::address(Place place) {
  std::uint16_t port = 0;
  if (place.port == Place::kPrivileged) port = 7;
  if (place.port >= 0) port = static_cast<std::uint16_t>(first_port_ + place.port);
  return {ip(place.role), port};
}

std::string Stage::place_text(Place place) const {
  std::string text(to_string(place.role));
  if (place.port == Place::kEphemeral) return text;
  if (place.port == Place::kPrivileged) return text + ":7";
  return text + (place.port == 0 ? ":p" : ":p+" + std::to_string(place.port));
}

std::string Stage::place_text(const sockaddr& address) {
  const std::string text = ip_of(address);
  if (text.empty()) return "-";
  std::string name = "unknown";
  for (int i = 0; i <= static_cast<int>(kLastRole); ++i) {
    const auto role = static_cast<Role>(i);
    if (ip(role) == text) {
      name = to_string(role);
      break;
    }
  }
  const std::uint16_t port = port_of(address);
  if (port == 0) return name;
  if (port >= kFirstEphemeral) return name + ":ephemeral";
  const int number = port - first_port_;
  if (number < 0 || number >= static_cast<int>(kPortsEach))
    return name + ":" + std::to_string(port);
  return name + (number == 0 ? ":p" : ":p+" + std::to_string(number));
}

std::string Stage::qpn_text(const Party& reader, std::uint32_t qpn) {
  const Party& peer = &reader == server_.get() ? *client_ : *server_;
  for (const Party* party : {&peer, &reader}) {
    std::string name = party->owner_of(qpn);
    if (!name.empty()) return name;
  }
  return "unknown";
}

}  // namespace anyrdma::conformance
