#include "examples/conversation.h"

#include <cstring>
#include <memory>
#include <utility>

#include "examples/talker.h"
#include "sim/world.h"

namespace anyrdma::examples {
namespace {

using namespace std::chrono_literals;

constexpr char kQuestion[] = "How far is it to the moon?";
constexpr char kAnswer[] = "384400 km";

/// Writes events down until nothing more can come for `id`, then lets go of it.
void see_off(Talker& self, std::unique_ptr<cm::Id> id, std::unique_ptr<Line> line) {
  while (const std::optional<cm::Event> event = self.next()) {
    if (event->type() == RDMA_CM_EVENT_DISCONNECTED) {
      static_cast<void>(id->disconnect().has_value());  // answers the peer, if it asks
      break;
    }
    if (&event->id() != id.get()) continue;
    if (event->type() == RDMA_CM_EVENT_DEVICE_REMOVAL) break;
    if (event->type() == RDMA_CM_EVENT_REJECTED) break;  // the server died before it was connected
  }
  line.reset();
  static_cast<void>(cm::Id::destroy(std::move(id)).has_value());
}

/// The client's side of the talk. False: it broke off.
bool ask_over(Line& line, Talker& self) {
  std::memcpy(line.memory.question, kQuestion, sizeof kQuestion);
  if (!line.invite() || !line.invitation_came(self)) return false;
  self.note(std::string("the answer is \"") + line.memory.answer + "\"");
  return true;
}

/// The server's.
bool answer_over(Line& line, Talker& self) {
  if (!line.invitation_came(self)) return false;
  const std::uint64_t theirs = line.memory.received.address;
  if (!line.read(line.memory.question, theirs, sizeof kQuestion)) return false;
  self.note(std::string("the question is \"") + line.memory.question + "\"");
  std::memcpy(line.memory.answer, kAnswer, sizeof kAnswer);
  return line.write(line.memory.answer, theirs + Line::kTextBytes, sizeof kAnswer) && line.invite();
}

std::unique_ptr<cm::Id> resolve(Talker& self, const sim::Address& server) {
  auto id = self.make_id();
  const sockaddr_storage address = server.to_sockaddr();
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  if (!id->resolve_addr(nullptr, to, 2s)) return nullptr;
  if (!self.next_is(RDMA_CM_EVENT_ADDR_RESOLVED) || !id->resolve_route(2s)) return nullptr;
  return self.next_is(RDMA_CM_EVENT_ROUTE_RESOLVED) ? std::move(id) : nullptr;
}

}  // namespace

void serve(sim::Host& host, Diary& diary) {
  Talker self(host, diary);
  auto listener = self.make_id();
  const sockaddr_storage address = host.address(7471).to_sockaddr();
  listener->bind(reinterpret_cast<const sockaddr*>(&address)).value();
  listener->listen(8).value();
  self.note("id " + std::to_string(listener->number()) + " listens");

  std::unique_ptr<cm::Id> id;
  if (std::optional<cm::Event> request = self.next()) id = request->take_request();
  if (!id) return;
  auto line = std::make_unique<Line>(*id);
  line->expect_invitation();
  const rdma_conn_param param = parameters("welcome");
  if (!id->accept(&param)) return;
  if (self.next_is(RDMA_CM_EVENT_ESTABLISHED) && !answer_over(*line, self)) {
    self.note("the talk broke off");
  }
  see_off(self, std::move(id), std::move(line));
}

void ask(sim::Host& host, const sim::Address& server, Diary& diary) {
  Talker self(host, diary);
  auto id = resolve(self, server);
  if (!id) return;
  auto line = std::make_unique<Line>(*id);
  line->expect_invitation();
  const rdma_conn_param param = parameters("hello");
  if (!id->connect(&param) || !self.next_is(RDMA_CM_EVENT_ESTABLISHED))
    return;  // line goes before id
  if (!ask_over(*line, self)) self.note("the talk broke off");

  auto connected = std::make_shared<bool>(true);
  host.spawn("goodbye", [&host, connected, raw = id.get()] {
    if (host.sleep(1s) && *connected) static_cast<void>(raw->disconnect().has_value());
  });
  see_off(self, std::move(id), std::move(line));
  *connected = false;
}

}  // namespace anyrdma::examples
