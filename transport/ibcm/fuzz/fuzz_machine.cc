#include "transport/ibcm/fuzz/fuzz_machine.h"

#include <array>
#include <span>

#include "transport/ibcm/testing/cells.h"
#include "verbs/assert.h"

namespace anyrdma::ibcm::fuzz {
namespace {

using testing::Host;
using testing::InFlight;
using testing::Pair;
using testing::Subject;

constexpr std::array kStartStates{State::kIdle,        State::kReqSent,    State::kReqRcvd,
                                  State::kMraReqSent,  State::kMraReqRcvd, State::kRepSent,
                                  State::kMraRepSent,  State::kMraRepRcvd, State::kEstablished,
                                  State::kDreqSent,    State::kDreqRcvd,   State::kTimewait,
                                  State::kSidrReqSent, State::kSidrReqRcvd};

constexpr std::array kMessages{
    Event::kReq,    Event::kReqDuplicate, Event::kMra,  Event::kRep,     Event::kRtu,
    Event::kRej,    Event::kDreq,         Event::kDrep, Event::kSidrReq, Event::kSidrReqDuplicate,
    Event::kSidrRep};

/// The script, byte by byte; zeros after its end.
class Script {
 public:
  explicit Script(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool over() const { return bytes_.empty(); }
  std::uint8_t next() {
    if (bytes_.empty()) return 0;
    const std::uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  std::size_t below(std::size_t bound) { return next() % bound; }

 private:
  std::span<const std::uint8_t> bytes_;
};

class Run {
 public:
  Run(State start, std::span<const std::uint8_t> script)
      : subject_(testing::reach(start)), pair_(*subject_.pair), script_(script) {
    ids_.push_back(subject_.id);
    pair_.passes = [this](const InFlight&) { return !lossy_; };
  }

  void play() {
    while (!script_.over()) step();
    come_to_rest();
  }

 private:
  void step() {
    constexpr std::size_t kKinds = 8;
    switch (script_.below(kKinds)) {
      case 0:
        right_message();
        break;
      case 1:
        damaged_message();
        break;
      case 2:
        command();
        break;
      case 3:
        next_timer();
        break;
      case 4:
        deliver();
        break;
      case 5:
        replay();
        break;
      case 6:
        lossy_ = !lossy_;
        break;
      case 7:
        other_action();
        break;
    }
    pair_.collect();
    remember_new_ids();
    check();
  }

  testing::Mad any_message() {
    return testing::message_of_peer(subject_, kMessages[script_.below(kMessages.size())]);
  }
  void right_message() { pair_.inject(*subject_.host, any_message()); }
  void damaged_message() {
    testing::Mad mad = any_message();
    for (std::size_t n = script_.below(4) + 1; n > 0; --n) mad[script_.next()] = script_.next();
    pair_.inject(any_host(), mad);
  }

  void command() {
    Agent& agent = any_host().agent();
    const CommId id = ids_[script_.below(ids_.size())];
    const Instant now = pair_.now;
    switch (script_.below(11)) {
      case 0:
        (void)agent.send_rep(now, id, Pair::reply(script_.next()));
        break;
      case 1:
        (void)agent.send_rtu(now, id);
        break;
      case 2:
        (void)agent.send_rej(now, id, script_.next(), {});
        break;
      case 3:
        (void)agent.send_dreq(now, id);
        break;
      case 4:
        (void)agent.send_drep(now, id);
        break;
      case 5:
        (void)agent.notify_established(now, id);
        break;
      case 6:
        agent.destroy(now, id);
        break;
      case 7:
        agent.request_handled(id, (script_.next() & 1) != 0);
        break;
      case 8:
        connect();
        break;
      case 9:
        ask();
        break;
      case 10:
        (void)agent.send_sidr_rep(now, id, Pair::answer());
        break;
    }
  }

  void connect() {
    const auto id = pair_.client.agent().connect(pair_.now, pair_.request(script_.next()));
    CM_ASSERT(id.has_value());
    ids_.push_back(*id);
  }

  void ask() {
    const auto id = pair_.client.agent().send_sidr_req(pair_.now, pair_.question());
    CM_ASSERT(id.has_value());
    ids_.push_back(*id);
  }

  void next_timer() {
    const auto next =
        verbs::earlier(pair_.client.agent().next_deadline(), pair_.server.agent().next_deadline());
    if (next) pair_.advance(*next - pair_.now);
  }

  void deliver() {
    for (std::size_t n = script_.below(4) + 1; n > 0; --n) (void)pair_.deliver_one();
  }

  /// Something that was sent before arrives again, long after.
  void replay() {
    if (pair_.sent.empty()) return;
    const Pair::Sent mad = pair_.sent[script_.below(pair_.sent.size())];
    pair_.inject(mad.from == 0 ? pair_.server : pair_.client, mad.bytes);
  }

  void other_action() {
    Agent& agent = any_host().agent();
    switch (script_.below(4)) {
      case 0:
        agent.on_peer_gone(pair_.now, script_.next(), 0xff, {});
        break;
      case 1:
        agent.on_peer_gone(pair_.now, 0, 0, {});
        break;
      case 2:
        pair_.server.takes_requests = !pair_.server.takes_requests;
        break;
      case 3:
        pair_.now += std::chrono::milliseconds(script_.next());
        break;
    }
  }

  Host& any_host() { return (script_.next() & 1) != 0 ? pair_.client : pair_.server; }

  void remember_new_ids() {
    for (const Host* host : {&pair_.client, &pair_.server}) {
      for (const testing::Heard& heard : host->heard) {
        if (heard.kind == UpcallKind::kReqReceived || heard.kind == UpcallKind::kSidrReqReceived) {
          ids_.push_back(heard.id);
        }
      }
    }
    pair_.client.heard.clear();
    pair_.server.heard.clear();
    pair_.client.dropped.clear();
    pair_.server.dropped.clear();
  }

  // The machine asserts its own state after every input; here, what only an outsider sees.
  void check() {
    for (Host* host : {&pair_.client, &pair_.server}) {
      CM_ASSERT(host->agent().next_action() == nullptr);
      for (const CommId id : ids_) {
        const auto info = host->agent().info(id);
        if (info) CM_ASSERT(testing::can_rest_in(info->state));
      }
    }
  }

  /// Left alone, everything ends: no timer may be left after the longest wait there is, which a
  /// damaged REQ or MRA can stretch to 16 times 2^23 ms and more.
  void come_to_rest() {
    constexpr int kTimers = 10000;
    for (int i = 0; i < kTimers; ++i) {
      const auto next = verbs::earlier(pair_.client.agent().next_deadline(),
                                       pair_.server.agent().next_deadline());
      if (!next) return;
      pair_.now = std::max(pair_.now, *next);
      pair_.client.agent().on_timer(pair_.now);
      pair_.server.agent().on_timer(pair_.now);
      drain();
    }
    verbs::assertion_failed("every timer ends", __FILE__, __LINE__);
  }

  void drain() {
    constexpr int kLivelock = 10000;
    for (int steps = 0; pair_.deliver_one(); ++steps) CM_ASSERT(steps < kLivelock);
    remember_new_ids();
    pair_.sent.clear();
    check();
  }

  Subject subject_;
  Pair& pair_;
  Script script_;
  std::vector<CommId> ids_;
  bool lossy_ = false;
};

}  // namespace

int fuzz_machine(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongest = 512;
  if (size == 0 || size > kLongest) return 0;
  Run(kStartStates[data[0] % kStartStates.size()], std::span(data, size).subspan(1)).play();
  return 0;
}

}  // namespace anyrdma::ibcm::fuzz
