// The state that the CM keeps for one side of one connection. The struct has only data; machine.h
// has the rules.
#pragma once

#include <array>
#include <cstdint>

#include "transport/ibcm/agent.h"
#include "verbs/timer_queue.h"

namespace anyrdma::ibcm {

struct Connection;
using Mad = std::array<std::uint8_t, kMadBytes>;

enum class TimerKind : std::uint8_t { kRetry, kTimewait };

/// The data of a timer. The timer queue returns it when the timer expires.
struct TimerTag {
  Connection* connection = nullptr;
  TimerKind kind{};
};
using CmTimer = verbs::Timer<TimerTag>;
using CmTimers = verbs::TimerQueue<TimerTag>;

/// The members of Connection that are reset when the pooled object is used again.
struct ConnectionData {
  State state = State::kIdle;
  CommId local_id{};   ///< 0: the object is free
  CommId remote_id{};  ///< 0 until a message of the peer has named it
  CommId mra_id{};     ///< the peer's id in its MRA, used only by on_peer_gone
  std::uint64_t transaction_id = 0;
  Path path;
  ServiceId service_id{};  ///< service id of a SIDR_REQ, which the answer repeats
  Guid remote_guid{};
  Qpn local_qpn{};
  Qpn remote_qpn{};
  Psn local_psn;
  Psn remote_psn;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t retry_count = 0;
  std::uint8_t rnr_retry_count = 0;
  std::uint8_t ack_timeout = 0;  ///< kernel: av.timeout, which is also the length of timewait
  std::uint8_t path_mtu = 0;
  std::uint8_t retries_max = 0;
  std::uint8_t retries_left = 0;
  bool listed_by_peer = false;     ///< true: the registry lists it by its peer
  bool listed_by_request = false;  ///< true: the registry lists it by its request
  Duration response_timeout{};     ///< time between transmissions, unless an MRA has changed it

  /// Time after which the message that waits for an answer is repeated.
  Duration retry_interval{};
};

/// One side of a connection. The registry's pool owns it, and its address does not change.
struct Connection : ConnectionData {
  Connection() : retry({this, TimerKind::kRetry}), timewait({this, TimerKind::kTimewait}) {}

  CmTimer retry;
  CmTimer timewait;
  Mad* pending = nullptr;  ///< the message that the timer `retry` repeats; null: none
};

}  // namespace anyrdma::ibcm
