// Scenarios over datagrams: a service that is asked for, and a group.
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "sim/findings.h"
#include "sim/scenarios/party.h"
#include "sim/scenarios/scenarios.h"
#include "sim/scenarios/stage.h"

namespace anyrdma::sim::scenarios {
namespace {

using namespace std::chrono_literals;

constexpr int kTries = 3;                  // of each datagram, and of the question
constexpr Duration kBetween = 3ms;         // the receiver looks every millisecond
constexpr Duration kListeningFor = 300ms;  // in silence
constexpr Duration kQuietPause = 100ms;    // until everybody has joined
const sockaddr_storage kGroup = Address::ipv4(0xef010203).to_sockaddr();

/// Sends every message several times: datagrams get lost.
void send_all(Host& host, Mailbox& mailbox, std::uint64_t messages) {
  for (std::uint64_t i = 0; i < messages * kTries; ++i) {
    if (!mailbox.send(i / kTries) || !host.sleep(kBetween)) return;
  }
}

/// Counts the messages that come, each once, until it is silent.
void receive_all(Host& host, Mailbox& mailbox, std::uint64_t messages, Score& score) {
  std::set<std::uint64_t> came;
  while (const auto message = mailbox.receive(kListeningFor)) {
    if (*message >= messages) complain(host.name() + " received a datagram that no host sent");
    sometimes("a datagram came again", !came.insert(*message).second);
  }
  sometimes("a datagram was lost for good", came.size() < messages);
  score.passed += came.size();
}

/// Asks where to send, and sends.
void ask(Host& host, const Address& server, std::uint64_t messages) {
  Party self(host);
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (attempt != 0 && !host.sleep(10ms)) return;
    const auto id = self.resolve(server, RDMA_PS_UDP);
    if (id == nullptr) continue;
    Mailbox mailbox(self, *id);
    if (!mailbox.open(IBV_QPT_UD)) return;
    const rdma_conn_param question = parameters("where?");
    auto answer = self.wait(id->connect(&question), RDMA_CM_EVENT_ESTABLISHED);
    if (!answer) continue;
    const bool known = mailbox.address(answer->ud());
    answer->ack();  // the id's end waits for it
    if (known) send_all(host, mailbox, messages);
    return;
  }
}

void answer(Host& host, std::unique_ptr<cm::Id> id, std::uint64_t messages, Score& score) {
  Party self(host);
  if (self.channel() == nullptr || !id->migrate(*self.channel())) return;
  Mailbox mailbox(self, *id);
  if (!mailbox.open(IBV_QPT_UD)) return;
  const rdma_conn_param param = parameters("here");
  if (id->accept(&param)) receive_all(host, mailbox, messages, score);
}

void serve(Host& host, std::uint64_t messages, Score& score) {
  Party self(host);
  const auto listener = self.listen(RDMA_PS_UDP);
  if (listener == nullptr) return;
  while (std::optional<cm::Event> event = self.next()) {
    if (event->type() != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
    // A function must be copyable, so the id is shared with it.
    auto id = std::make_shared<std::unique_ptr<cm::Id>>(event->take_request());
    host.spawn("answer",
               [&host, &score, messages, id] { answer(host, std::move(*id), messages, score); });
  }
}

/// Joins the group, sends to it or listens, and leaves.
void take_part(Host& host, std::uint64_t to_send, std::uint64_t to_receive, Score& score) {
  Party self(host);
  const auto id = self.make_id(RDMA_PS_UDP);
  if (id == nullptr) return;
  const sockaddr_storage local = host.address().to_sockaddr();
  if (!id->bind(reinterpret_cast<const sockaddr*>(&local))) return;
  Mailbox mailbox(self, *id);
  if (!mailbox.open(IBV_QPT_UD)) return;
  const auto* group = reinterpret_cast<const sockaddr*>(&kGroup);
  auto joined = self.wait(id->join_multicast(group, nullptr), RDMA_CM_EVENT_MULTICAST_JOIN);
  if (!joined) return;
  const bool known = mailbox.address(joined->ud());
  joined->ack();
  if (to_receive != 0) {
    receive_all(host, mailbox, to_receive, score);
  } else if (known && host.sleep(kQuietPause)) {
    send_all(host, mailbox, to_send);
  }
  (void)id->leave_multicast(group).has_value();
}

}  // namespace

Outcome datagram(const Trial& trial, const Staging& staging) {
  Score score;
  Stage stage(trial, staging);
  Host& client = stage.add_host("client", "10.0.0.1");
  Host& server = stage.add_host("server", "10.0.0.2");
  if (!stage.set()) return stage.play(score);
  const std::uint64_t messages = trial.size("messages", 4);
  score.wanted = messages;
  server.spawn(
      "serve", [&] { serve(server, messages, score); }, Ending::kMayServe);
  client.spawn("ask", [&] { ask(client, server.address(kPort), messages); });
  return stage.play(score);
}

Outcome multicast(const Trial& trial, const Staging& staging) {
  Score score;
  Stage stage(trial, staging);
  Host& client = stage.add_host("client", "10.0.0.1");
  Host& server = stage.add_host("server", "10.0.0.2");
  Host& third = stage.add_host("third", "10.0.0.3");
  if (!stage.set()) return stage.play(score);
  const std::uint64_t messages = trial.size("messages", 4);
  score.wanted = 2 * messages;
  client.spawn("send", [&] { take_part(client, messages, 0, score); });
  for (Host* host : {&server, &third}) {
    host->spawn("receive", [&, host] { take_part(*host, 0, messages, score); });
  }
  return stage.play(score);
}

}  // namespace anyrdma::sim::scenarios
