// The checker of messages. Over a reliable connection, messages must arrive whole, once and in
// order. Over an unreliable connection, messages may be lost. Those that arrive must be whole, once
// and in order, unless the network reorders or duplicates packets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "check/fifo.h"
#include "check/stream.h"
#include "check/violations.h"

namespace anyrdma::check {

/// Compares sent with received messages, for each stream.
class Payload {
 public:
  explicit Payload(Violations& violations) : violations_(violations) {}

  /// The properties of a message that are kept, to recognize the message on arrival.
  struct Message {
    std::uint64_t length = 0;
    /// Digest of the bytes; nullopt: not known, matches any digest.
    std::optional<std::uint64_t> digest;
  };
  /// Call when a SEND was posted.
  void on_sent(const Stream& stream, const Message& message);
  /// Call when a receive has completed with the message.
  void on_received(const Stream& stream, const Message& message);
  /// Like on_received(), for a service that may lose messages: the next sent message that matches
  /// counts as the one that was received.
  void on_received_of_some(const Stream& stream, const Message& message);
  /// Call when the network reorders or duplicates packets. An unreliable connection does not
  /// correct that, so the order of its messages is not checked any more.
  void on_disorder() { disorder_ = true; }
  /// Call when the run is over, or nothing is left to happen. Each received message that no peer
  /// has reported as sent is then a violation.
  void finish();
  /// Call when the process that sends has ended. It may have been killed in the middle of a call,
  /// so that a message of it is under way which it never reported.
  void on_sender_gone(const Stream& stream) { gone_.insert(stream); }
  /// Call when the stream has ended. A later stream may have the same name.
  void on_end(const Stream& stream);

 private:
  using Passed = std::set<std::pair<std::uint64_t, std::optional<std::uint64_t>>>;

  void compare(const Stream& stream, const Message& sent, const Message& received);
  [[nodiscard]] bool has_passed(const Stream& stream, const Message& message) const;

  Violations& violations_;
  std::map<Stream, Fifo<Message>> under_way_;
  /// Messages that were sent before the last received one and may still arrive. A message that was
  /// sent several times is in the list once.
  std::map<Stream, Passed> passed_;
  bool disorder_ = false;
  /// Messages that were received before their sender reported them. The sender's report comes a
  /// moment later.
  std::map<Stream, Fifo<Message>> unexpected_;
  std::set<Stream> gone_;  ///< their senders have ended
};

}  // namespace anyrdma::check
