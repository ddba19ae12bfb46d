#include "sim/check/payload.h"

#include <algorithm>

namespace anyrdma::sim::check {
namespace {

constexpr std::string_view kPayload = "payload";

}  // namespace

bool Payload::is_believed(const std::string& stream) const {
  return std::any_of(believed_.begin(), believed_.end(),
                     [&](const std::string& begin) { return stream.starts_with(begin); });
}

void Payload::on_sent(const std::string& stream, const Message& message) {
  under_way_[stream].push_back(message);
}

void Payload::on_received(const std::string& stream, const Message& message) {
  if (is_believed(stream)) return;
  std::deque<Message>& queue = under_way_[stream];
  if (queue.empty()) {
    return violations_.add(kPayload, stream + ": " + std::to_string(message.length) +
                                         " bytes received that nobody sent");
  }
  const Message sent = queue.front();
  queue.pop_front();
  if (sent.length != message.length) {
    return violations_.add(kPayload, stream + ": " + std::to_string(message.length) +
                                         " bytes received of a message of " +
                                         std::to_string(sent.length));
  }
  if (!sent.digest || !message.digest || *sent.digest == *message.digest) return;
  violations_.add(kPayload, stream + ": a message of " + std::to_string(message.length) +
                                " bytes arrived changed");
}

void Payload::on_received_of_some(const std::string& stream, const Message& message) {
  if (is_believed(stream)) return;
  std::deque<Message>& queue = under_way_[stream];
  const auto fits = [&message](const Message& sent) {
    return sent.length == message.length &&
           (!sent.digest || !message.digest || *sent.digest == *message.digest);
  };
  const auto found = std::find_if(queue.begin(), queue.end(), fits);
  if (found != queue.end()) {
    for (auto each = queue.begin(); disorder_ && each <= found; ++each) {
      passed_[stream].emplace(each->length, each->digest);
    }
    queue.erase(queue.begin(), found + 1);
    return;
  }
  if (has_passed(stream, message)) return;
  violations_.add(kPayload, stream + ": a message of " + std::to_string(message.length) +
                             " bytes arrived that nobody sent, or that was sent earlier");
}

bool Payload::has_passed(const std::string& stream, const Message& message) const {
  const auto passed = passed_.find(stream);
  if (passed == passed_.end()) return false;
  // Of one length the one that fits any digest comes first.
  const auto first = passed->second.lower_bound({message.length, std::nullopt});
  if (first == passed->second.end() || first->first != message.length) return false;
  return !message.digest || !first->second ||
         passed->second.contains({message.length, message.digest});
}

void Payload::on_end(const std::string& stream) {
  under_way_.erase(stream);
  passed_.erase(stream);
}

}  // namespace anyrdma::sim::check
