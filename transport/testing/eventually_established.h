// A GoogleMock matcher for an event channel on which a connection is established.
#pragma once

#include <gmock/gmock.h>
#include <rdma/rdma_cma.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "transport/event_name.h"

namespace anyrdma::transport::testing {

/// The class of the matcher EventuallyEstablished(). It fetches the events only once, although
/// GoogleMock calls a matcher again to get its explanation.
class EventuallyEstablishedMatcher {
 public:
  using is_gtest_matcher = void;

  template <class ChannelPointer>
  bool MatchAndExplain(const ChannelPointer& channel,
                       ::testing::MatchResultListener* listener) const {
    if (!*obstacle_) *obstacle_ = await(*channel);
    *listener << **obstacle_;
    return (*obstacle_)->empty();
  }
  void DescribeTo(std::ostream* out) const { *out << "is eventually established"; }
  void DescribeNegationTo(std::ostream* out) const { *out << "is never established"; }

 private:
  /// Returns the events that came instead of ESTABLISHED; empty: ESTABLISHED came.
  template <class Channel>
  static std::string await(Channel& channel) {
    while (true) {
      auto event = channel.get();
      if (!event) return "which has no event to come: " + event.error().message();
      const rdma_cm_event_type type = event->type();
      if (type == RDMA_CM_EVENT_ESTABLISHED) return {};
      const bool on_the_way = type == RDMA_CM_EVENT_ADDR_RESOLVED ||
                              type == RDMA_CM_EVENT_ROUTE_RESOLVED ||
                              type == RDMA_CM_EVENT_CONNECT_RESPONSE;
      if (on_the_way) continue;
      return "which says " + std::string(short_event_name(type)) + ", status " +
             std::to_string(event->status());
    }
  }

  std::shared_ptr<std::optional<std::string>> obstacle_ =
      std::make_shared<std::optional<std::string>>();
};

/// Matches a pointer to a channel (such as cm::EventChannel) on which ESTABLISHED comes. The
/// matcher fetches the channel's events until ESTABLISHED, until the connection attempt has failed,
/// or until no event can ever come.
[[nodiscard]] inline EventuallyEstablishedMatcher EventuallyEstablished() {
  return {};
}

}  // namespace anyrdma::transport::testing
