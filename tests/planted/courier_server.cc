#include <array>
#include <optional>
#include <string>
#include <utility>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/world.h"
#include "tests/planted/courier.h"
#include "tests/planted/courier_common.h"

namespace anyrdma::planted {
namespace {

using namespace std::chrono_literals;

constexpr auto kIdle = 30s;

/// One client's.
class Desk : public std::enable_shared_from_this<Desk> {
 public:
  Desk(sim::Host& host, Journal& journal, std::unique_ptr<cm::Id> id, const Hello& hello)
      : host_(host),
        journal_(journal),
        channel_(cm::EventChannel::create(host.transport())),
        id_(std::move(id)),
        hello_(hello),
        over_(host.runtime().make_semaphore().value()) {
    over_->set_purpose("the end of a desk's events");
  }

  void start() {
    const std::string name = "desk " + std::to_string(hello_.client);
    host_.spawn(name, [self = shared_from_this()] { self->serve(); });
  }

 private:
  void serve() {
    if (channel_ && id_->migrate(**channel_)) {
      Line line(*id_, journal_);
      if (line.open()) serve(line);
    }
    id_.reset();
  }

  void serve(Line& line) {
    if (prepare(line) && accept(line)) {
      line_ = &line;
      watch();
      while (take_in(line)) continue;
      line.flush();
      line.drain();
      (void)over_->wait().has_value();
      line_ = nullptr;
    } else {
      line.flush();
      line.drain();
    }
  }

  bool prepare(Line& line) {
    for (std::size_t i = 0; i < Line::kSlotBytes; ++i) line.at(Line::kBulkAt)[i] = stamp(i);
    for (int slot = 0; slot < Line::kReceives; ++slot) {
      if (!line.post_receive(slot)) return false;
    }
    return true;
  }

  bool accept(Line& line) {
    const Welcome welcome{line.address(Line::kBulkAt), line.key(), hello_.client};
    const rdma_conn_param param = parameters(welcome);
    return id_->accept(&param).has_value();
  }

  void watch() {
    const std::string name = "events " + std::to_string(hello_.client);
    host_.spawn(name, [self = shared_from_this()] { self->take_events(); });
    host_.spawn(
        "patience", [self = shared_from_this()] { self->watch_idleness(); },
        sim::Ending::kMayServe);
  }

  void take_events() {
    while (true) {
      auto event = (*channel_)->get();
      if (!event) break;
      const rdma_cm_event_type type = event->type();
      if (is_end(type) || type == RDMA_CM_EVENT_UNREACHABLE) break;
    }
    ended_ = true;
    if (line_ == nullptr) return;         // the world ends
    (void)id_->disconnect().has_value();  // answers the peer, if it asks
    line_->flush();
    over_->post();
  }

  // Whoever has died without a word sends no more.
  void watch_idleness() {
    int seen = -1;
    while (!ended_ && host_.sleep(kIdle)) {
      if (!ended_ && seen == parcels_) {
        (void)id_->disconnect().has_value();
        return;
      }
      seen = parcels_;
    }
  }

  /// Writes the parcel back, then says so. False: the connection is over.
  bool take_in(Line& line) {
    const std::optional<int> slot = line.receive();
    if (!slot) return false;
    const std::uint8_t* message = line.at(static_cast<std::size_t>(*slot) * Line::kSlotBytes);
    const Label label = copy_from<Label>({message, sizeof(Label)});
    for (std::size_t i = sizeof label; i < Line::kParcelBytes; ++i) {
      if (message[i] == content(label, i)) continue;
      journal_.complain("a parcel arrived damaged");
      break;
    }
    if (label.client != hello_.client) journal_.complain("a parcel of another client");
    ++parcels_;
    ++journal_.taken_in;
    std::memcpy(line.at(Line::kOutAt), message, Line::kParcelBytes);
    if (!line.post_receive(*slot)) return false;
    return line.write(Line::kOutAt, Line::kParcelBytes, label.address, label.key) &&
           line.send(Line::kOutAt, sizeof label) && line.finish();
  }

  sim::Host& host_;
  Journal& journal_;
  verbs::Result<std::unique_ptr<cm::EventChannel>> channel_;
  std::unique_ptr<cm::Id> id_;
  Hello hello_;
  std::unique_ptr<verbs::Semaphore> over_;
  Line* line_ = nullptr;
  int parcels_ = 0;
  bool ended_ = false;
};

void admit(sim::Host& host, Journal& journal, cm::Event& event) {
  const Hello hello = copy_from<Hello>(event.private_data());
  std::unique_ptr<cm::Id> id = event.take_request();
  event.ack();
  if (hello.unwelcome == 0) {
    std::make_shared<Desk>(host, journal, std::move(id), hello)->start();
    return;
  }
  const auto* text = reinterpret_cast<const std::uint8_t*>(kGoAway);
  (void)id->reject({text, sizeof kGoAway}).has_value();
}

void serve(sim::Host& host, Journal& journal) {
  const auto channel = cm::EventChannel::create(host.transport());
  if (!channel) return;
  auto listener = cm::Id::create(**channel, RDMA_PS_TCP, nullptr);
  if (!listener) return;
  const sockaddr_storage address = host.address(kPort).to_sockaddr();
  if (!(*listener)->bind(reinterpret_cast<const sockaddr*>(&address))) return;
  if (!(*listener)->listen(8)) return;
  journal.open = true;
  while (auto event = (*channel)->get()) {
    if (event->type() == RDMA_CM_EVENT_DEVICE_REMOVAL) break;
    if (event->type() == RDMA_CM_EVENT_CONNECT_REQUEST) admit(host, journal, *event);
  }
  journal.open = false;
}

}  // namespace

void start_server(sim::Host& host, Journal& journal) {
  host.spawn(
      "listen", [&host, &journal] { serve(host, journal); }, sim::Ending::kMayServe);
}

}  // namespace anyrdma::planted
