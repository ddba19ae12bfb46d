// A CM message whose fields are wrong one by one, and everything else in it right: what the
// receiver does about each is docs/altered.md, which this writes (--write) or is held against.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/testing/audit.h"
#include "sim/testing/program.h"
#include "transport/event_name.h"
#include "transport/fault/plan/scalars.h"
#include "transport/ibcm/wire/field_table.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ibcm::wire::Attribute;
using ibcm::wire::Field;
using ibcm::wire::NamedField;

constexpr std::string_view kWord = "a word of the program's own";

/// Two hosts, messages between which are altered: what either side is told of it.
class Altered {
 public:
  explicit Altered(const std::string& plan) {
    const PlanResult<FaultPlan> parsed = FaultPlan::parse(plan);
    EXPECT_TRUE(parsed && world_.faults().inject(*parsed)) << plan;
  }

  /// "client: ESTABLISHED; server: CONNECT_REQUEST, ESTABLISHED".
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const char* const side : {"client", "server"}) {
      std::string words;
      if (const auto found = told_.find(side); found != told_.end()) words = found->second;
      all += std::string(all.empty() ? "" : "; ") + side + ": " + (words.empty() ? "-" : words);
    }
    return all;
  }
  [[nodiscard]] bool fired() const { return world_.faults().status()[0].fired != 0; }

 protected:
  void note(const std::string& side, const std::string& word) {
    std::string& told = told_[side];
    told += (told.empty() ? "" : ", ") + word;
  }
  void note(const std::string& side, const cm::Event& event) {
    std::string word(transport::short_event_name(event.type()));
    if (event.status() != 0) word += " " + std::to_string(event.status());
    note(side, word);
  }
  /// The server's events and the client's, as they come.
  template <class Serve, class Ask>
  void live(Duration time, Serve&& serve, Ask&& ask) {
    const Instant end = world_.now() + time;
    while (world_.now() < end) {
      world_.run_for(100ms);
      while (verbs::Result<cm::Event> event = server_.channel().try_get()) {
        note("server", *event);
        serve(*event);
      }
      while (verbs::Result<cm::Event> event = client_.channel().try_get()) {
        note("client", *event);
        ask(*event);
      }
    }
  }

 private:
  Unaudited unaudited_;  ///< checkers would say that nobody has said what is heard

 protected:
  World world_{1};
  Host& client_host_ = world_.add_host("client", {"10.0.0.1"});
  Host& server_host_ = world_.add_host("server", {"10.0.0.2"});
  Program client_{client_host_};
  Program server_{server_host_};

 private:
  std::map<std::string, std::string> told_;
};

/// A client connects, says a word and disconnects.
class Conversation : public Altered {
 public:
  explicit Conversation(const std::string& plan) : Altered(plan) {
    active_ = client_.resolve(server_host_.address(kPort));
    near_ = std::make_unique<Pipe>(*active_);
    std::copy(kWord.begin(), kWord.end(), near_->buffer().begin());
    rdma_conn_param param = parameters("asks");
    active_->connect(&param).value();
    client_.seen.clear();
    live(100s);
    if (is_connected_) note("client", sent());
    if (far_ != nullptr) note("server", received());
    (void)active_->disconnect().has_value();
    live(100s);
    near_.reset();
    far_.reset();
    passive_.reset();
  }

 private:
  void live(Duration time) {
    Altered::live(
        time, [this](cm::Event& event) { serve(event); },
        [this](const cm::Event& event) {
          if (event.type() == RDMA_CM_EVENT_ESTABLISHED) is_connected_ = true;
        });
  }
  void serve(cm::Event& event) {
    if (event.type() != RDMA_CM_EVENT_CONNECT_REQUEST) return;
    auto request = event.take_request();
    event.ack();
    if (passive_ != nullptr) return;
    passive_ = std::move(request);
    far_ = std::make_unique<Pipe>(*passive_);
    far_->post_receive(1, 0, Pipe::kBytes);
    rdma_conn_param param = parameters("accepts");
    const auto accepted = passive_->accept(&param);
    if (accepted) return;
    note("server", "accept fails with " + std::to_string(accepted.error().value()));
    far_.reset();
    passive_.reset();
  }
  static std::string status_of(const ibv_wc& completion) {
    return completion.status == IBV_WC_WR_FLUSH_ERR ? "WR_FLUSH_ERR"
                                                    : fault::word_of(completion.status);
  }
  std::string sent() {
    near_->post(IBV_WR_SEND, 1, 0, static_cast<std::uint32_t>(kWord.size()));
    world_.run_for(20s);
    ibv_wc completion{};
    if (ibv_poll_cq(active_->qp()->send_cq, 1, &completion) == 0) return "no completion";
    return completion.status == IBV_WC_SUCCESS ? "sent" : "SEND " + status_of(completion);
  }
  std::string received() {
    ibv_wc completion{};
    if (ibv_poll_cq(passive_->qp()->recv_cq, 1, &completion) == 0) return "no message";
    if (completion.status != IBV_WC_SUCCESS) return "RECV " + status_of(completion);
    const std::string_view came(reinterpret_cast<const char*>(far_->buffer().data()), kWord.size());
    EXPECT_EQ(came, kWord) << "no program's data may ever be changed";
    return "message";
  }

  std::unique_ptr<cm::Id> listener_ = server_.listen(server_host_.address(kPort));
  std::unique_ptr<cm::Id> active_;
  std::unique_ptr<cm::Id> passive_;
  std::unique_ptr<Pipe> near_;
  std::unique_ptr<Pipe> far_;
  bool is_connected_ = false;
};

/// A client asks for a datagram service.
class Question : public Altered {
 public:
  explicit Question(const std::string& plan) : Altered(plan) {
    const auto listener = make(server_);
    const sockaddr_storage to = server_host_.address(kPort).to_sockaddr();
    const auto* const address = reinterpret_cast<const sockaddr*>(&to);
    listener->bind(address).value();
    listener->listen(8).value();
    const auto id = make(client_);
    id->resolve_addr(nullptr, address, kPatience).value();
    client_.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    id->resolve_route(kPatience).value();
    client_.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    rdma_conn_param param = parameters("asks");
    id->connect(&param).value();
    std::vector<std::unique_ptr<cm::Id>> asked;
    live(
        100s,
        [&](cm::Event& event) {
          if (event.type() != RDMA_CM_EVENT_CONNECT_REQUEST) return;
          rdma_conn_param answer = parameters("answers");
          answer.qp_num = 0x77;
          (void)asked.emplace_back(event.take_request())->accept(&answer).has_value();
        },
        [&](const cm::Event& event) {
          if (event.type() != RDMA_CM_EVENT_ESTABLISHED) return;
          note("client", "with queue pair " + std::to_string(event.ud().qp_num));
        });
  }

 private:
  static std::unique_ptr<cm::Id> make(Program& program) {
    return cm::Id::create(program.channel(), RDMA_PS_UDP, nullptr).value();
  }
};

struct Message {
  CmMessage kind;
  const char* from;
  const char* to;
  const char* also = "";     ///< what brings it about
  bool is_question = false;  ///< of a datagram service

  /// What is told, and whether the plan's first fault has happened.
  [[nodiscard]] std::pair<std::string, bool> run(const std::string& plan) const {
    if (is_question) {
      const Question run(plan);
      return {run.text(), run.fired()};
    }
    const Conversation run(plan);
    return {run.text(), run.fired()};
  }
};
constexpr Message kMessages[] = {
    {CmMessage::kReq, "client", "server"},
    {CmMessage::kMra, "server", "client", "on server request 1: mra 20\n"},
    {CmMessage::kRej, "server", "client", "on server request 1: reject 28 6e6f\n"},
    {CmMessage::kRep, "server", "client"},
    {CmMessage::kRtu, "client", "server"},
    {CmMessage::kDreq, "client", "server"},
    {CmMessage::kDrep, "server", "client"},
    {CmMessage::kSidrReq, "client", "server", "", true},
    {CmMessage::kSidrRep, "server", "client", "", true},
};

std::string altered(const Message& message, std::string_view field, std::uint64_t value) {
  return std::string("on ") + message.from + "->" + message.to + " " +
         fault::word_of(message.kind) + " all: alter " + std::string(field) + " " +
         std::to_string(value) + "\n" + message.also;
}

std::uint64_t all_ones(const Field& field) {
  return field.width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field.width) - 1;
}

/// A list item in lines of at most 100 columns. Code stays on its line.
std::string item_of(const std::string& text) {
  std::string item = "-";
  std::size_t column = 1;
  std::istringstream words(text);
  for (std::string word, more; words >> word;) {
    if (std::count(word.begin(), word.end(), '`') % 2 == 1 && words >> more) word += " " + more;
    const bool fits = column + 1 + word.size() <= 100;
    item += fits ? " " : "\n  ";
    column = (fits ? column + 1 : 2) + word.size();
    item += word;
  }
  return item + "\n";
}

/// Fields with the same effect are one item of the list.
std::string table_of(const Message& message, const std::string& usual) {
  std::map<std::string, std::string> fields_of;
  std::vector<std::string> order;
  const auto attribute = static_cast<Attribute>(message.kind);
  for (const auto& fields : {ibcm::wire::header_fields(), ibcm::wire::fields_of(attribute)}) {
    for (const NamedField& each : fields) {
      for (const std::uint64_t value : {std::uint64_t{0}, all_ones(each.field)}) {
        const auto [text, fired] = message.run(altered(message, each.name, value));
        EXPECT_TRUE(fired) << each.name;
        const std::string told = text == usual ? "No visible effect" : text;
        auto& names = fields_of[told];
        if (names.empty()) order.push_back(told);
        names +=
            (names.empty() ? "`" : ", `") + std::string(each.name) + (value == 0 ? " 0`" : " max`");
      }
    }
  }
  std::string list =
      "\n## " + std::string(fault::to_string(message.kind)) + "\n\nUnchanged: " + usual + ".\n\n";
  for (const std::string& told : order) list += item_of("**" + told + ":** " + fields_of.at(told));
  return list;
}

std::string page() {
  std::string text = R"(# Messages with one wrong field

What happens to a connection when one field of a CM message has another value, and the message
passes all checks? A plan alters a field by `on client->server REQ 1: alter path_mtu 6`
([language](fault-language.md)).

- Each field of each kind of message is set to 0 and to its maximum (`max`); of a long field, the
  last 64 bits are set. All messages of the kind are altered.
- The client connects, sends one message and disconnects; the server accepts.
- An effect lists the events of each side, in order. `message` means that the program's message
  arrived unchanged; `-` means no event.

`bazel run //sim:altered_message_test -- --write` generates this page. The test fails when it is out
of date.
)";
  for (const Message& each : kMessages) {
    text += table_of(each, each.run("maybe at 1000s: mend *<->*\n" + std::string(each.also)).first);
  }
  return text;
}

TEST(AlteredMessage, EveryFieldOfEveryMessageHasWhatThePageSays) {
  std::ifstream file("docs/altered.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};

  EXPECT_TRUE(text == page()) << "bazel run //sim:altered_message_test -- --write";
}

TEST(AlteredMessage, AFieldThatIsNotThereIsRefused) {
  World world{1};
  (void)world.add_host("server", {"10.0.0.2"});
  (void)world.add_host("client", {"10.0.0.1"});
  for (const auto& [line, reason] : std::map<std::string, std::string>{
           {"on client->server RTU 1: alter path_mtu 1", "a RTU has no field 'path_mtu'"},
           {"on client->server REQ 1: alter path_mtu 16", "'path_mtu' has 4 bits"}}) {
    const auto refused = world.faults().inject(FaultPlan::parse(line + "\n").value());
    ASSERT_FALSE(refused) << line;
    EXPECT_EQ(refused.error().reason, reason);
  }
  EXPECT_FALSE(FaultPlan::parse("on client->server packet 1: alter path_mtu 1\n"));
  EXPECT_FALSE(FaultPlan::parse("on client->server REQ 1: alter PathMtu 1\n"));
}

}  // namespace

int write_page(const char* root) {
  std::ofstream file(std::string(root) + "/docs/altered.md");
  file << page();
  return file.good() ? 0 : 1;
}

}  // namespace anyrdma::sim::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc < 2) return RUN_ALL_TESTS();
  const char* const root = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (std::string_view(argv[1]) != "--write" || root == nullptr) return 1;
  return anyrdma::sim::testing::write_page(root);
}
