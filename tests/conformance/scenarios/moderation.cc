// Completions that are announced together: when there are so many of them, or after some time.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr EndpointOptions kAnnounced{.announced = true};

/// Sends, and waits until the receive has completed: it has before the peer acknowledges it.
void send(Link& link) {
  link.active.post({.length = 8});
  link.active.take_send();
}

}  // namespace

SCENARIO(moderation, is_had) {
  Endpoint alone(server, kAnnounced);
  alone.moderate(3, 50);
}

SCENARIO(moderation, waits_for_so_many, .needs = {Ability::kModeration}) {
  Link link(stage, {}, kAnnounced);
  link.passive.moderate(3, 0);
  for (int i = 0; i < 3; ++i) link.passive.post_recv();
  link.passive.ask_notification(false);
  send(link);
  send(link);
  link.passive.no_notification();
  send(link);
  link.passive.take_notification();
  for (int i = 0; i < 3; ++i) link.passive.take_recv();
}

SCENARIO(moderation, waits_no_longer_than_it_says, .needs = {Ability::kModeration}) {
  Link link(stage, {}, kAnnounced);
  link.passive.moderate(3, 4000);
  link.passive.post_recv();
  link.passive.ask_notification(false);
  send(link);
  link.passive.take_notification();
  link.passive.take_recv();
}

SCENARIO(moderation, that_ends_holds_nothing_back, .needs = {Ability::kModeration}) {
  Link link(stage, {}, kAnnounced);
  link.passive.moderate(3, 0);
  link.passive.post_recv();
  link.passive.ask_notification(false);
  send(link);
  link.passive.moderate(0, 0);
  link.passive.take_notification();
  link.passive.take_recv();
}

}  // namespace anyrdma::conformance
