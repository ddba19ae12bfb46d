#include <algorithm>
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

constexpr auto kPatience = 2000ms;
constexpr auto kImpatience = 100ms;
constexpr auto kDespair = 30s;
constexpr std::uint32_t kGenerations = 3;

/// One attempt to visit the server.
class Call : public std::enable_shared_from_this<Call> {
 public:
  enum class Result { kDone, kFailed, kRefused };

  Call(sim::Host& host, const sim::Address& server, const Visit& visit, Journal& journal)
      : host_(host),
        server_(server),
        visit_(visit),
        journal_(journal),
        channel_(cm::EventChannel::create(host.transport())),
        over_(host.runtime().make_semaphore().value()) {
    over_->set_purpose("the end of a call's events");
  }

  Result make() {
    if (!channel_) return Result::kFailed;
    auto id = cm::Id::create(**channel_, RDMA_PS_TCP, nullptr);
    if (!id) return Result::kFailed;
    id_ = std::move(*id);
    const Result result = resolve() ? talk() : Result::kFailed;
    id_.reset();
    return result;
  }

 private:
  /// Waits for what a call is answered by. False: it went otherwise.
  bool await(rdma_cm_event_type wanted) {
    auto event = (*channel_)->get();
    return event && event->type() == wanted && event->status() == 0;
  }

  bool resolve() {
    const sockaddr_storage address = server_.to_sockaddr();
    const auto* to = reinterpret_cast<const sockaddr*>(&address);
    if (!id_->resolve_addr(nullptr, to, kPatience)) return false;
    if (!await(RDMA_CM_EVENT_ADDR_RESOLVED)) return false;
    return id_->resolve_route(kPatience) && await(RDMA_CM_EVENT_ROUTE_RESOLVED);
  }

  Result talk() {
    Line line(*id_, journal_);
    if (!line.open()) return Result::kFailed;
    line_ = &line;
    Result result = prepare(line) && connect() ? be_answered() : Result::kFailed;
    if (result == Result::kDone) {
      watch();
      if (!exchange_all(line)) result = Result::kFailed;
      (void)id_->disconnect().has_value();
      line.flush();
      (void)over_->wait().has_value();
    }
    line.flush();
    line.drain();
    line_ = nullptr;
    return result;
  }

  bool prepare(Line& line) {
    for (int slot = 0; slot < Line::kReceives; ++slot) {
      if (!line.post_receive(slot)) return false;
    }
    return true;
  }

  bool connect() {
    const Hello hello{visit_.client, visit_.unwelcome ? 1u : 0u};
    const rdma_conn_param param = parameters(hello);
    return id_->connect(&param).has_value();
  }

  Result be_answered() {
    while (auto event = (*channel_)->get()) {
      if (event->type() == RDMA_CM_EVENT_ADDR_CHANGE) continue;
      if (event->type() == RDMA_CM_EVENT_ESTABLISHED) {
        welcome_ = copy_from<Welcome>(event->private_data());
        if (welcome_.client != visit_.client) journal_.complain("a welcome for another client");
        return Result::kDone;
      }
      if (event->type() != RDMA_CM_EVENT_REJECTED) return Result::kFailed;
      return was_refused(*event) ? Result::kRefused : Result::kFailed;
    }
    return Result::kFailed;
  }

  bool was_refused(const cm::Event& event) {
    const auto data = event.private_data();
    return event.status() == 28 && data.size() >= sizeof kGoAway &&
           std::memcmp(data.data(), kGoAway, sizeof kGoAway) == 0;
  }

  void watch() {
    const std::string name = "events " + std::to_string(visit_.client);
    host_.spawn(name, [self = shared_from_this()] { self->take_events(); });
  }

  void take_events() {
    while (true) {
      auto event = (*channel_)->get();
      if (!event || is_end(event->type())) break;
    }
    if (line_ == nullptr) return;  // the world ends
    line_->flush();
    over_->post();
  }

  bool exchange_all(Line& line) {
    for (int round = 0; round < visit_.rounds; ++round) {
      if (!exchange(line, static_cast<std::uint32_t>(round))) return false;
      ++journal_.delivered;
    }
    if (!line.read(Line::kBackAt, Line::kParcelBytes, welcome_.address, welcome_.key)) return false;
    if (!line.finish()) return false;
    ++journal_.stamped;
    const std::uint8_t* stamps = line.at(Line::kBackAt);
    for (std::size_t i = 0; i < Line::kParcelBytes; ++i) {
      if (stamps[i] == stamp(i)) continue;
      journal_.complain("the stamp is damaged");
      break;
    }
    return true;
  }

  bool exchange(Line& line, std::uint32_t round) {
    Label label{visit_.client, round, 0, line.key(), line.address(Line::kBulkAt)};
    for (; label.generation < kGenerations; ++label.generation) {
      if (!ask(line, label)) return false;
      const bool last = label.generation + 1 == kGenerations;
      if (await_answer(line, label, last ? verbs::Duration(kDespair) : kImpatience)) {
        check(line, label);
        return true;
      }
      if (line.broken()) return false;
    }
    return false;
  }

  bool ask(Line& line, const Label& label) {
    std::uint8_t* out = line.at(Line::kOutAt);
    // What was asked before must have left: it is the same memory.
    if (!line.finish()) return false;
    std::memcpy(out, &label, sizeof label);
    for (std::size_t i = sizeof label; i < Line::kParcelBytes; ++i) out[i] = content(label, i);
    return line.send(Line::kOutAt, Line::kParcelBytes);
  }

  bool await_answer(Line& line, const Label& label, verbs::Duration patience) {
    const verbs::Instant deadline = host_.world().now() + patience;
    for (verbs::Duration pause = 10us; host_.world().now() < deadline;) {
      const std::optional<int> slot = line.try_receive();
      if (line.broken()) return false;
      if (!slot) {
        if (!host_.sleep(pause)) return false;
        pause = std::min<verbs::Duration>(2 * pause, 10ms);
        continue;
      }
      const auto* message = line.at(static_cast<std::size_t>(*slot) * Line::kSlotBytes);
      const Label answer = copy_from<Label>({message, sizeof(Label)});
      if (!line.post_receive(*slot)) return false;
      const bool late = answer.round != label.round || answer.generation != label.generation;
      if (!late) return true;
    }
    return false;
  }

  void check(Line& line, const Label& label) {
    const std::uint8_t* parcel = line.at(Line::kBulkAt);
    for (std::size_t i = sizeof label; i < Line::kParcelBytes; ++i) {
      if (parcel[i] == content(label, i)) continue;
      journal_.complain("what came back is another parcel");
      return;
    }
  }

  sim::Host& host_;
  sim::Address server_;
  Visit visit_;
  Journal& journal_;
  verbs::Result<std::unique_ptr<cm::EventChannel>> channel_;
  std::unique_ptr<cm::Id> id_;
  std::unique_ptr<verbs::Semaphore> over_;
  Line* line_ = nullptr;
  Welcome welcome_;
};

void call(sim::Host& host, const sim::Address& server, const Visit& visit, Journal& journal) {
  for (int attempt = 0; attempt < visit.attempts; ++attempt) {
    const auto call = std::make_shared<Call>(host, server, visit, journal);
    const Call::Result result = call->make();
    if (result == Call::Result::kDone) return;
    if (result == Call::Result::kRefused) {
      ++journal.refused;
      return;
    }
  }
}

}  // namespace

void start_client(sim::Host& host, const sim::Host& server, const Visit& visit, Journal& journal) {
  const sim::Address address = server.address(kPort);
  host.spawn("client " + std::to_string(visit.client),
             [&host, &journal, address, visit] { call(host, address, visit, journal); });
}

}  // namespace anyrdma::planted
