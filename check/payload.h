// Checks messages. Over a reliable connection they must arrive whole, once and in order. Over an
// unreliable connection they may be lost; those that arrive must be whole, once and in order,
// unless the network reorders or duplicates packets.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check/violations.h"

namespace anyrdma::check {

/// A stream is one direction of one connection. Both ends must use the same name for it.
class Payload {
 public:
  explicit Payload(Violations& violations) : violations_(violations) {}

  /// The part of a message that is kept, to recognize the message on arrival.
  struct Message {
    std::uint64_t length = 0;
    std::optional<std::uint64_t> digest;  ///< nullopt: not known, fits any
  };
  /// A SEND was posted.
  void on_sent(const std::string& stream, const Message& message);
  /// A receive completed with it.
  void on_received(const std::string& stream, const Message& message);
  /// Like on_received(), for a service that may lose messages: the next sent message that fits is
  /// the one received.
  void on_received_of_some(const std::string& stream, const Message& message);
  /// The network does not keep packets' order, or doubles some: an unreliable connection does
  /// not notice.
  void on_disorder() { disorder_ = true; }
  /// The run is at rest, or over: no peer has sent the messages that were received and have no
  /// SEND yet.
  void finish();
  /// The stream ends here: a later one may have its name.
  void on_end(const std::string& stream);

 private:
  using Passed = std::set<std::pair<std::uint64_t, std::optional<std::uint64_t>>>;

  void compare(const std::string& stream, const Message& sent, const Message& received);
  [[nodiscard]] bool has_passed(const std::string& stream, const Message& message) const;

  Violations& violations_;
  std::map<std::string, std::deque<Message>> under_way_;
  /// Messages sent before the last received one that may still arrive. Each is in it once, however
  /// often it was sent.
  std::map<std::string, Passed> passed_;
  bool disorder_ = false;
  /// Received before anybody has said that it was sent: its sender says so a moment later.
  std::map<std::string, std::deque<Message>> unexpected_;
};

}  // namespace anyrdma::check
