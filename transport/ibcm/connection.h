// The state that the CM keeps for one side of one connection. Plain data; machine.h has the rules.
#pragma once

#include <array>
#include <cstdint>

#include "transport/ibcm/agent.h"
#include "verbs/timer_queue.h"

namespace anyrdma::ibcm {

struct Connection;
using Mad = std::array<std::uint8_t, kMadBytes>;

enum class TimerKind : std::uint8_t { kRetry, kTimewait };

/// The data of a timer, which the timer queue returns on expiry.
struct TimerTag {
  Connection* connection = nullptr;
  TimerKind kind{};
};
using CmTimer = verbs::Timer<TimerTag>;
using CmTimers = verbs::TimerQueue<TimerTag>;

/// The members that are reset for each use of a pooled object.
struct ConnectionData {
  State state = State::kIdle;
  CommId local_id{};   ///< 0: the object is free
  CommId remote_id{};  ///< 0 until the peer has told it
  CommId mra_id{};     ///< the peer's id as its MRA told it: only for on_peer_gone
  std::uint64_t transaction_id = 0;
  Path path;
  ServiceId service_id{};  ///< what a SIDR_REQ asked for; its answer repeats it
  Guid remote_guid{};
  Qpn local_qpn{};
  Qpn remote_qpn{};
  Psn local_psn;
  Psn remote_psn;
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t retry_count = 0;
  std::uint8_t rnr_retry_count = 0;
  std::uint8_t ack_timeout = 0;  ///< av.timeout of the kernel: also the length of timewait
  std::uint8_t path_mtu = 0;
  std::uint8_t retries_max = 0;
  std::uint8_t retries_left = 0;
  bool listed_by_peer = false;     ///< the registry's note
  bool listed_by_request = false;  ///< likewise
  Duration response_timeout{};     ///< between transmissions, unless an MRA came
  Duration retry_interval{};       ///< of the message now waiting for its answer
};

/// Lives in the registry's pool at a stable address.
struct Connection : ConnectionData {
  Connection() : retry({this, TimerKind::kRetry}), timewait({this, TimerKind::kTimewait}) {}

  CmTimer retry;
  CmTimer timewait;
  Mad* pending = nullptr;  ///< the message that `retry` repeats; null when there is none
};

}  // namespace anyrdma::ibcm
