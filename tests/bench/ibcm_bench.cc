// The CM agent alone: two agents, MADs carried by a function call, no simulator around them.
#include <benchmark/benchmark.h>

#include <memory>
#include <variant>

#include "transport/ibcm/agent.h"
#include "verbs/random.h"

namespace anyrdma {
namespace {

using ibcm::Agent;
using ibcm::CommId;
using ibcm::UpcallKind;

class Counter final : public verbs::Random {
 public:
  std::uint64_t next() override { return state_ += 0x9e3779b97f4a7c15u; }

 private:
  std::uint64_t state_ = 1;
};

constexpr wire::ServiceId kService{0x01061e6e};

/// Both ends of a lifecycle, each user answering at once.
class World {
 public:
  World() {
    server_->listen(kService);
    request_.service_id = kService;
    request_.path.mtu = 3;
  }

  void lifecycle() {
    request_.qpn = wire::Qpn{++qpn_ & 0xffffff};
    client_id_ = client_->connect(now_, request_).value();
    settle();
    (void)client_->send_dreq(now_, client_id_);
    settle();
    client_->destroy(now_, client_id_);
    server_->destroy(now_, server_id_);
    settle();
    now_ += std::chrono::microseconds(1);
  }
  [[nodiscard]] std::uint64_t mads() const { return mads_; }

 private:
  void settle() {
    while (drain(*client_, *server_) || drain(*server_, *client_)) {
    }
  }

  bool drain(Agent& agent, Agent& peer) {
    bool any = false;
    while (const ibcm::Action* action = agent.next_action()) {
      any = true;
      if (const auto* mad = std::get_if<ibcm::SendMad>(action)) {
        ++mads_;
        peer.on_mad(now_, mad->path, mad->mad);
      } else if (const auto* upcall = std::get_if<ibcm::Upcall>(action)) {
        answer(agent, upcall->kind, upcall->id);
      }
      agent.pop_action();
    }
    return any;
  }

  void answer(Agent& agent, UpcallKind kind, CommId id) {
    if (kind == UpcallKind::kReqReceived) {
      server_id_ = id;
      agent.request_handled(id, true);
      reply_.qpn = wire::Qpn{qpn_ & 0xffffff};
      (void)agent.send_rep(now_, id, reply_);
    } else if (kind == UpcallKind::kRepReceived) {
      (void)agent.send_rtu(now_, id);
    } else if (kind == UpcallKind::kDreqReceived) {
      (void)agent.send_drep(now_, id);
    }
  }

  Counter random_;
  std::unique_ptr<Agent> client_ = Agent::create({.ca_guid = wire::Guid{1}}, random_);
  std::unique_ptr<Agent> server_ = Agent::create({.ca_guid = wire::Guid{2}}, random_);
  ibcm::ReqParameters request_;
  ibcm::RepParameters reply_;
  verbs::Instant now_{};
  CommId client_id_{};
  CommId server_id_{};
  std::uint32_t qpn_ = 0;
  std::uint64_t mads_ = 0;
};

/// REQ, REP, RTU, DREQ, DREP and both destroys, on both sides.
void cm_lifecycle(benchmark::State& state) {
  World world;
  for ([[maybe_unused]] auto _ : state) world.lifecycle();
  state.SetItemsProcessed(state.iterations());
  state.counters["mads"] =
      benchmark::Counter(static_cast<double>(world.mads()), benchmark::Counter::kAvgIterations);
}
BENCHMARK(cm_lifecycle);

}  // namespace
}  // namespace anyrdma
