#include "check/payload.h"

#include <algorithm>
#include <utility>

namespace anyrdma::check {
namespace {

constexpr std::string_view kPayload = "payload";

}  // namespace

void Payload::on_sent(const Stream& stream, const Message& message) {
  const auto early = unexpected_.find(stream);
  if (early == unexpected_.end()) return under_way_[stream].push_back(message);
  compare(stream, message, early->second.front());
  early->second.pop_front();
  if (early->second.empty()) unexpected_.erase(early);
}

void Payload::on_received(const Stream& stream, const Message& message) {
  Fifo<Message>& queue = under_way_[stream];
  if (queue.empty()) return unexpected_[stream].push_back(message);
  const Message sent = queue.front();
  queue.pop_front();
  compare(stream, sent, message);
}

void Payload::compare(const Stream& stream, const Message& sent, const Message& received) {
  if (sent.length != received.length) {
    return violations_.add(kPayload, stream.to_string() + ": " + std::to_string(received.length) +
                                         " bytes received of a message of " +
                                         std::to_string(sent.length));
  }
  if (!sent.digest || !received.digest || *sent.digest == *received.digest) return;
  violations_.add(kPayload, stream.to_string() + ": a message of " +
                                std::to_string(received.length) + " bytes arrived changed");
}

void Payload::finish() {
  for (const auto& [stream, messages] : std::exchange(unexpected_, {})) {
    if (gone_.contains(stream)) continue;
    for (const Message& each : messages)
      violations_.add(kPayload, stream.to_string() + ": " + std::to_string(each.length) +
                                    " bytes received that no peer sent");
  }
}

void Payload::on_received_of_some(const Stream& stream, const Message& message) {
  Fifo<Message>& queue = under_way_[stream];
  const auto fits = [&message](const Message& sent) {
    return sent.length == message.length &&
           (!sent.digest || !message.digest || *sent.digest == *message.digest);
  };
  const auto found = std::find_if(queue.begin(), queue.end(), fits);
  if (found != queue.end()) {
    for (auto each = queue.begin(); disorder_ && each <= found; ++each) {
      passed_[stream].emplace(each->length, each->digest);
    }
    queue.erase_before(found + 1);
    return;
  }
  if (has_passed(stream, message)) return;
  violations_.add(kPayload, stream.to_string() + ": a message of " +
                                std::to_string(message.length) +
                                " bytes arrived that no peer sent, or that was sent earlier");
}

bool Payload::has_passed(const Stream& stream, const Message& message) const {
  const auto passed = passed_.find(stream);
  if (passed == passed_.end()) return false;
  // Of one length the one that fits any digest comes first.
  const auto first = passed->second.lower_bound({message.length, std::nullopt});
  if (first == passed->second.end() || first->first != message.length) return false;
  return !message.digest || !first->second ||
         passed->second.contains({message.length, message.digest});
}

void Payload::on_end(const Stream& stream) {
  under_way_.erase(stream);
  passed_.erase(stream);
  if (gone_.erase(stream) != 0) unexpected_.erase(stream);
}

}  // namespace anyrdma::check
