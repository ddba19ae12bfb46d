// Scenarios over reliable connections.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "sim/findings.h"
#include "sim/scenarios/party.h"
#include "sim/scenarios/scenarios.h"
#include "sim/scenarios/stage.h"

namespace anyrdma::sim::scenarios {
namespace {

using namespace std::chrono_literals;

constexpr Duration kAnswerPatience = 30s;
constexpr Duration kRetryPause = 10ms;
constexpr int kAttempts = 10;
constexpr std::uint8_t kNoSuchService = 8;  // IBTA's reason: nobody listens
constexpr std::string_view kRefusal = "come again";

/// Sends messages and waits for their echoes, from `score.passed` on. False: the connection broke.
bool talk(Party& self, Mailbox& mailbox, std::uint64_t until, Score& score, std::uint64_t& done) {
  for (; done < until; ++done) {
    if (!mailbox.send(done)) return false;
    const auto echo = mailbox.receive(kAnswerPatience);
    if (!echo) return false;
    if (*echo != done) complain(self.host().name() + " received an echo of something else");
    ++score.passed;
  }
  return true;
}

/// One connection from its resolution to its end. False: it did not do all that it was for.
bool call(Party& self, const Address& server, std::uint64_t messages, Score& score,
          std::uint64_t& done) {
  const auto id = self.resolve(server, RDMA_PS_TCP);
  if (id == nullptr) return false;
  Mailbox mailbox(self, *id);
  if (!mailbox.open()) return false;
  const rdma_conn_param param = parameters("hello");
  if (!self.wait(id->connect(&param), RDMA_CM_EVENT_ESTABLISHED)) return false;
  const bool all = talk(self, mailbox, messages, score, done);
  sometimes("a connection broke in the middle of its talk", !all);
  self.hang_up(*id);
  return all;
}

/// The server's side of a connection, with a channel of its own.
void answer(Host& host, std::unique_ptr<cm::Id> id) {
  Party self(host);
  if (self.channel() == nullptr || !id->migrate(*self.channel())) return;
  Mailbox mailbox(self, *id);
  if (!mailbox.open()) return;
  const rdma_conn_param param = parameters("welcome");
  if (!self.wait(id->accept(&param), RDMA_CM_EVENT_ESTABLISHED)) return;
  while (const auto message = mailbox.receive(kAnswerPatience)) {
    if (!mailbox.send(*message)) break;
  }
  if (self.goes_on()) return self.hang_up(*id);
  self.see_off(*id);
}

/// Takes requests; the first `refuse` of them are refused.
void serve(Host& host, std::uint64_t refuse) {
  Party self(host);
  const auto listener = self.listen(RDMA_PS_TCP);
  if (listener == nullptr) return;
  std::uint64_t requests = 0;
  while (std::optional<cm::Event> event = self.next()) {
    if (event->type() != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
    auto id = event->take_request();
    if (requests++ < refuse) {
      const auto* text = reinterpret_cast<const std::uint8_t*>(kRefusal.data());
      (void)id->reject({text, kRefusal.size()}).has_value();
      event->ack();  // the id's end waits for it
      continue;
    }
    // A function must be copyable, so the id is shared with it.
    auto shared = std::make_shared<std::unique_ptr<cm::Id>>(std::move(id));
    host.spawn("answer " + std::to_string(requests),
               [&host, shared] { answer(host, std::move(*shared)); });
  }
}

/// Calls again where a rejection says that it is too early.
void ask(Host& host, const Address& server, std::uint64_t messages, Score& score) {
  Party self(host);
  std::uint64_t done = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (call(self, server, messages, score, done)) return;
    if (self.end() != RDMA_CM_EVENT_REJECTED) return;
    sometimes("a client came before anybody listened", self.end_status() == kNoSuchService);
    if (!host.sleep(kRetryPause)) return;
  }
}

/// Calls until everything is done, or for an hour; the pauses get longer.
void insist(Host& host, const Address& server, std::uint64_t messages, Score& score) {
  std::uint64_t done = 0;
  const Instant end = host.world().now() + 1h;
  for (Duration pause = kRetryPause; done < messages && host.world().now() < end;
       pause = std::min<Duration>(2 * pause, 10s)) {
    Party self(host);
    const std::uint64_t before = done;
    (void)call(self, server, messages, score, done);
    sometimes("went on over another connection", before != 0 && done != before);
    if (done < messages && !host.sleep(pause)) return;
  }
}

Outcome run_clients(const Trial& trial, const Staging& staging, std::uint64_t connections) {
  Score score;
  Stage stage(trial, staging);
  Host& client = stage.add_host("client", "10.0.0.1");
  Host& server = stage.add_host("server", "10.0.0.2");
  if (!stage.set()) return stage.play(score);
  connections = trial.size("connections", connections);
  const std::uint64_t messages = trial.size("messages", 4);
  score.wanted = connections * messages;
  server.spawn(
      "serve", [&] { serve(server, 0); }, Ending::kMayServe);
  for (std::uint64_t i = 0; i < connections; ++i) {
    client.spawn("ask " + std::to_string(i),
                 [&] { ask(client, server.address(kPort), messages, score); });
  }
  return stage.play(score);
}

}  // namespace

Outcome connect(const Trial& trial, const Staging& staging) {
  return run_clients(trial, staging, 1);
}

Outcome clients(const Trial& trial, const Staging& staging) {
  return run_clients(trial, staging, 8);
}

Outcome late(const Trial& trial, const Staging& staging) {
  Score score;
  Stage stage(trial, staging);
  Host& client = stage.add_host("client", "10.0.0.1");
  Host& server = stage.add_host("server", "10.0.0.2");
  if (!stage.set()) return stage.play(score);
  const std::uint64_t messages = trial.size("messages", 1);
  const std::uint64_t refusals = trial.size("refusals", 1);
  score.wanted = messages;
  server.spawn(
      "serve",
      [&] {
        if (server.sleep(25ms)) serve(server, refusals);
      },
      Ending::kMayServe);
  client.spawn("ask", [&] { ask(client, server.address(kPort), messages, score); });
  return stage.play(score);
}

Outcome reconnect(const Trial& trial, const Staging& staging) {
  Score score;
  Stage stage(trial, staging);
  Host& client = stage.add_host("client", "10.0.0.1");
  Host& server = stage.add_host("server", "10.0.0.2");
  if (!stage.set()) return stage.play(score);
  score.wanted = trial.size("messages", 8);
  server.on_start(
      "serve", [&] { serve(server, 0); }, Ending::kMayServe);
  client.on_start("insist", [&] { insist(client, server.address(kPort), score.wanted, score); });
  return stage.play(score, Demand::kWhateverHappened);
}

}  // namespace anyrdma::sim::scenarios
