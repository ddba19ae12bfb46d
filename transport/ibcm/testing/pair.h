// Two agents, a wire between them and one virtual clock: enough to play any exchange.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/ibcm/agent.h"
#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::testing {

/// A reproducible stream (splitmix64).
class TestRandom final : public verbs::Random {
 public:
  explicit TestRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override;

 private:
  std::uint64_t state_;
};

/// An upcall with its private data kept, so that it outlives later inputs.
struct Heard {
  UpcallKind kind{};
  CommId id{};
  Upcall upcall;
  std::vector<std::uint8_t> data;
};

/// One of the two hosts.
class Host {
 public:
  Host(std::uint8_t number, AgentConfig config);

  [[nodiscard]] Agent& agent() { return *agent_; }
  [[nodiscard]] State state(CommId id) const;

  /// Requests are taken at once, unless this is false.
  bool takes_requests = true;
  std::vector<Heard> heard;
  std::vector<Dropped> dropped;

  /// The newest upcall of this kind; fails the process when there is none.
  [[nodiscard]] const Heard& last(UpcallKind kind) const;
  [[nodiscard]] std::size_t count(UpcallKind kind) const;
  /// All kinds heard so far, in order: "req received, rtu received".
  [[nodiscard]] std::string story() const;

 private:
  TestRandom random_;
  std::unique_ptr<Agent> agent_;
};

/// A MAD under way.
struct InFlight {
  int from = 0;  ///< 0 client, 1 server
  SendMad mad;
  [[nodiscard]] wire::Attribute attribute() const;
};

class Pair {
 public:
  explicit Pair(const Profile& profile = kLinux61);

  static constexpr ServiceId kService{0x01061e6e};
  Host client;
  Host server;
  Instant now{};

  /// Everything ever sent, with its time.
  struct Sent {
    Instant at;
    int from;
    wire::Attribute attribute;
    std::array<std::uint8_t, kMadBytes> bytes;
  };
  std::vector<Sent> sent;
  /// Says false for a MAD that the wire loses. Default: loses nothing.
  std::function<bool(const InFlight&)> passes;

  [[nodiscard]] ReqParameters request(std::uint32_t qpn = 0x12) const;
  [[nodiscard]] static RepParameters reply(std::uint32_t qpn = 0x11);
  [[nodiscard]] SidrReqParameters question() const;
  [[nodiscard]] static SidrRepParameters answer();

  /// Takes the actions of both agents: MADs onto the wire, upcalls into `heard`.
  void collect();
  /// Delivers the oldest MAD on the wire; false when the wire is empty.
  bool deliver_one();
  /// Delivers until the wire is empty. Ten thousand MADs without time passing are a livelock.
  void settle();
  /// Lets time pass, firing every timer on its way and delivering what follows.
  void advance(Duration duration);
  /// Gives bytes to a host as if the other one had sent them.
  void inject(Host& to, std::span<const std::uint8_t, kMadBytes> bytes);
  /// Serializes and injects.
  template <class Message>
  void inject_message(Host& to, const Message& message) {
    std::array<std::uint8_t, kMadBytes> bytes;
    message.serialize(bytes);
    inject(to, bytes);
  }

  [[nodiscard]] std::size_t count(wire::Attribute attribute) const;
  [[nodiscard]] const Sent& last(wire::Attribute attribute) const;

  /// The pieces of a connection, each ending with an empty wire.
  CommId connect(std::uint32_t qpn = 0x12);  ///< REQ delivered and taken
  CommId accept(std::uint32_t qpn = 0x11);   ///< newest request: REP sent and delivered
  void establish();                          ///< RTU sent and delivered
  /// All three; `client_id` and `server_id` are set.
  void connected(std::uint32_t client_qpn = 0x12, std::uint32_t server_qpn = 0x11);

  /// SIDR_REQ delivered and taken.
  CommId ask();

  CommId client_id{};
  CommId server_id{};

 private:
  void collect(Host& host, int number);
  std::uint8_t packet_lifetime_;
  std::deque<InFlight> wire_;
};

}  // namespace anyrdma::ibcm::testing
